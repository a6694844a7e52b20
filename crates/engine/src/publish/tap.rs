//! The tap: what the committer tells the publisher of. It never waits and costs nothing where nothing is told.

use super::derive::Part;
use edgewise_core::domain::Cause;
use edgewise_core::event::Event;
use edgewise_core::id::{EventId, PlanHash, RunId};
use edgewise_core::plan::Plan;
use edgewise_core::time::Time;
use edgewise_core::work::Note;
use edgewise_store::Position;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvError, RecvTimeoutError, SyncSender, TryRecvError, TrySendError, sync_channel};
use std::time::{Duration, Instant};

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

/// What a commit appended to the work graph, and what history notes of it: the engine holds the whole graph, so nobody
/// else need fold it.
pub(crate) struct Noted {
    pub at: Time,
    pub causes: Vec<Cause>,
    pub notes: Vec<Note>,
}

/// All that a commit appended and that is told of.
#[derive(Clone, Default)]
pub(crate) struct Landed {
    pub runs: Vec<Arc<Moved>>,
    pub work: Option<Arc<Noted>>,
}

/// What publisher and herald hear.
pub(crate) enum News {
    /// A commit of this engine, right after what was told before.
    Moved { landed: Landed, upto: Position, durable: Instant },
    /// Up to here nothing is to be told that was not told.
    Quiet(Position),
    /// Something was missed: the ledger knows.
    Look,
    /// Write what is there, and end.
    Stop,
}

/// The committer's end: a line to each who hears.
pub(crate) struct Tap(Vec<Line>);

struct Line {
    /// What is heard at its end: of runs that tell nothing of it nothing is said.
    part: Part,
    to: SyncSender<News>,
    /// Something could not be told: whoever hears must look at the ledger.
    missed: Arc<AtomicBool>,
    quiet_since: u64,
}

/// The end of whoever hears.
pub(crate) struct Spout {
    news: Receiver<News>,
    missed: Arc<AtomicBool>,
}

/// Both ends, for somebody who derives a part; so many news wait between them.
pub(crate) fn tap(part: Part, ahead: usize) -> (Tap, Spout) {
    let (to, news) = sync_channel(ahead);
    let missed = Arc::<AtomicBool>::default();
    let line = Line { part, to, missed: Arc::clone(&missed), quiet_since: 0 };
    (Tap(vec![line]), Spout { news, missed })
}

impl Spout {
    /// Waits for news, for as long as is said.
    pub fn wait(&self, patience: Option<Duration>) -> Result<News, RecvTimeoutError> {
        let news = match patience {
            Some(patience) => self.news.recv_timeout(patience)?,
            None => self.news.recv().map_err(|RecvError| RecvTimeoutError::Disconnected)?,
        };
        Ok(self.or_look(news))
    }

    /// News, if there are any.
    pub fn next(&self) -> Result<News, TryRecvError> {
        self.news.try_recv().map(|news| self.or_look(news))
    }

    /// What was missed is told with the next that was not: perhaps nothing comes after it.
    fn or_look(&self, news: News) -> News {
        let stops = matches!(news, News::Stop);
        if !stops && self.missed.swap(false, Ordering::AcqRel) { News::Look } else { news }
    }
}

impl Tap {
    /// Both are told of every commit.
    pub fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// A way to say to everybody that there is nothing more to come.
    pub fn stops(&self) -> Vec<SyncSender<News>> {
        self.0.iter().map(|line| line.to.clone()).collect()
    }

    /// A commit landed, right behind all that this engine knows of the ledger, and was durable at this moment.
    pub fn landed(&mut self, landed: &Landed, upto: Position, durable: Instant) {
        self.0.iter_mut().for_each(|line| line.landed(landed, upto, durable));
    }

    /// Others wrote to the ledger, or it is not known where a commit landed.
    pub fn look(&mut self) {
        self.0.iter_mut().for_each(|line| line.send(News::Look));
    }
}

impl Line {
    fn landed(&mut self, all: &Landed, upto: Position, durable: Instant) {
        let told = all.runs.iter().filter(|moved| self.part.is_told_by(moved.plan.tells));
        let landed = Landed { runs: told.map(Arc::clone).collect(), work: all.work.clone() };
        if !landed.runs.is_empty() || landed.work.is_some() {
            self.send(News::Moved { landed, upto, durable });
        } else if upto.0 - self.quiet_since.min(upto.0) >= QUIET {
            self.send(News::Quiet(upto));
        } else {
            return;
        }
        self.quiet_since = upto.0;
    }

    fn send(&mut self, news: News) {
        // A publisher that has ended is read after by the next engine.
        if let Err(TrySendError::Full(_)) = self.to.try_send(news) {
            self.missed.store(true, Ordering::Release);
            // Were everything heard just before that was said, nobody would look: said once more, it is either taken, or
            // there is something still to be heard.
            let _ = self.to.try_send(News::Look);
        }
    }
}
