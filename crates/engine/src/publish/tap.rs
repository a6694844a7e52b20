//! The tap: what the committer tells the publisher of. It never waits and costs nothing where nothing is told.

use edgewise_core::event::Event;
use edgewise_core::id::{EventId, PlanHash, RunId};
use edgewise_core::plan::Plan;
use edgewise_core::time::Time;
use edgewise_store::Position;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, TrySendError};
use std::time::Instant;

/// So many positions without anything to tell are told of, so that the next engine need not look at them again.
const QUIET: u64 = 10_000;

/// What a commit appended to a run whose plan tells something.
pub(crate) struct Moved {
    pub run: RunId,
    pub plan_hash: PlanHash,
    pub plan: Arc<Plan>,
    /// The seq of the first event.
    pub first: u64,
    /// The id of the first event.
    pub id: EventId,
    pub at: Time,
    pub events: Vec<Event>,
}

/// What the publisher hears.
pub(crate) enum News {
    /// A commit of this engine, right after what was told before.
    Moved { runs: Vec<Moved>, upto: Position, durable: Instant },
    /// Up to here nothing is to be told that was not told.
    Quiet(Position),
    /// Something was missed: the ledger knows.
    Look,
    /// Write what is there, and end.
    Stop,
}

/// The committer's end.
pub(crate) struct Tap {
    to: SyncSender<News>,
    /// Something could not be told: the publisher must look at the ledger.
    missed: bool,
    quiet_since: u64,
}

impl Tap {
    pub fn new(to: SyncSender<News>) -> Self {
        Self { to, missed: false, quiet_since: 0 }
    }

    /// A commit landed, right behind all that this engine knows of the ledger, and was durable at this moment.
    pub fn landed(&mut self, runs: Vec<Moved>, upto: Position, durable: Instant) {
        if !runs.is_empty() {
            self.send(News::Moved { runs, upto, durable });
        } else if upto.0 - self.quiet_since.min(upto.0) >= QUIET {
            self.send(News::Quiet(upto));
        } else {
            return;
        }
        self.quiet_since = upto.0;
    }

    /// Others wrote to the ledger, or it is not known where a commit landed.
    pub fn look(&mut self) {
        self.send(News::Look);
    }

    fn send(&mut self, news: News) {
        let news = if self.missed { News::Look } else { news };
        match self.to.try_send(news) {
            Ok(()) => self.missed = false,
            Err(TrySendError::Full(_)) => self.missed = true,
            // A publisher that has ended is read after by the next engine.
            Err(TrySendError::Disconnected(_)) => {}
        }
    }
}
