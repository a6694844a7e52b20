//! A rhythm that was read: which instant is the next.
//!
//! Clocks are put forward and back, and a cron expression names times of a clock. Two rules, by how the hours are
//! written:
//!
//! - With hours (`30 2 * * *`) a tick is a time of the day. One that does not exist on a day is the first instant
//!   after the gap; one that exists twice is the first of both. So each comes once.
//! - With any hour (`*/15 * * * *`, `0 */2 * * *`) a tick is whenever the clock shows such a time. In a gap it never
//!   does, and in an hour that comes twice it does twice: what passes between two ticks is what was asked for.
//!
//! Time zones come from the database that is built into the program, so that every machine says the same.

use super::When;
use super::cron::Cron;
use crate::error::{Error, Result};
use crate::suggest::{nearest, shown};
use crate::time::{Millis, Time};
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone, TimeZoneDatabase};
use jiff::{Timestamp, ToSpan};

/// A rhythm, ready to be asked.
#[derive(Debug, Clone)]
pub enum Rhythm {
    /// By a calendar.
    Cron(Box<Cron>, TimeZone),
    /// Every so often, from an instant on.
    Every(Millis, Time),
    /// Once.
    At(Time),
}

impl Rhythm {
    /// Reads a rhythm; an expression or a time zone may be wrong.
    pub fn read(when: &When) -> Result<Self> {
        match when {
            When::Cron { text, zone } => {
                let cron = Cron::parse(text).map_err(|e| Error::invalid("bad_cron", e.shown(text)))?;
                Ok(Self::Cron(Box::new(cron), find_zone(zone)?))
            }
            When::Every { span, .. } if span.0 < 1_000 => {
                let message = format!("a schedule ticks at most once a second, `every: {span}` is more often");
                Err(Error::invalid("too_often", message))
            }
            When::Every { span, from } => Ok(Self::Every(*span, *from)),
            When::At(time) => Ok(Self::At(*time)),
        }
    }

    /// The first tick after an instant; `None` if there is none any more.
    pub fn next(&self, after: Time) -> Option<Time> {
        match self {
            Self::Cron(cron, zone) => {
                let after = Timestamp::from_millisecond(i64::try_from(after.0).ok()?).ok()?;
                let next =
                    if cron.by_elapsed_time { next_shown(cron, zone, after) } else { next_of_day(cron, zone, after) };
                u64::try_from(next?.as_millisecond()).ok().map(Time)
            }
            Self::Every(_, from) if after < *from => Some(*from),
            Self::Every(span, from) => {
                let passed = (after.0 - from.0) / span.0;
                passed.checked_add(1)?.checked_mul(span.0)?.checked_add(from.0).map(Time)
            }
            Self::At(time) => (after < *time).then_some(*time),
        }
    }

    /// The ticks after an instant, in order.
    pub fn after(&self, instant: Time) -> impl Iterator<Item = Time> + '_ {
        let mut last = Some(instant);
        std::iter::from_fn(move || {
            last = last.and_then(|last| self.next(last));
            last
        })
    }
}

/// The first instant at which the clock of a zone shows a time that fits.
fn next_shown(cron: &Cron, zone: &TimeZone, after: Timestamp) -> Option<Timestamp> {
    let mut from = whole_second_after(after)?;
    loop {
        // Until the next change of the clock the zone is at one offset, and a calendar is enough.
        let offset = zone.to_offset(from);
        let civil = cron.next_civil(offset.to_datetime(from))?;
        let candidate = offset.to_timestamp(civil).ok()?;
        match zone.following(from).next().map(|change| change.timestamp()) {
            Some(change) if change <= candidate => from = change,
            _ => return Some(candidate),
        }
    }
}

/// The first time of a day that fits, wherever it falls.
fn next_of_day(cron: &Cron, zone: &TimeZone, after: Timestamp) -> Option<Timestamp> {
    // The next second of the clock, not of time: the clock may be put forward between the two, and what is asked for
    // in between must not be stepped over.
    let second = Timestamp::from_second(after.as_millisecond().div_euclid(1_000)).ok()?;
    let mut from = zone.to_datetime(second).checked_add(1.second()).ok()?;
    loop {
        let civil = cron.next_civil(from)?;
        let instant = instant_of(zone, civil)?;
        if instant > after {
            return Some(instant);
        }
        from = civil.checked_add(1.second()).ok()?;
    }
}

/// When a clock shows a time: the first of two, or the end of the gap that it falls into.
fn instant_of(zone: &TimeZone, civil: DateTime) -> Option<Timestamp> {
    match zone.to_ambiguous_timestamp(civil).offset() {
        AmbiguousOffset::Unambiguous { offset } => offset.to_timestamp(civil).ok(),
        AmbiguousOffset::Fold { before, .. } => before.to_timestamp(civil).ok(),
        AmbiguousOffset::Gap { after, .. } => {
            // By the offset after the gap this is still before the change.
            let early = after.to_timestamp(civil).ok()?;
            zone.following(early).next().map(|change| change.timestamp())
        }
    }
}

fn whole_second_after(instant: Timestamp) -> Option<Timestamp> {
    Timestamp::from_second(instant.as_millisecond().div_euclid(1_000) + 1).ok()
}

/// A time zone by its name, such as `Europe/Berlin`.
pub fn find_zone(name: &str) -> Result<TimeZone> {
    let zones = TimeZoneDatabase::bundled();
    if name.len() <= 64
        && let Ok(zone) = zones.get(name)
    {
        return Ok(zone);
    }
    let known: Vec<String> = zones.available().map(|zone| zone.as_str().to_owned()).collect();
    let city = |zone: &String| zone.rsplit('/').next().is_some_and(|city| city.eq_ignore_ascii_case(name));
    let meant = nearest(name, known.iter().map(String::as_str)).or(known.iter().find(|z| city(z)).map(String::as_str));
    let help = meant.map_or("names are like `Europe/Berlin` or `UTC`".into(), |zone| format!("did you mean `{zone}`?"));
    Err(Error::invalid("bad_zone", format!("there is no time zone {}: {help}", shown(name))))
}
