//! An instant ahead as it is typed: an instant, a day, a time, or how long from now.

use edgewise_core::time::{Millis, Time};
use edgewise_core::{Error, Result};
use jiff::civil;
use jiff::tz::TimeZone;

/// When something should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// At an instant.
    At(Time),
    /// So long from now.
    In(Millis),
    /// At a day and time in the typist's zone.
    Civil(civil::DateTime),
}

impl Moment {
    /// Reads what was typed. A day alone is its first moment.
    pub fn parse(text: &str) -> Result<Self> {
        let text = text.trim();
        if let Ok(span) = Millis::parse(text.strip_prefix('+').or(text.strip_prefix("in ")).unwrap_or(text)) {
            return Ok(Self::In(span));
        }
        if let Ok(time) = Time::parse(text) {
            return Ok(Self::At(time));
        }
        let day = text.parse::<civil::DateTime>().or_else(|_| text.parse::<civil::Date>().map(Into::into));
        day.map(Self::Civil).map_err(|_| {
            let message = format!(
                "{text:?} is no instant: expected 2027-01-31, 2027-01-31T12:00, 2027-01-31T12:00:00Z, or +2h for two hours from now"
            );
            Error::invalid("bad_time", message)
        })
    }

    /// The instant that is meant by somebody who types it now.
    pub fn instant(self, now: Time) -> Time {
        match self {
            Self::At(time) => time,
            Self::In(span) => now.plus(span),
            Self::Civil(at) => {
                let zoned = at.to_zoned(TimeZone::system()).ok();
                zoned.and_then(|at| u64::try_from(at.timestamp().as_millisecond()).ok()).map_or(now, Time)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_days_and_spans_are_read_and_all_else_is_refused() {
        let now = Time(1_000_000);
        for (text, at) in [
            ("+2s", Time(1_002_000)),
            ("in 2s", Time(1_002_000)),
            ("2s", Time(1_002_000)),
            ("1970-01-01T00:00:05Z", Time(5_000)),
        ] {
            assert_eq!(Moment::parse(text).unwrap().instant(now), at, "{text}");
        }
        assert!(matches!(Moment::parse("2027-01-31").unwrap(), Moment::Civil(_)));
        assert!(matches!(Moment::parse("2027-01-31 12:00").unwrap(), Moment::Civil(_)));
        for bad in ["", "soon", "31.1.2027", "-2h", "2027-02-30"] {
            assert_eq!(Moment::parse(bad).unwrap_err().code, "bad_time", "{bad}");
        }
    }
}
