//! Rates: how often something may begin, such as `10/s`. Time is a parameter; nothing here reads a clock.
//!
//! A rate spaces things out evenly: after each of them the next instant is one interval later (the generic cell rate
//! algorithm with one number of memory). What is more frequent than a clock of milliseconds and a commit can space
//! out may come [`GATHERED`] ahead of its instant, so in any span there are at most `count` per `per`, and what
//! that much time allows on top.

use crate::error::{Error, Result};
use crate::limits;
use crate::time::{Millis, Time};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// How far ahead of its instant something may begin, so that frequent things go in small groups.
pub const GATHERED: Millis = Millis(100);
const NANOS: u64 = 1_000_000;
const UNITS: [(&str, u64); 4] = [("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];

/// So many in such a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Rate {
    /// How many.
    pub count: u32,
    /// In which time.
    pub per: Millis,
}

/// The instant at which the next thing would begin if all were spaced out evenly, in nanoseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Arrival(u64);

impl Rate {
    /// Reads `10/s`, `600/m`, `5/h`, `1/d`, or with a longer time `3/10m`.
    pub fn parse(text: &str) -> Result<Self> {
        let bad = || {
            let message = format!("{text:?} is not a rate: expected something like 10/s, 600/m or 3/10m");
            Error::invalid("bad_rate", message)
        };
        let (count, per) = text.split_once('/').ok_or_else(bad)?;
        let count: u32 = count.parse().map_err(|_| bad())?;
        let unit = UNITS.iter().find(|(unit, _)| *unit == per).map(|(_, ms)| Millis(*ms));
        let per = unit.map_or_else(|| Millis::parse(per).map_err(|_| bad()), Ok)?;
        if count == 0 || per.0 == 0 {
            let message = format!("{text:?} would let nothing begin: a rate is at least 1 in some time");
            return Err(Error::invalid("bad_rate", message));
        }
        if count > limits::RATE {
            let message = format!("{text:?} is too much for a rate: it counts at most {}", limits::RATE);
            return Err(Error::limit("bad_rate", message));
        }
        Ok(Self { count, per })
    }

    fn interval(self) -> u64 {
        (self.per.0.saturating_mul(NANOS) / u64::from(self.count)).max(1)
    }

    fn ahead(self) -> u64 {
        (GATHERED.0 * NANOS).saturating_sub(self.interval())
    }

    /// From when on the next thing may begin. A clock that went back makes nobody wait longer than the rate does.
    pub fn opens(self, arrival: Arrival, now: Time) -> Time {
        let latest = nanos(now).saturating_add(self.interval()).saturating_add(self.ahead());
        let from = arrival.0.min(latest).saturating_sub(self.ahead());
        Time(from.div_ceil(NANOS))
    }

    /// Something begins now: when the next thing would, evenly spaced.
    #[must_use]
    pub fn begin(self, arrival: Arrival, now: Time) -> Arrival {
        let latest = nanos(now).saturating_add(self.ahead());
        Arrival(arrival.0.clamp(nanos(now), latest).saturating_add(self.interval()))
    }

    /// What is known after something began at an instant, if nothing else is.
    pub fn after(self, began: Time) -> Arrival {
        self.begin(Arrival::default(), began)
    }
}

fn nanos(time: Time) -> u64 {
    time.0.saturating_mul(NANOS)
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match UNITS.iter().find(|(_, ms)| *ms == self.per.0) {
            Some((unit, _)) => write!(f, "{}/{unit}", self.count),
            None => write!(f, "{}/{}", self.count, self.per),
        }
    }
}

impl Serialize for Rate {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(from)?;
        Self::parse(&text).map_err(|error| serde::de::Error::custom(error.message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Begins whatever may begin, millisecond by millisecond, and gives the instants.
    fn begun(rate: &str, over: u64) -> Vec<u64> {
        let rate = Rate::parse(rate).unwrap();
        let (mut arrival, mut instants) = (Arrival::default(), Vec::new());
        for now in (1_000_000..1_000_000 + over).map(Time) {
            while rate.opens(arrival, now) <= now {
                arrival = rate.begin(arrival, now);
                instants.push(now.0 - 1_000_000);
            }
        }
        instants
    }

    #[test]
    fn what_is_rare_is_spaced_out_evenly() {
        assert_eq!(begun("10/s", 350), [0, 100, 200, 300]);
        assert_eq!(begun("2/10s", 12_000), [0, 5_000, 10_000]);
    }

    #[test]
    fn no_span_has_more_than_the_rate_and_what_is_gathered() {
        for rate in ["3/s", "10/s", "250/s", "5000/s", "600/m"] {
            let parsed = Rate::parse(rate).unwrap();
            let instants = begun(rate, 3_000);
            for (n, from) in instants.iter().enumerate() {
                let span = 700;
                let within = instants[n..].iter().filter(|at| **at < from + span).count() as u64;
                let most = 1 + (span + GATHERED.0) * u64::from(parsed.count) / parsed.per.0;
                assert!(within <= most, "{rate}: {within} within {span} ms, at most {most}");
            }
            let fair = 3_000 * u64::from(parsed.count) / parsed.per.0;
            assert!(instants.len() as u64 >= fair, "{rate}: {} of {fair}", instants.len());
        }
    }

    #[test]
    fn a_clock_that_went_back_makes_nobody_wait_for_it() {
        let rate = Rate::parse("1/s").unwrap();
        let arrival = rate.after(Time(9_000_000));
        assert_eq!(rate.opens(arrival, Time(1_000_000)), Time(1_001_000));
    }

    #[test]
    fn rates_are_read_as_they_are_printed_and_nonsense_is_not_read() {
        for (text, printed) in
            [("10/s", "10/s"), ("600/m", "600/m"), ("3/10m", "3/10m"), ("7/60s", "7/m"), ("1/d", "1/d")]
        {
            assert_eq!(Rate::parse(text).unwrap().to_string(), printed);
        }
        for text in
            ["", "10", "0/s", "10/0s", "-1/s", "1.5/s", "10/x", "10/", "/s", "10/s/s", "99999999999/s", "2000000/s"]
        {
            assert!(Rate::parse(text).is_err(), "{text:?}");
        }
    }
}
