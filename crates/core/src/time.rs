//! Instants and durations, both in milliseconds. Nobody here reads a clock: time comes in with the event.

use crate::error::{Error, Result};
use crate::limits;
use serde::{Deserialize, Serialize};
use std::fmt;

/// An instant: milliseconds since 1970 by the committer's clock. Zero means "not yet".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Time(pub u64);

/// A length of time in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Millis(pub u64);

impl Time {
    /// No instant at all.
    pub const NEVER: Time = Time(0);

    /// This instant and a duration, without overflow.
    #[must_use]
    pub fn plus(self, span: Millis) -> Self {
        Self(self.0.saturating_add(span.0))
    }

    /// How long ago `earlier` was; zero if it is not earlier.
    pub fn since(self, earlier: Time) -> Millis {
        Millis(self.0.saturating_sub(earlier.0))
    }

    /// `None` for "not yet".
    pub fn known(self) -> Option<Time> {
        (self.0 != 0).then_some(self)
    }

    /// Reads an RFC 3339 instant, such as `2027-01-31T12:00:00Z`.
    pub fn parse(text: &str) -> Result<Self> {
        let bad = || {
            Error::invalid(
                "bad_time",
                format!("{text:?} is not an instant: expected something like 2027-01-31T12:00:00Z"),
            )
        };
        let stamp: jiff::Timestamp = text.parse().map_err(|_| bad())?;
        u64::try_from(stamp.as_millisecond()).map(Time).map_err(|_| bad())
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match i64::try_from(self.0).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok()) {
            Some(stamp) => write!(f, "{stamp:.3}"),
            None => write!(f, "{}ms", self.0),
        }
    }
}

const UNITS: [(&str, u64); 6] =
    [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000), ("w", 604_800_000)];

impl Millis {
    /// Reads a duration such as `250ms`, `30s`, `1h30m`, `2d`; units fall from large to small.
    pub fn parse(text: &str) -> Result<Self> {
        let bad = || {
            Error::invalid(
                "bad_duration",
                format!("{text:?} is not a duration: expected something like 250ms, 30s, 1h30m or 2d"),
            )
        };
        let mut rest = text.trim();
        let mut total: u64 = 0;
        let mut last = u64::MAX;
        if rest.is_empty() {
            return Err(bad());
        }
        while !rest.is_empty() {
            let digits = rest.find(|c: char| !c.is_ascii_digit()).ok_or_else(bad)?;
            let count: u64 = rest[..digits].parse().map_err(|_| bad())?;
            rest = &rest[digits..];
            let letters = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
            let (_, unit) = UNITS.iter().find(|(name, _)| *name == &rest[..letters]).ok_or_else(bad)?;
            if *unit >= last {
                return Err(bad());
            }
            last = *unit;
            total = count.checked_mul(*unit).and_then(|ms| total.checked_add(ms)).ok_or_else(bad)?;
            rest = &rest[letters..];
        }
        if total > limits::DURATION_MS {
            return Err(Error::limit("duration_too_long", format!("{text:?} is longer than ten years")));
        }
        Ok(Self(total))
    }
}

impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return f.pad("0ms");
        }
        let mut rest = self.0;
        let mut text = String::new();
        for (name, unit) in UNITS.iter().rev().skip(1) {
            if rest >= *unit {
                text += &format!("{}{name}", rest / unit);
                rest %= unit;
            }
        }
        f.pad(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_back_as_printed() {
        for (text, ms) in
            [("250ms", 250), ("30s", 30_000), ("1h30m", 5_400_000), ("2d", 172_800_000), ("1w", 604_800_000)]
        {
            assert_eq!(Millis::parse(text).unwrap(), Millis(ms), "{text}");
            assert_eq!(Millis::parse(&Millis(ms).to_string()).unwrap(), Millis(ms), "{text}");
        }
        for text in ["", "5", "s", "1m1h", "-1s", "1.5s", "1s1s", "99999999999999999999d", "11y", "4000d"] {
            assert!(Millis::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn instants_read_back_as_printed() {
        let time = Time::parse("2027-01-31T12:00:00.250Z").unwrap();
        assert_eq!(time.to_string(), "2027-01-31T12:00:00.250Z");
        assert!(Time::parse("tomorrow").is_err());
    }
}
