//! Pace: how often somebody may ask. Who comes too often is told when to come again.
//!
//! What is remembered is bounded: an asker whose rate would let them ask now is like one who was never here, and
//! beyond so many askers the newcomers share one pace, so that a flood of addresses does not become a flood of memory.

use crate::limits;
use edgewise_core::rate::{Arrival, Rate};
use edgewise_core::time::{Millis, Time};
use std::collections::HashMap;
use std::hash::Hash;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// How often those are looked for that need not be remembered, when there are too many.
const TIDY_EVERY: Millis = Millis(1_000);

/// The pace of askers of one kind; without a rate everybody may ask at any time.
pub struct Pace<K> {
    rate: Option<Rate>,
    known: Mutex<Known<K>>,
    refused: AtomicU64,
}

struct Known<K> {
    arrivals: HashMap<K, Arrival>,
    /// Of those who came when there were too many to know each.
    others: Arrival,
    tidy_at: usize,
    tidied: Time,
}

impl<K: Hash + Eq> Pace<K> {
    /// Everybody may ask so often.
    pub fn new(rate: Option<Rate>) -> Self {
        let known = Known {
            arrivals: HashMap::new(),
            others: Arrival::default(),
            tidy_at: limits::ASKERS / 10,
            tidied: Time(0),
        };
        Self { rate, known: Mutex::new(known), refused: AtomicU64::new(0) }
    }

    /// Somebody asks: refused with how long to wait if they come too often.
    pub fn ask(&self, who: K, now: Time) -> Result<(), Millis> {
        let Some(rate) = self.rate else { return Ok(()) };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let arrival = known.of(who, rate, now);
        let opens = rate.opens(*arrival, now);
        if opens > now {
            self.refused.fetch_add(1, Ordering::Relaxed);
            return Err(opens.since(now));
        }
        *arrival = rate.begin(*arrival, now);
        Ok(())
    }

    /// How many were refused.
    pub fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }
}

impl<K: Hash + Eq> Known<K> {
    fn of(&mut self, who: K, rate: Rate, now: Time) -> &mut Arrival {
        if self.arrivals.len() >= self.tidy_at && !self.arrivals.contains_key(&who) {
            let full = self.arrivals.len() >= limits::ASKERS;
            // Looking through all of them for every newcomer would be what the flood wants.
            if !full || now.since(self.tidied) >= TIDY_EVERY || now < self.tidied {
                self.tidied = now;
                self.arrivals.retain(|_, arrival| rate.opens(*arrival, now) > now);
                self.tidy_at = (self.arrivals.len() * 2).clamp(limits::ASKERS / 10, limits::ASKERS);
            }
            if self.arrivals.len() >= limits::ASKERS {
                return &mut self.others;
            }
        }
        self.arrivals.entry(who).or_default()
    }
}

/// The address that a pace is kept for: whoever has one address of the newer kind has the rest of its network too.
pub fn asker(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(long) => {
            let [a, b, c, d, ..] = long.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
        short => short,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_too_often_is_told_when_to_come_again_and_others_are_not_held_up() {
        let pace = Pace::new(Some(Rate::parse("10/s").unwrap()));
        assert_eq!(pace.ask("ann", Time(1_000)), Ok(()));
        assert_eq!(pace.ask("ann", Time(1_040)), Err(Millis(60)));
        assert_eq!(pace.ask("bob", Time(1_040)), Ok(()));
        assert_eq!(pace.ask("ann", Time(1_100)), Ok(()));
        assert_eq!(pace.refused(), 1);
        let free = Pace::new(None);
        assert!((0..100).all(|_| free.ask("ann", Time(1)).is_ok()));
    }

    #[test]
    fn no_flood_of_askers_is_remembered() {
        let pace = Pace::new(Some(Rate::parse("1/m").unwrap()));
        let let_in = (0..limits::ASKERS * 3).filter(|who| pace.ask(*who, Time(1_000)).is_ok()).count();
        assert_eq!(let_in, limits::ASKERS + 1, "those beyond the bound share one pace");
        assert!(pace.known.lock().unwrap().arrivals.len() <= limits::ASKERS);
        assert_eq!(pace.ask(7_777_777, Time(61_000)), Ok(()), "a minute later they are forgotten");
        assert!(pace.known.lock().unwrap().arrivals.len() < 10);
    }

    #[test]
    fn addresses_of_one_network_of_the_newer_kind_are_one_asker() {
        for (address, expected) in [
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
            ("2001:db8:1:2::9", "2001:db8:1:2::"),
            ("::ffff:10.0.0.1", "10.0.0.1"),
            ("10.0.0.1", "10.0.0.1"),
        ] {
            assert_eq!(asker(address.parse().unwrap()).to_string(), expected);
        }
    }
}
