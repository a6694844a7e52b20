//! The threads of publisher and herald. The publisher's takes what the committer says, writes queues now and then, and
//! begins again after errors.

use super::derive::Part;
use super::herald::Herald;
use super::listeners::Listeners;
use super::publisher::{Publisher, WAITING};
use super::tap::{News, Spout, Tap, tap};
use super::{KEPT, Telling};
use crate::engine::{Clock, spawn};
use edgewise_core::Result;
use edgewise_core::time::{Millis, Time};
use std::sync::mpsc::{RecvTimeoutError, SyncSender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Commits that wait for the publisher; more of them it reads from the ledger.
const AHEAD: usize = 4_096;
/// Queues are written at most so often: each time costs the committer a look at its streams.
const PACE: Duration = Duration::from_millis(100);
/// Between two writes so many times as long passes as the last one took: a ledger has one writer at a time, and runs are
/// not to wait for queues.
const REST: u32 = 150;
/// The longest that a queue waits to be written for that reason.
const REST_MOST: Duration = Duration::from_secs(1);
/// How long to wait before a store that failed is asked again.
const AGAIN: Duration = Duration::from_millis(500);
/// How often it is looked for events that nobody needs any more.
const EXPIRE_EVERY: Millis = Millis(60_000);

/// Publisher and herald at work.
pub(crate) struct Publishing {
    stops: Vec<SyncSender<News>>,
    threads: Vec<JoinHandle<()>>,
}

impl Publishing {
    /// Tells and writes what is there, and ends.
    pub fn stop(self) {
        for stop in self.stops {
            // One that has ended already needs no word.
            let _ = stop.send(News::Stop);
        }
        for thread in self.threads {
            let _ = thread.join();
        }
    }
}

/// Starts both threads; the tap is for the committer.
pub(crate) fn start(
    (publisher, herald): (Publisher, Herald),
    clock: Clock,
    kept: Option<Millis>,
) -> Result<(Publishing, Tap)> {
    let (durable, durable_news) = tap(Part::Durable, AHEAD);
    let (fast, fast_news) = tap(Part::Fast, AHEAD);
    let shell = Shell {
        publisher,
        clock,
        wrote: None,
        pace: PACE,
        kept: kept.unwrap_or(KEPT),
        expired: Time::NEVER,
        troubled: false,
    };
    // Whichever cannot be started: the other ends with the tap, which is dropped.
    let publisher = spawn("edgewise-publisher", move || shell.run(&durable_news))?;
    let herald = spawn("edgewise-herald", move || herald.run(&fast_news))?;
    let tap = durable.and(fast);
    Ok((Publishing { stops: tap.stops(), threads: vec![publisher, herald] }, tap))
}

struct Shell {
    publisher: Publisher,
    clock: Clock,
    wrote: Option<Instant>,
    /// How long passes between two writes.
    pace: Duration,
    kept: Millis,
    expired: Time,
    /// The store failed: the ledger is read again from the cursor before anything else is believed.
    troubled: bool,
}

impl Shell {
    fn run(mut self, news: &Spout) {
        self.troubled = self.publisher.look().is_err();
        loop {
            let goes_on = match news.wait(self.patience()) {
                Ok(news) => self.hear(news),
                Err(RecvTimeoutError::Timeout) => true,
                Err(RecvTimeoutError::Disconnected) => false,
            };
            if self.troubled {
                self.begin_again();
            }
            if self.is_due() || !goes_on {
                self.write();
            }
            if !goes_on {
                return;
            }
        }
    }

    fn hear(&mut self, news: News) -> bool {
        let stop = matches!(news, News::Stop);
        // While the store is in trouble everything is read from the ledger later.
        if !self.troubled || stop {
            self.troubled |= self.publisher.hear(news).is_err();
        }
        !stop
    }

    fn begin_again(&mut self) {
        if self.wrote.is_some_and(|at| at.elapsed() < AGAIN) {
            return;
        }
        self.wrote = Some(Instant::now());
        self.troubled = self.publisher.rewind().and_then(|()| self.publisher.look()).is_err();
    }

    /// How long to wait for news; as long as it takes if nothing is to be written.
    fn patience(&self) -> Option<Duration> {
        if self.troubled {
            return Some(AGAIN);
        }
        self.publisher.is_behind().then(|| self.pace.saturating_sub(self.since_write()))
    }

    fn since_write(&self) -> Duration {
        self.wrote.map_or(self.pace, |at| at.elapsed())
    }

    fn is_due(&self) -> bool {
        let much = self.publisher.waiting() >= WAITING;
        !self.troubled && self.publisher.is_behind() && (much || self.since_write() >= self.pace)
    }

    fn write(&mut self) {
        let begun = Instant::now();
        self.troubled |= self.publisher.write().is_err();
        self.wrote = Some(Instant::now());
        self.pace = pace_after(begun.elapsed());
        let now = (self.clock)();
        if now.since(self.expired) >= EXPIRE_EVERY {
            self.expired = now;
            // What is not taken away now is taken away the next time.
            let _ = self.publisher.expire(now, self.kept);
        }
    }
}

/// How long passes until the next write, after one that took so long.
fn pace_after(took: Duration) -> Duration {
    (took * REST).clamp(PACE, REST_MOST)
}

impl Listeners {
    /// Listeners, a publisher that keeps the queues, and a herald that tells them.
    pub(crate) fn publishing(
        telling: Telling,
        home: &crate::desk::Home,
        known_as: Option<(String, String)>,
    ) -> Result<(Self, (Publisher, Herald))> {
        let listeners = Self::default();
        let space = home.space();
        let known_as = known_as.unwrap_or_else(|| (home.tenant.to_string(), home.workspace.to_string()));
        let herald = Herald::new(telling.news, space.clone(), known_as.clone(), listeners.clone())?;
        let publisher = Publisher::open(telling.queues, space, listeners.clone())?;
        Ok((listeners, (publisher.known_as(known_as), herald)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writing_queues_takes_less_than_a_hundredth_of_the_time_unless_it_takes_very_long() {
        for (took, pace) in [(0, 100), (500, 100), (2_000, 300), (5_000, 750), (1_000_000, 1_000)] {
            assert_eq!(pace_after(Duration::from_micros(took)), Duration::from_millis(pace), "{took}");
        }
    }
}
