//! The worker loop: takes leases of what this program can do, does it, and reports.
//!
//! ```text
//! poll ──► leases ──► handlers ──► reports, each with a claim for the slots it frees ──► leases …
//!                        ▲
//!              heartbeats: go on, or stop
//! ```
//!
//! Slots are conserved: a lease begins as soon as it comes, so nothing that was taken lies about. What is finished goes
//! off together with a claim for the next tasks, in one commit of the server; whatever finishes meanwhile is in the next
//! report, so batches grow with the load by themselves. A server that is away is asked again until it is back.

mod at_work;
mod handler;
mod running;
mod task;

pub use task::{Context, Failure, Task};

use crate::client::Client;
use crate::error::Result;
use at_work::AtWork;
use handler::Handlers;
use serde_json::Value;
use std::future::Future;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// How many attempts at once where nothing is said.
const SLOTS: u32 = 8;
/// How long a lease is good for without a heartbeat where nothing is said.
const LEASE: Duration = Duration::from_secs(30);

/// A worker that has not begun yet.
pub struct Worker {
    client: Client,
    name: String,
    handlers: Handlers,
    queues: Option<Vec<String>>,
    slots: u32,
    lease: Duration,
}

/// A worker at work. Dropping it leaves it at work; [`Working::stop`] ends it.
pub struct Working {
    stop: mpsc::UnboundedSender<Duration>,
    task: JoinHandle<Result<()>>,
}

impl Worker {
    /// A worker of a server, with a name for people to read. It can do nothing yet.
    pub fn new(client: &Client, name: impl Into<String>) -> Self {
        let (client, name) = (client.clone(), name.into());
        Self { client, name, handlers: Handlers::default(), queues: None, slots: SLOTS, lease: LEASE }
    }

    /// How an action is done. The future is dropped at its next await when its attempt is cancelled.
    #[must_use]
    pub fn on<F, W>(mut self, action: &str, handler: F) -> Self
    where
        F: Fn(Task, Context) -> W + Send + Sync + 'static,
        W: Future<Output = Result<Value, Failure>> + Send + 'static,
    {
        self.handlers.insert(action, handler);
        self
    }

    /// Takes tasks of these queues only.
    #[must_use]
    pub fn queues<Q: Into<String>>(mut self, queues: impl IntoIterator<Item = Q>) -> Self {
        self.queues = Some(queues.into_iter().map(Into::into).collect());
        self
    }

    /// How many attempts at once; 8 if it is not said.
    #[must_use]
    pub fn slots(mut self, slots: u32) -> Self {
        self.slots = slots.max(1);
        self
    }

    /// How long the server waits for a sign of life before it gives a task to somebody else; 30 seconds if it is not said.
    #[must_use]
    pub fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease;
        self
    }

    /// Begins to take work.
    pub fn start(self) -> Working {
        let (stop, stopped) = mpsc::unbounded_channel();
        Working { stop, task: tokio::spawn(AtWork::new(self).run(stopped)) }
    }
}

impl Working {
    /// Takes no more work. What is at work may go on for so long, then it is stopped and reported as `worker_lost`, so
    /// that somebody else does it. May be said again, with less patience.
    pub fn wind_down(&self, patience: Duration) {
        // A worker that has ended needs no telling.
        let _ = self.stop.send(patience);
    }

    /// Returns once nothing is at work any more, after [`Working::wind_down`]; or says why the worker ended by itself,
    /// such as a token that was revoked.
    pub async fn ended(self) -> Result<()> {
        self.task.await.unwrap_or(Ok(()))
    }

    /// Winds down and waits for the end.
    pub async fn stop(self, patience: Duration) -> Result<()> {
        self.wind_down(patience);
        self.ended().await
    }
}
