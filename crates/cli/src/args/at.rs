//! An instant of a run's past as it is typed: a seq, an instant, a time of day, or how long ago.

use edgewise_core::time::{Millis, Time};
use edgewise_core::{Error, Result};
use jiff::civil;
use jiff::tz::TimeZone;

/// Where to look back to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// After the event of this seq.
    Seq(u64),
    /// At an instant.
    Instant(Time),
    /// So long before now.
    Ago(Millis),
    /// At a day and time as tables show them, in the reader's zone; the last moment that is written so.
    Day(civil::DateTime),
    /// At a time of today, likewise.
    Today(civil::Time),
}

/// Written without a fraction, a second is meant to its end; so are the minutes that tables show of other days.
const LAST_OF_SECOND: i64 = 999;
const LAST_OF_MINUTE: i64 = 59_999;

impl At {
    /// Reads what was typed.
    pub fn parse(text: &str) -> Result<Self> {
        let text = text.trim();
        if !text.is_empty() && text.chars().all(|c| c.is_ascii_digit()) {
            return match text.parse() {
                Ok(seq) if seq > 0 => Ok(Self::Seq(seq)),
                _ => Err(bad(text)),
            };
        }
        let ago = text.strip_suffix("ago").unwrap_or(text).trim_end();
        if let Ok(span) = Millis::parse(ago) {
            return Ok(Self::Ago(span));
        }
        if let Ok(time) = Time::parse(text) {
            return Ok(Self::Instant(time));
        }
        let last = match (text.contains('.'), text.matches(':').count()) {
            (true, 2) => 0,
            (false, 2) => LAST_OF_SECOND,
            (false, 1) => LAST_OF_MINUTE,
            _ => return Err(bad(text)),
        };
        let last = jiff::SignedDuration::from_millis(last);
        if let Ok(day) = text.parse::<civil::DateTime>() {
            return day.checked_add(last).map(Self::Day).map_err(|_| bad(text));
        }
        text.parse::<civil::Time>().and_then(|time| time.checked_add(last)).map(Self::Today).map_err(|_| bad(text))
    }

    /// The instant that is meant, for whoever reads now; none for a seq.
    pub fn instant(self, now: Time) -> Option<Time> {
        let zone = TimeZone::system();
        let stamp = i64::try_from(now.0).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
        let today = stamp.unwrap_or_default().to_zoned(zone.clone()).date();
        let day = match self {
            Self::Seq(_) => return None,
            Self::Instant(time) => return Some(time),
            Self::Ago(span) => return Some(Time(now.0.saturating_sub(span.0))),
            Self::Day(day) => day,
            Self::Today(time) => today.to_datetime(time),
        };
        let at = zone.to_ambiguous_zoned(day).compatible().ok()?;
        u64::try_from(at.timestamp().as_millisecond()).ok().map(Time)
    }
}

fn bad(text: &str) -> Error {
    Error::invalid(
        "bad_at",
        format!(
            "{text:?} is no place in a run's past: expected the seq of an event such as 17, an instant such as \
             2027-01-31T12:00:00Z, a time such as 12:00:05 or '2027-01-31 12:00:05', or `10m ago`"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_in_the_past_is_a_seq_an_instant_a_time_or_so_long_ago() {
        let now = Time::parse("2027-01-31T12:00:00Z").unwrap();
        assert_eq!(At::parse("17").unwrap(), At::Seq(17));
        for (text, instant) in [
            ("2027-01-31T11:00:00Z", "2027-01-31T11:00:00.000Z"),
            ("10m ago", "2027-01-31T11:50:00.000Z"),
            ("1h30m", "2027-01-31T10:30:00.000Z"),
        ] {
            assert_eq!(At::parse(text).unwrap().instant(now).unwrap().to_string(), instant, "{text}");
        }
        let day =
            |text: &str| civil::DateTime::constant(2027, 1, 31, 11, 0, 0, 0).date().to_datetime(text.parse().unwrap());
        assert_eq!(At::parse("2027-01-31 11:00:05").unwrap(), At::Day(day("11:00:05.999")));
        assert_eq!(At::parse("2027-01-31 11:00").unwrap(), At::Day(day("11:00:59.999")));
        assert_eq!(At::parse("11:00:05.250").unwrap(), At::Today("11:00:05.250".parse().unwrap()));
        assert_eq!(At::parse("11:00:05").unwrap(), At::Today("11:00:05.999".parse().unwrap()));
        for text in ["", "0", "-1", "tomorrow", "12", "99999999999999999999", "25:00:00", "m ago"] {
            assert!(text == "12" || At::parse(text).unwrap_err().message.contains("no place"), "{text}");
        }
    }
}
