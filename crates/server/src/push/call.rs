//! One call: a lease is sent, kept up while the worker is at it, and what comes back is reported.

use super::judge::{Heard, Next, judge};
use super::{Hub, dispatch_of};
use crate::route::work;
use edgewise_client::wire;
use edgewise_core::limits::OUTPUT_BYTES;
use edgewise_core::time::Millis;
use edgewise_core::{Kind, Result};
use edgewise_engine::command::{Answer, Beat, Command, Finish, Grant, LeaseRef, Outcome};
use edgewise_engine::push::PushWorker;
use std::sync::Arc;
use tokio::sync::Notify;

/// Most bytes of an answer: an output, and what is around it.
const ANSWER_BYTES: usize = OUTPUT_BYTES + (64 << 10);
/// How long to wait before a report is tried again.
const REPORT_AGAIN: Millis = Millis(200);
/// Heartbeats in the time that a lease is good for.
const BEATS: u64 = 3;

pub(super) struct Call {
    hub: Arc<Hub>,
    worker: Arc<PushWorker>,
    lease: LeaseRef,
    /// How often the worker had failed before.
    before: u32,
    /// Told to hang up.
    over: Arc<Notify>,
}

impl Drop for Call {
    fn drop(&mut self) {
        self.hub.open().remove(&dispatch_of(&self.lease));
        self.hub.app.push().end(&self.worker.name);
    }
}

impl Call {
    /// A call that is counted from now on.
    pub(super) fn new(hub: Arc<Hub>, worker: Arc<PushWorker>, lease: LeaseRef) -> Self {
        let (before, over) = (hub.app.push().begin(&worker.name), Arc::new(Notify::new()));
        hub.open().insert(dispatch_of(&lease), Arc::clone(&over));
        Self { hub, worker, lease, before, over }
    }

    pub(super) async fn run(self, grant: Grant) {
        let now = (self.hub.means.clock)();
        let span = grant.deadline.map_or(self.worker.lease, |deadline| deadline.since(now));
        let Some(lease) = work::lease(grant, now) else { return };
        let end = tokio::select! {
            biased;
            // The answer first: one that is there counts.
            end = self.make(&lease) => end,
            () = self.over.notified() => "cancelled",
            () = self.keep_up(span) => "cancelled",
        };
        self.hub.app.push().count(end);
    }

    /// Calls, and does what follows; gives how it ended.
    async fn make(&self, lease: &wire::Lease) -> &'static str {
        let heard = tokio::select! {
            biased;
            heard = self.send(lease) => heard,
            () = self.hub.wait(self.worker.patience) => Heard::Silence(self.worker.patience),
        };
        match judge(heard, &lease.lease) {
            Next::Finish(outcome) => {
                self.hub.app.push().good(&self.worker.name);
                if self.report(outcome).await { "completed" } else { "late" }
            }
            Next::Accepted => {
                self.hub.app.push().accepted(&self.worker.name, lease.lease.clone());
                // From here on the worker keeps it up: it has the whole time for its first heartbeat.
                let _ = self.beat().await;
                "accepted"
            }
            // Left alone first, so that what comes back is not sent again at once.
            Next::GiveBack(why, asked) => {
                self.leave_alone(why, asked);
                self.give_back().await;
                "given_back"
            }
            Next::Gone => {
                self.switch_off().await;
                self.give_back().await;
                "given_back"
            }
            Next::Fail(failure) => {
                self.leave_alone(failure.message.clone(), None);
                self.report(Err(failure)).await;
                "failed"
            }
        }
    }

    async fn send(&self, lease: &wire::Lease) -> Heard {
        let unsent = |why: String| Heard::Missed(edgewise_engine::http::Missed::Unreached(why));
        let now = (self.hub.means.clock)();
        let id = dispatch(&self.lease);
        let body = match serde_json::to_string(lease) {
            Ok(body) => body,
            Err(error) => return unsent(format!("the lease has no JSON form: {error}")),
        };
        let signature = match self.worker.sign(&id, now, &body) {
            Ok(signature) => signature,
            Err(error) => return unsent(error.message),
        };
        let mut headers = vec![
            ("content-type", "application/json".to_owned()),
            ("webhook-id", id),
            ("webhook-timestamp", (now.0 / 1_000).to_string()),
            ("webhook-signature", signature),
        ];
        headers.extend(lease.traceparent.clone().map(|trace| ("traceparent", trace)));
        let called = self.hub.http.call(&self.worker.url, headers, body, ANSWER_BYTES).await;
        called.map_or_else(Heard::Missed, Heard::Answer)
    }

    /// Keeps the lease up; returns when it is over.
    async fn keep_up(&self, span: Millis) {
        loop {
            self.hub.wait(Millis((span.0 / BEATS).max(1))).await;
            if let Ok(Beat::Cancel) = self.beat().await {
                return;
            }
        }
    }

    async fn beat(&self) -> Result<Beat> {
        let answer = self.hub.app.engine().ask(Command::Heartbeat(vec![self.lease])).await?;
        match answer {
            Answer::Beats(beats) => Ok(beats.first().copied().unwrap_or(Beat::Cancel)),
            other => Err(work::unexpected(&other)),
        }
    }

    /// Reports until the engine has answered; false if the attempt was over.
    async fn report(&self, outcome: Outcome) -> bool {
        let outcome = self.hub.app.lending().masks().reported(outcome);
        let finishes: Arc<[Finish]> = [Finish { lease: self.lease, outcome }].into();
        loop {
            match self.hub.app.engine().complete(Arc::clone(&finishes), None).await {
                Ok((results, _)) => return results.iter().all(Result::is_ok),
                Err(error) if error.kind == Kind::Unavailable => self.hub.wait(REPORT_AGAIN).await,
                Err(_) => return false,
            }
        }
    }

    async fn give_back(&self) {
        // An engine that has stopped lets the lease end at its deadline.
        let _ = self.hub.app.engine().ask(Command::GiveBack(vec![self.lease])).await;
    }

    fn leave_alone(&self, why: String, asked: Option<Millis>) {
        let (now, dice) = ((self.hub.means.clock)(), (self.hub.means.dice)());
        self.hub.app.push().bad(&self.worker.name, self.before, (why, asked), (now, dice));
    }

    async fn switch_off(&self) {
        const WHY: &str = "the other side answered 410: it wants no more tasks";
        self.leave_alone(WHY.into(), None);
        let (workers, name) = (self.hub.workers.clone(), self.worker.name.clone());
        // One that was taken away meanwhile is off already.
        let _ = tokio::task::spawn_blocking(move || workers.pause(&name, WHY)).await;
        self.hub.app.push().changed();
    }
}

/// Names a dispatch: the same request sent again has the same, and the next one of the same attempt has another.
fn dispatch(lease: &LeaseRef) -> String {
    let LeaseRef { run, task, generation, attempt, token } = lease;
    format!("{run}.{}.{generation}.{attempt}.{}", task.0, token.hash())
}
