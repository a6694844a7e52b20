//! One attempt of a task, as a handler sees it, and how it fails.

use crate::wire::{Lease, TaskError};
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::Notify;

/// One attempt of a task.
#[derive(Debug, Clone)]
pub struct Task {
    /// The run.
    pub run: String,
    /// The task's path.
    pub path: String,
    /// Which attempt this is, from 1.
    pub attempt: u16,
    /// How many there may be.
    pub max_attempts: u16,
    /// The same for every attempt of the task: to be used where an effect must happen once.
    pub key: String,
    /// What is to be done.
    pub action: String,
    /// What it is given.
    pub input: Value,
}

impl Task {
    /// The task of a lease, and the lease's own text.
    pub(super) fn of(lease: Lease) -> (String, Self) {
        let Lease { lease, run, task, attempt, max_attempts, key, action, input, .. } = lease;
        (lease, Self { run, path: task, attempt, max_attempts, key, action, input })
    }
}

/// What surrounds an attempt: whether it is still wanted.
#[derive(Clone, Debug, Default)]
pub struct Context(Arc<Signal>);

#[derive(Debug, Default)]
struct Signal {
    cancelled: AtomicBool,
    told: Notify,
}

impl Context {
    /// Whether the attempt is not wanted any more. A handler that blocks should look now and then.
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::Acquire)
    }

    /// Returns once the attempt is not wanted any more.
    pub async fn cancelled(&self) {
        loop {
            let told = self.0.told.notified();
            let mut told = std::pin::pin!(told);
            // Before the look, so that a cancel between the two is not missed.
            told.as_mut().enable();
            if self.is_cancelled() {
                return;
            }
            told.await;
        }
    }

    pub(super) fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::Release);
        self.0.told.notify_waiters();
    }
}

/// Why an attempt failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What a flow's `retry` and handlers name, such as `timeout`.
    pub kind: String,
    /// For people.
    pub message: String,
    /// Trying again cannot help.
    pub permanent: bool,
    /// How long to wait at least before the next attempt.
    pub after: Option<Duration>,
    /// The wider kinds that it also is, nearest first.
    pub is: Vec<String>,
}

impl Failure {
    /// Another attempt may help; whether there is one is the flow's to say.
    pub fn retryable(kind: impl Into<String>, message: impl Into<String>) -> Self {
        Self { kind: kind.into(), message: message.into(), permanent: false, after: None, is: Vec::new() }
    }

    /// Trying again cannot help.
    pub fn permanent(kind: impl Into<String>, message: impl Into<String>) -> Self {
        Self { permanent: true, ..Self::retryable(kind, message) }
    }

    /// Not before this much time has passed.
    #[must_use]
    pub fn after(self, wait: Duration) -> Self {
        Self { after: Some(wait), ..self }
    }

    /// It is one of a wider kind as well: a flow's handler for that one fits too.
    #[must_use]
    pub fn also(mut self, kind: impl Into<String>) -> Self {
        self.is.push(kind.into());
        self
    }
}

impl From<Failure> for TaskError {
    fn from(failure: Failure) -> Self {
        let retry_after_ms = failure.after.map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
        let Failure { kind, message, permanent, is, .. } = failure;
        Self { kind, message, permanent, retry_after_ms, is }
    }
}
