//! Whoever listens right now. A listener that is too slow loses the oldest events, which are counted.

use edgewise_core::domain::DomainEvent;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use tokio::sync::{broadcast, watch};

/// Events that wait for a slow listener before the oldest of them are dropped.
const WAITING: usize = 4_096;

/// A domain event with the form that travels.
#[derive(Debug)]
pub struct Told {
    /// The event.
    pub event: DomainEvent,
    /// As a CloudEvent.
    pub body: Value,
    /// When its commit was durable; not known of what was read from the ledger.
    pub durable: Option<Instant>,
}

/// All listeners of an engine. Cloning gives another handle.
#[derive(Clone)]
pub struct Listeners {
    fast: broadcast::Sender<Arc<Told>>,
    counts: Arc<Counts>,
    /// Grows each time something was put into a queue.
    queued: watch::Sender<u64>,
}

#[derive(Default)]
struct Counts {
    told: AtomicU64,
    dropped: AtomicU64,
    queued: AtomicU64,
}

/// What listeners lost, told now and then: one line for however many.
#[derive(Debug, Default)]
pub struct Losses(u64);

impl Losses {
    /// A warning if more is lost than at the last look, given all that was ever lost.
    pub fn look(&mut self, dropped: u64) -> Option<String> {
        let lost = dropped.saturating_sub(std::mem::replace(&mut self.0, dropped));
        (lost > 0).then(|| {
            format!(
                "{lost} fast domain events were lost to listeners that read too slowly: let them read faster, or make \
                 the events durable"
            )
        })
    }
}

/// What a listener hears.
#[derive(Debug, Clone)]
pub enum Heard {
    /// An event.
    Event(Arc<Told>),
    /// It was too slow: so many events are lost to it.
    Dropped(u64),
}

impl Default for Listeners {
    fn default() -> Self {
        Self { fast: broadcast::Sender::new(WAITING), counts: Arc::default(), queued: watch::Sender::new(0) }
    }
}

impl Listeners {
    /// Begins to listen: everything that is told from now on.
    pub fn listen(&self) -> Listener {
        Listener { from: self.fast.subscribe(), counts: Arc::clone(&self.counts) }
    }

    /// Whether anybody listens.
    pub(crate) fn are_there(&self) -> bool {
        self.fast.receiver_count() > 0
    }

    /// Tells whoever listens; nobody is waited for.
    pub(crate) fn tell(&self, told: Told) {
        self.counts.told.fetch_add(1, Ordering::Relaxed);
        // Nobody listens: that is what fast means.
        let _ = self.fast.send(Arc::new(told));
    }

    /// So many events were put into queues.
    pub(crate) fn queued(&self, fresh: usize) {
        if fresh > 0 {
            let all = self.counts.queued.fetch_add(fresh as u64, Ordering::Relaxed) + fresh as u64;
            self.queued.send_replace(all);
        }
    }

    /// Changes each time something was put into a queue.
    pub fn watch_queues(&self) -> watch::Receiver<u64> {
        self.queued.subscribe()
    }

    /// Events told to listeners, events that listeners lost, and events put into queues, since the engine started.
    pub fn counts(&self) -> (u64, u64, u64) {
        let Counts { told, dropped, queued } = &*self.counts;
        (told.load(Ordering::Relaxed), dropped.load(Ordering::Relaxed), queued.load(Ordering::Relaxed))
    }
}

/// One who listens.
pub struct Listener {
    from: broadcast::Receiver<Arc<Told>>,
    counts: Arc<Counts>,
}

impl Listener {
    /// The next event, or how many were lost; `None` once the engine has ended.
    pub async fn next(&mut self) -> Option<Heard> {
        match self.from.recv().await {
            Ok(told) => Some(Heard::Event(told)),
            Err(broadcast::error::RecvError::Lagged(lost)) => {
                self.counts.dropped.fetch_add(lost, Ordering::Relaxed);
                Some(Heard::Dropped(lost))
            }
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_says_what_was_lost_since_the_last_one_and_is_not_repeated() {
        let mut losses = Losses::default();
        let looks =
            [0, 3, 3, 10].map(|dropped| losses.look(dropped).map(|said| said.split(' ').next().unwrap().to_owned()));
        assert_eq!(looks, [None, Some("3".to_owned()), None, Some("7".to_owned())]);
    }
}
