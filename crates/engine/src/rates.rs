//! Rates of keys: when the next attempt with a key may begin, and whom to wake then.
//!
//! What is remembered here is not in the ledger. An engine that comes after another one derives it from the attempts
//! it finds: see [`Rates::began`].

use edgewise_core::rate::{Arrival, Rate};
use edgewise_core::time::Time;
use edgewise_store::quick::QuickMap;
use std::collections::BTreeSet;
use std::sync::Arc;

/// So many keys are remembered before those are looked for that need not be.
const TIDY_AT: usize = 1_024;

#[derive(Default)]
pub(crate) struct Rates {
    arrivals: QuickMap<Arc<str>, (Rate, Arrival)>,
    due: BTreeSet<(Time, Arc<str>)>,
    tidy_at: usize,
}

impl Rates {
    /// From when on an attempt with the key may begin. What was learned of a clock that has gone back since is forgotten
    /// here, once: who is put off anew at every look never begins.
    pub fn opens(&mut self, key: &str, rate: Rate, now: Time) -> Time {
        let Some((_, arrival)) = self.arrivals.get_mut(key) else { return rate.opens(Arrival::default(), now) };
        *arrival = at_most(rate, *arrival, now);
        rate.opens(*arrival, now)
    }

    /// An attempt with the key begins.
    pub fn begin(&mut self, key: &Arc<str>, rate: Rate, now: Time) {
        self.tidy(now);
        let known = self.arrivals.entry(Arc::clone(key)).or_insert((rate, Arrival::default()));
        *known = (rate, rate.begin(known.1, now));
    }

    /// An attempt with the key is known to have begun then.
    pub fn began(&mut self, key: &Arc<str>, rate: Rate, at: Time) {
        let known = self.arrivals.entry(Arc::clone(key)).or_insert((rate, Arrival::default()));
        *known = (rate, known.1.max(rate.after(at)));
    }

    /// Somebody waits for the key to open at an instant.
    pub fn wake_at(&mut self, key: &Arc<str>, at: Time) {
        self.due.insert((at, Arc::clone(key)));
    }

    /// The next key that opens by `now`.
    pub fn next(&mut self, now: Time) -> Option<Arc<str>> {
        if self.due.first()?.0 > now {
            return None;
        }
        self.due.pop_first().map(|(_, key)| key)
    }

    /// When the next key opens that somebody waits for.
    pub fn next_due(&self) -> Option<Time> {
        self.due.first().map(|(due, _)| *due)
    }

    /// A key whose rate has long let the next attempt begin is like one that was never used.
    fn tidy(&mut self, now: Time) {
        if self.arrivals.len() >= self.tidy_at.max(TIDY_AT) {
            self.arrivals.retain(|_, (rate, arrival)| rate.opens(*arrival, now) > now);
            self.tidy_at = self.arrivals.len() * 2;
        }
    }
}

/// An arrival that is no later than one attempt after the other would have made it by now.
pub(crate) fn at_most(rate: Rate, arrival: Arrival, now: Time) -> Arrival {
    arrival.min(rate.begin(arrival, now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_went_back_is_waited_for_no_longer_than_the_rate() {
        let (mut rates, key) = (Rates::default(), Arc::from("k"));
        let rate = Rate::parse("1/s").unwrap();
        rates.begin(&key, rate, Time(9_000_000));
        let opens = rates.opens("k", rate, Time(1_000_000));
        assert_eq!(opens, Time(1_001_000));
        assert_eq!(rates.opens("k", rate, Time(1_000_400)), opens, "it is put off once");
        assert!(rates.opens("k", rate, opens) <= opens, "and then it opens");
    }
}
