//! Instants for people, in their own time zone: the time alone if it was today, else with its day.

use edgewise_core::time::Time;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

pub use edgewise_engine::facts::rfc3339;

/// Writes instants as they are read today.
pub struct Clock {
    zone: TimeZone,
    today: Date,
}

impl Clock {
    /// The machine's time zone, as of an instant.
    pub fn local(now: Time) -> Self {
        Self::new(TimeZone::system(), now)
    }

    /// A time zone, as of an instant.
    pub fn new(zone: TimeZone, now: Time) -> Self {
        let today = zoned(now, &zone).date();
        Self { zone, today }
    }

    /// `12:00:05` today, else `2027-01-31 12:00`; nothing for "not yet".
    pub fn short(&self, time: Time) -> String {
        let Some(time) = time.known() else { return String::new() };
        let at = zoned(time, &self.zone);
        let form = if at.date() == self.today { "%H:%M:%S" } else { "%Y-%m-%d %H:%M" };
        at.strftime(form).to_string()
    }

    /// `12:00:05` today, else `2027-01-31 12:00:05`: where seconds matter.
    pub fn second(&self, time: Time) -> String {
        let Some(time) = time.known() else { return String::new() };
        let at = zoned(time, &self.zone);
        let form = if at.date() == self.today { "%H:%M:%S" } else { "%Y-%m-%d %H:%M:%S" };
        at.strftime(form).to_string()
    }

    /// `12:00:05.250` today, else `2027-01-31 12:00:05.250`.
    pub fn exact(&self, time: Time) -> String {
        let at = zoned(time, &self.zone);
        let form = if at.date() == self.today { "%H:%M:%S%.3f" } else { "%Y-%m-%d %H:%M:%S%.3f" };
        at.strftime(form).to_string()
    }
}

fn zoned(time: Time, zone: &TimeZone) -> Zoned {
    let stamp = i64::try_from(time.0).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
    stamp.unwrap_or_default().to_zoned(zone.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn today_needs_no_day() {
        let now = Time::parse("2027-01-31T12:00:00Z").unwrap();
        let clock = Clock::new(TimeZone::UTC, now);
        assert_eq!(clock.short(Time::parse("2027-01-31T01:02:03Z").unwrap()), "01:02:03");
        assert_eq!(clock.short(Time::parse("2027-01-30T23:59:59Z").unwrap()), "2027-01-30 23:59");
        assert_eq!(clock.second(Time::parse("2027-01-30T23:59:59Z").unwrap()), "2027-01-30 23:59:59");
        assert_eq!(clock.exact(now), "12:00:00.000");
        assert_eq!(clock.short(Time::NEVER), "");
        assert_eq!(rfc3339(Time::NEVER), None);
    }
}
