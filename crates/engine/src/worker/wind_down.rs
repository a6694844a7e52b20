//! How a worker ends: it takes no more work, and what is at work may finish, then is stopped and given up.

use super::reports::Next;
use super::{AtWork, REPORT_AGAIN};
use crate::command::{Answer, Command, Finish};
use crate::engine::Revoked;
use crate::runner::{self, Stop};
use edgewise_core::event::Failure;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// How often what could not be reported is reported again: whoever stops does not wait for long.
const TRIES: u32 = 5;

/// A worker that takes no more work: what is at work may finish, then is stopped and given up.
pub(super) struct WindDown {
    worker: AtWork,
    revoked: mpsc::UnboundedReceiver<Revoked>,
    stopped: mpsc::UnboundedReceiver<Duration>,
}

impl WindDown {
    pub fn new(
        worker: AtWork,
        revoked: mpsc::UnboundedReceiver<Revoked>,
        stopped: mpsc::UnboundedReceiver<Duration>,
    ) -> Self {
        Self { worker, revoked, stopped }
    }

    pub async fn run(mut self, patience: Duration) {
        self.leave().await;
        let (mut deadline, mut stopping) = (Instant::now().checked_add(patience), false);
        while !self.worker.running.is_empty() {
            tokio::select! {
                Some(finish) = self.worker.finished.1.recv() => self.report(finish, stopping).await,
                Some(lease) = self.revoked.recv() => self.worker.revoke(lease),
                Some(less) = self.stopped.recv(), if !stopping => {
                    let sooner = Instant::now().checked_add(less);
                    deadline = deadline.map_or(sooner, |known| Some(sooner.map_or(known, |s| s.min(known))));
                },
                () = at(deadline) => {
                    if stopping {
                        return;
                    }
                    stopping = true;
                    deadline = Some(Instant::now() + runner::STOP_GRACE * 2);
                    self.worker.running.values().for_each(Stop::cancel);
                },
            }
        }
    }

    /// Takes waiting claims back. What was granted in that moment has not begun: it is given back unspent.
    async fn leave(&mut self) {
        let AtWork { engine, answers, .. } = &mut self.worker;
        engine.leave(&answers.0).await;
        let mut unspent = Vec::new();
        while let Ok(answer) = answers.1.try_recv() {
            if let Ok(Answer::Granted { grants, .. }) = answer {
                unspent.extend(grants.into_iter().map(|grant| grant.lease));
            }
        }
        // Whether what was under way was heard is not known: hearing it twice is harmless.
        self.say_all(TRIES).await;
        if !unspent.is_empty() {
            // If it is not heard, the leases end with this process.
            let _ = self.worker.engine.ask(Command::GiveBack(unspent)).await;
        }
    }

    async fn report(&mut self, mut finish: Finish, stopping: bool) {
        if stopping && finish.outcome.is_err() {
            finish.outcome = Err(Failure::new("worker_lost", "the engine was stopped"));
        }
        let finish = [finish];
        self.worker.forget(&finish);
        // Not for each of many in vain.
        let tries = if self.worker.reports.is_empty() { TRIES } else { 0 };
        self.worker.reports.begin(finish.into());
        self.say_all(tries).await;
    }

    /// Says what is to be reported, and what follows from the answers. What is still not decided then is done again
    /// by whoever comes next, for its lease ends with this process.
    async fn say_all(&mut self, mut tries: u32) {
        let mut said = self.worker.reports.under_way();
        while let Some(bundle) = said {
            let answer = self.worker.engine.ask(Command::Complete(bundle)).await;
            let refused = answer.as_ref().err();
            said = match self.worker.reports.heard(refused) {
                Next::Nothing => None,
                Next::Say(next) => Some(next),
                Next::Again(_) if tries == 0 || refused.is_some_and(|error| error.code == "engine_stopped") => None,
                Next::Again(next) => {
                    tries -= 1;
                    tokio::time::sleep(REPORT_AGAIN).await;
                    Some(next)
                }
            };
        }
    }
}

async fn at(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
