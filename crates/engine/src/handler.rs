//! Handlers: what in-process workers do. A handler is a function from a task to its output.

use crate::command::Grant;
use crate::command::Job;
use crate::runner::Stop;
use edgewise_core::event::Failure;
use edgewise_core::id::RunId;
use edgewise_core::name::Name;
use serde_json::Value;
use std::collections::BTreeMap;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

/// What a handler comes to.
pub type HandlerResult = Result<Value, Failure>;

type Work = Pin<Box<dyn Future<Output = HandlerResult> + Send>>;
pub(crate) type Handler = Arc<dyn Fn(Task) -> Work + Send + Sync>;

/// One attempt of a task, as a handler sees it.
#[derive(Clone)]
pub struct Task {
    /// The run.
    pub run: RunId,
    /// The task's path.
    pub path: String,
    /// Its generation.
    pub generation: u16,
    /// Which attempt this is, from 1.
    pub attempt: u16,
    /// How many there may be.
    pub max_attempts: u16,
    /// What it is given.
    pub input: Value,
    stop: Stop,
}

impl Task {
    pub(crate) fn new(grant: &Grant, input: Value, stop: Stop) -> Self {
        Self {
            run: grant.lease.run,
            path: grant.path.clone(),
            generation: grant.lease.generation,
            attempt: grant.lease.attempt,
            max_attempts: grant.max_attempts,
            input,
            stop,
        }
    }

    /// The same for every attempt, so that a side effect can be made to happen once.
    pub fn key(&self) -> String {
        format!("{}/{}/{}", self.run, self.path, self.generation)
    }

    /// Whether the attempt is not wanted any more. A blocking handler should look now and then.
    pub fn is_cancelled(&self) -> bool {
        self.stop.is_cancelled()
    }
}

/// The actions an engine can do by itself.
#[derive(Clone, Default)]
pub struct Handlers {
    pub(crate) by_action: BTreeMap<Name, Handler>,
}

impl Handlers {
    /// An action done by an async function. It is dropped at its next await when its attempt is cancelled.
    #[must_use]
    pub fn on<F, W>(mut self, action: Name, handler: F) -> Self
    where
        F: Fn(Task) -> W + Send + Sync + 'static,
        W: Future<Output = HandlerResult> + Send + 'static,
    {
        self.by_action.insert(action, Arc::new(move |task| Box::pin(handler(task))));
        self
    }

    /// An action done by a function that blocks its thread.
    #[must_use]
    pub fn on_blocking<F>(mut self, action: Name, handler: F) -> Self
    where
        F: Fn(Task) -> HandlerResult + Send + Sync + 'static,
    {
        let handler = Arc::new(handler);
        let blocking = move |task: Task| -> Work {
            let handler = Arc::clone(&handler);
            Box::pin(async move {
                match tokio::task::spawn_blocking(move || handler(task)).await {
                    Ok(result) => result,
                    Err(error) if error.is_panic() => Err(panicked(&*error.into_panic())),
                    Err(_) => Err(Failure::new("worker_lost", "the engine is stopping")),
                }
            })
        };
        self.by_action.insert(action, Arc::new(blocking));
        self
    }

    /// Does one attempt of an action. A panic is a permanent failure, and a cancel ends it at its next await.
    pub(crate) async fn call(&self, grant: &Grant, stop: Stop) -> HandlerResult {
        let Job::Action { action, input } = &grant.work else {
            return Err(Failure::new("handler_not_found", "this is not an action"));
        };
        let Some(handler) = self.by_action.get(action) else {
            return Err(Failure::new("handler_not_found", format!("no handler for `{action}` here")));
        };
        let task = Task::new(grant, input.clone(), stop.clone());
        let mut work = match catch_unwind(AssertUnwindSafe(|| handler(task))) {
            Ok(work) => work,
            Err(panic) => return Err(panicked(&*panic)),
        };
        let caught = std::future::poll_fn(move |cx| match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(cx))) {
            Ok(poll) => poll,
            Err(panic) => Poll::Ready(Err(panicked(&*panic))),
        });
        tokio::select! {
            biased;
            result = caught => result,
            () = stop.cancelled() => Err(Failure::new("cancelled", "the attempt was cancelled")),
        }
    }
}

fn panicked(panic: &(dyn std::any::Any + Send)) -> Failure {
    let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".into());
    Failure::new("panic", format!("the handler panicked: {text}"))
}
