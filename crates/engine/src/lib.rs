//! The will of Edgewise: what is asked becomes durable, what is ready reaches a worker, what is due happens.
//!
//! [`committer`] is the heart, without threads, clocks or sockets. Everything else brings it commands or
//! carries its answers away.

pub mod backup;
mod cached;
pub mod command;
pub mod committer;
mod desk;
pub mod doctor;
pub mod engine;
mod enqueue;
pub mod entropy;
pub mod facts;
pub mod folder;
pub mod handler;
pub mod http;
pub mod import;
mod lanes;
mod leases;
mod links;
mod load;
mod long_poll;
pub mod metrics;
mod nesting;
pub mod publish;
pub mod push;
pub mod query;
pub mod queues;
mod rates;
pub mod reader;
mod request;
mod result;
pub mod retention;
pub mod runner;
pub mod secrets;
pub mod shares;
mod ticks;
mod turns;
pub mod webhook;
pub mod work;
pub mod worker;

pub use desk::Home;
pub use engine::{Engine, Parts};
pub use folder::{Door, Folder};

/// The guide's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/library.md")]
pub struct Guide;
