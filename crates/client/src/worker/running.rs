//! What is at work or being reported, and when the server must hear of it next.

use super::task::Context;
use crate::wire::Beat;
use std::collections::HashMap;
use std::time::Duration;
use tokio::time::Instant;

/// A heartbeat is due when this part of the lease is over: two may be lost before the lease is.
const PART: u32 = 3;
/// Shortest time between two heartbeats of a lease, however little of it was left when it came.
const LEAST: Duration = Duration::from_millis(5);

/// The attempts whose leases are kept up, by their leases: those at work, and those whose reports are not answered yet.
#[derive(Default)]
pub struct Running {
    attempts: HashMap<String, Attempt>,
    /// How many of them are being reported: they need no slot any more.
    reported: usize,
    /// No heartbeat is due before.
    next: Option<Instant>,
}

struct Attempt {
    context: Context,
    /// Between two heartbeats.
    every: Duration,
    due: Instant,
    reported: bool,
}

impl Running {
    /// How many are at work.
    pub fn at_work(&self) -> usize {
        self.attempts.len() - self.reported
    }

    /// Whether no lease is to be kept up.
    pub fn is_empty(&self) -> bool {
        self.attempts.is_empty()
    }

    /// An attempt begins whose lease is good for so long.
    pub fn begin(&mut self, lease: String, span: Duration, now: Instant) -> Context {
        let (context, every) = (Context::default(), (span / PART).max(LEAST));
        let due = now + every;
        self.next = Some(self.next.map_or(due, |next| next.min(due)));
        self.attempts.insert(lease, Attempt { context: context.clone(), every, due, reported: false });
        context
    }

    /// An attempt has ended, and its report goes off: until that is answered its lease is kept up.
    pub fn report(&mut self, lease: &str) {
        if let Some(attempt) = self.attempts.get_mut(lease)
            && !attempt.reported
        {
            attempt.reported = true;
            self.reported += 1;
        }
    }

    /// The server has heard how an attempt ended, or never will.
    pub fn end(&mut self, lease: &str) {
        if let Some(attempt) = self.attempts.remove(lease) {
            self.reported -= usize::from(attempt.reported);
        }
    }

    /// When to look for heartbeats that are due; never, if no lease is to be kept up.
    pub fn next(&self) -> Option<Instant> {
        self.next.filter(|_| !self.attempts.is_empty())
    }

    /// The leases whose heartbeat is due, or soon will be: many that began one after another are told together.
    pub fn due(&mut self, now: Instant) -> Vec<String> {
        let mut leases = Vec::new();
        for (lease, attempt) in &mut self.attempts {
            if attempt.due <= now + attempt.every / 4 {
                attempt.due = now + attempt.every;
                leases.push(lease.clone());
            }
        }
        self.next = self.attempts.values().map(|attempt| attempt.due).min();
        leases
    }

    /// The server's answers: what is not wanted any more stops. For what has ended already they mean nothing: its report
    /// is answered by itself.
    pub fn told(&self, beats: &[Beat]) {
        for beat in beats.iter().filter(|beat| !beat.go_on) {
            if let Some(attempt) = self.attempts.get(&beat.lease) {
                attempt.context.cancel();
            }
        }
    }

    pub fn cancel_all(&self) {
        self.attempts.values().for_each(|attempt| attempt.context.cancel());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heartbeats_are_due_three_times_in_a_lease_and_only_for_what_is_not_over() {
        let (mut running, now) = (Running::default(), Instant::now());
        let after = |ms: u64| now + Duration::from_millis(ms);
        running.begin("long".into(), Duration::from_millis(9_000), now);
        running.begin("short".into(), Duration::from_millis(300), now);
        assert_eq!(running.next(), Some(after(100)));
        assert_eq!(running.due(after(100)), ["short"]);
        assert_eq!(running.next(), Some(after(200)));
        running.end("short");
        assert!(running.due(after(200)).is_empty());
        assert_eq!(running.next(), Some(after(3_000)));
        running.end("long");
        assert_eq!(running.next(), None);
    }

    #[test]
    fn what_is_being_reported_is_kept_up_and_needs_no_slot() {
        let (mut running, now) = (Running::default(), Instant::now());
        running.begin("a".into(), Duration::from_millis(300), now);
        // Said again where the server wants the report in another form.
        running.report("a");
        running.report("a");
        running.report("unknown");
        assert_eq!((running.at_work(), running.is_empty()), (0, false));
        let due = now + Duration::from_millis(100);
        assert_eq!(running.due(due), ["a"]);
        running.begin("b".into(), Duration::from_millis(300), due);
        assert_eq!(running.at_work(), 1);
        running.end("a");
        running.end("a");
        assert_eq!((running.at_work(), running.is_empty()), (1, false));
        running.end("b");
        assert_eq!((running.at_work(), running.is_empty()), (0, true));
    }

    #[test]
    fn a_lease_of_next_to_nothing_does_not_keep_the_worker_busy() {
        for ms in [0, 1, 2] {
            let (mut running, now) = (Running::default(), Instant::now());
            running.begin("short".into(), Duration::from_millis(ms), now);
            assert_eq!(running.next(), Some(now + LEAST));
            assert_eq!(running.due(now + LEAST), ["short"]);
            assert_eq!(running.next(), Some(now + 2 * LEAST));
        }
    }

    #[test]
    fn what_the_server_does_not_want_any_more_is_told_to_stop() {
        let mut running = Running::default();
        let [a, b] = ["a", "b"].map(|lease| running.begin(lease.into(), Duration::from_secs(9), Instant::now()));
        let beat = |lease: &str, go_on| Beat { lease: lease.into(), go_on, deadline: None };
        running.told(&[beat("a", true), beat("b", false), beat("unknown", false)]);
        assert_eq!((a.is_cancelled(), b.is_cancelled()), (false, true));
    }
}
