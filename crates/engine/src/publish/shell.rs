//! The publisher's thread: takes what the committer says, writes queues now and then, and begins again after errors.

use super::KEPT;
use super::listeners::Listeners;
use super::publisher::{Publisher, WAITING};
use super::tap::{News, Spout, Tap, tap};
use crate::engine::Clock;
use edgewise_core::time::{Millis, Time};
use edgewise_core::{Error, Result};
use std::sync::mpsc::{RecvTimeoutError, SyncSender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Commits that wait for the publisher; more of them it reads from the ledger.
const AHEAD: usize = 4_096;
/// Queues are written at most so often: each time costs the committer a look at its streams.
const PACE: Duration = Duration::from_millis(100);
/// Between two writes so many times as long passes as the last one took: fast events wait while queues are written, and
/// fewer than one of a hundred may.
const REST: u32 = 150;
/// The longest that a queue waits to be written for that reason.
const REST_MOST: Duration = Duration::from_secs(1);
/// How long to wait before a store that failed is asked again.
const AGAIN: Duration = Duration::from_millis(500);
/// How often it is looked for events that nobody needs any more.
const EXPIRE_EVERY: Millis = Millis(60_000);

/// The publisher at work.
pub(crate) struct Publishing {
    stop: SyncSender<News>,
    thread: JoinHandle<()>,
}

impl Publishing {
    /// Writes what is there, and ends.
    pub fn stop(self) {
        let _ = self.stop.send(News::Stop);
        let _ = self.thread.join();
    }
}

/// Starts the thread; the tap is for the committer.
pub(crate) fn start(publisher: Publisher, clock: Clock, kept: Option<Millis>) -> Result<(Publishing, Tap)> {
    let (tap, news) = tap(AHEAD);
    let stop = tap.stop();
    let shell = Shell {
        publisher,
        clock,
        wrote: None,
        pace: PACE,
        kept: kept.unwrap_or(KEPT),
        expired: Time::NEVER,
        troubled: false,
    };
    let thread = std::thread::Builder::new()
        .name("edgewise-publisher".into())
        .spawn(move || shell.run(&news))
        .map_err(|e| Error::unavailable("no_thread", "the system gave no thread").with_source(e))?;
    Ok((Publishing { stop, thread }, tap))
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
        self.publisher.rewind();
        self.troubled = self.publisher.look().is_err();
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
    /// Listeners, and a publisher that tells them and keeps the queues.
    pub(crate) fn publishing(
        ledger: Box<dyn edgewise_store::Domain>,
        home: &crate::desk::Home,
        known_as: Option<(String, String)>,
    ) -> Result<(Self, Publisher)> {
        let listeners = Self::default();
        let space = edgewise_store::Space { tenant: home.tenant.clone(), workspace: home.workspace.clone() };
        let publisher = Publisher::open(ledger, space, listeners.clone())?;
        Ok((listeners, publisher.known_as(known_as)))
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
