//! The attempts of one task, side by side: who had it, when, for how long, how it ended, and what was new about it.
//!
//! Rows keep only the last attempt; the ledger has them all, also those of earlier generations.

use crate::event::{Event, Failure, TaskIx};
use crate::fold::{TaskMove, Verdict};
use crate::history::{Entry, Stream};
use crate::state::TaskState;
use crate::time::{Millis, Time};
use serde::Serialize;
use std::sync::Arc;

/// Durations differ if one is at least so many times the other.
const TIMES: u64 = 2;
/// And by at least this much: below it, chance decides.
const AT_LEAST: Millis = Millis(1_000);

/// One attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Attempt {
    /// Of which generation of the task.
    pub generation: u16,
    /// Which one, from 1.
    pub attempt: u16,
    /// Who had it.
    pub worker: Box<str>,
    /// Which orchestrator gave it away.
    pub source: Arc<str>,
    /// How long the task had waited for it: since it was ready, or since the attempt before ended.
    #[serde(rename = "waited_ms")]
    pub waited: Millis,
    /// When it began.
    #[serde(serialize_with = "crate::why::instant")]
    pub began_at: Time,
    /// When it ended; not yet if it is at work.
    #[serde(serialize_with = "crate::why::instant")]
    pub ended_at: Time,
    /// How it ended.
    #[serde(flatten)]
    pub ending: Ending,
    /// What is new about it, compared with the one before.
    pub differs: Vec<Difference>,
}

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "ending", rename_all = "snake_case")]
pub enum Ending {
    /// It is at work.
    AtWork,
    /// Well.
    Succeeded,
    /// Badly.
    Failed {
        /// How.
        failure: Failure,
    },
    /// It never reached its worker, and was not spent.
    Returned,
    /// Something else ended it.
    Stopped {
        /// The event that did.
        by: Box<str>,
    },
}

/// Something that is not as it was in the attempt before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Difference {
    /// Another worker had it.
    Worker,
    /// It ended otherwise: well instead of badly, or with a failure of another type.
    Ending,
    /// The failure is of the same type, and says something else.
    Message,
    /// It took much longer.
    Longer,
    /// It took much less time.
    Shorter,
}

impl Attempt {
    /// How long it took, if it is over.
    pub fn took(&self) -> Option<Millis> {
        self.ended_at.known().map(|end| end.since(self.began_at))
    }

    fn differs_from(&self, before: &Attempt) -> Vec<Difference> {
        let mut found = Vec::new();
        if self.worker != before.worker {
            found.push(Difference::Worker);
        }
        found.extend(match (&before.ending, &self.ending) {
            // What is not over may still end the same.
            (_, Ending::AtWork) => None,
            (Ending::Failed { failure: a }, Ending::Failed { failure: b }) if a.kind == b.kind => {
                (a.message != b.message).then_some(Difference::Message)
            }
            (a, b) => (a != b).then_some(Difference::Ending),
        });
        if let (Some(before), Some(now)) = (before.took(), self.took()) {
            let much = |long: Millis, short: Millis| {
                long.0 >= short.0.saturating_mul(TIMES) && long.0 - short.0.min(long.0) >= AT_LEAST.0
            };
            found.extend(much(now, before).then_some(Difference::Longer));
            found.extend(much(before, now).then_some(Difference::Shorter));
        }
        found
    }
}

/// The attempts of a task, in order. Gates and composites have none.
pub fn of(stream: &Stream<'_>, task: TaskIx) -> Vec<Attempt> {
    let mut book = Book { task, attempts: Vec::new(), waits_since: Time::NEVER };
    let Ok(()) = stream.walk(|_, entry, changes, verdict| {
        if verdict == Verdict::Applied {
            let moves = changes.moves.iter().filter(|step| step.task == task);
            moves.for_each(|step| book.see(entry, step));
        }
        Ok::<(), std::convert::Infallible>(())
    });
    let mut attempts = book.attempts;
    for n in 1..attempts.len() {
        attempts[n].differs = attempts[n].differs_from(&attempts[n - 1]);
    }
    attempts
}

struct Book {
    task: TaskIx,
    attempts: Vec<Attempt>,
    waits_since: Time,
}

impl Book {
    fn see(&mut self, entry: &Entry, step: &TaskMove) {
        let at = entry.stamp.at;
        if step.from == TaskState::InProgress {
            self.end(entry);
        }
        match (step.from, step.to) {
            (TaskState::WaitingForRetry, TaskState::Enqueued) => {}
            (_, TaskState::Enqueued | TaskState::WaitingForRetry) => self.waits_since = at,
            (_, TaskState::InProgress) => self.begin(entry),
            _ => {}
        }
    }

    fn begin(&mut self, entry: &Entry) {
        let Event::DispatchEnqueued(lease) = &entry.event else { return };
        let at = entry.stamp.at;
        self.attempts.push(Attempt {
            generation: lease.generation,
            attempt: lease.attempt,
            worker: lease.worker.clone(),
            source: Arc::clone(&entry.source),
            waited: at.since(self.waits_since),
            began_at: at,
            ended_at: Time::NEVER,
            ending: Ending::AtWork,
            differs: Vec::new(),
        });
    }

    fn end(&mut self, entry: &Entry) {
        let Some(last) = self.attempts.last_mut() else { return };
        last.ended_at = entry.stamp.at;
        last.ending = match &entry.event {
            Event::TaskFinished(e) if e.task == self.task => match &e.error {
                Some(failure) => Ending::Failed { failure: failure.clone() },
                None => Ending::Succeeded,
            },
            Event::DispatchReturned(e) if e.task == self.task => Ending::Returned,
            other => Ending::Stopped { by: other.name().into() },
        };
    }
}
