//! Handlers: what a worker does, by the name of the action.

use super::task::{Context, Failure, Task};
use serde_json::Value;
use std::any::Any;
use std::collections::BTreeMap;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

type Done = Result<Value, Failure>;
type Work = Pin<Box<dyn Future<Output = Done> + Send>>;
type Handler = Arc<dyn Fn(Task, Context) -> Work + Send + Sync>;

/// The actions that a worker can do.
#[derive(Default)]
pub struct Handlers(BTreeMap<String, Handler>);

impl Handlers {
    pub fn insert<F, W>(&mut self, action: &str, handler: F)
    where
        F: Fn(Task, Context) -> W + Send + Sync + 'static,
        W: Future<Output = Done> + Send + 'static,
    {
        self.0.insert(action.to_owned(), Arc::new(move |task, context| Box::pin(handler(task, context))));
    }

    pub fn actions(&self) -> Vec<String> {
        self.0.keys().cloned().collect()
    }

    /// Does one attempt. A panic is a permanent failure, and a cancel ends it at its next await.
    pub async fn call(&self, task: Task, context: Context) -> Done {
        let Some(handler) = self.0.get(&task.action) else {
            return Err(Failure::retryable("handler_not_found", format!("no handler for `{}` here", task.action)));
        };
        let mut work = match catch_unwind(AssertUnwindSafe(|| handler(task, context.clone()))) {
            Ok(work) => work,
            Err(panic) => return Err(panicked(&*panic)),
        };
        let caught = std::future::poll_fn(move |cx| match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(cx))) {
            Ok(poll) => poll,
            Err(panic) => Poll::Ready(Err(panicked(&*panic))),
        });
        tokio::select! {
            biased;
            done = caught => done,
            () = context.cancelled() => Err(Failure::retryable("cancelled", "the attempt was cancelled")),
        }
    }
}

fn panicked(panic: &(dyn Any + Send)) -> Failure {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".into());
    Failure::permanent("panic", format!("the handler panicked: {text}"))
}
