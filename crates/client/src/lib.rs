//! What programs that talk to a server depend on: the wire types of its API, a client, and a worker loop.
//!
//! A worker in a few lines. It takes tasks whose action is `greet`, eight at once, and is told when an attempt is not
//! wanted any more:
//!
//! ```no_run
//! use edgewise_client::{Client, Failure, Worker, wire};
//! use serde_json::json;
//! use std::time::Duration;
//!
//! # async fn example() -> edgewise_client::Result<()> {
//! let client = Client::new("http://127.0.0.1:7420")?;
//! let working = Worker::new(&client, "greeter")
//!     .slots(8)
//!     .on("greet", async |task, context| match task.input["name"].as_str() {
//!         None => Err(Failure::permanent("bad_input", "`name` is missing")),
//!         Some(_) if context.is_cancelled() => Err(Failure::retryable("stopped", "nobody wants it any more")),
//!         Some(name) => Ok(json!({ "said": format!("hello {name}, attempt {}", task.attempt) })),
//!     })
//!     .start();
//!
//! let source = "flow: greet\ntasks:\n  hello: { action: greet, with: { name: world } }\n".to_owned();
//! let started = client.start(&wire::Start { source: Some(source), ..Default::default() }).await?;
//! let ended = client.wait(&started.run, Duration::from_secs(20)).await?;
//! println!("{:?}: {:?}", ended.state, ended.output);
//! working.stop(Duration::from_secs(30)).await
//! # }
//! ```

/// The reference's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/reference/client.md")]
pub struct Reference;

mod client;
mod error;
pub mod wire;
mod worker;

pub use client::{Backoff, Client, Event, Events};
pub use error::{Error, Result};
pub use worker::{Context, Failure, Task, Worker, Working};
