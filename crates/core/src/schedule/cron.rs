//! Cron expressions: five fields, or six with seconds first.
//!
//! ```text
//! ┌ second (only with six fields)   0-59
//! │ ┌ minute                        0-59
//! │ │ ┌ hour                        0-23
//! │ │ │ ┌ day of the month          1-31, L for the last one
//! │ │ │ │ ┌ month                   1-12 or jan-dec
//! │ │ │ │ │ ┌ day of the week       0-7 or sun-sat (0 and 7 are Sunday), 5L the last Friday, 5#2 the second one
//! 0 30 7 * * 1-5
//! ```
//!
//! A field is `*`, a value, a range `a-b`, each with a step `/n`, or several of them with commas. Where both days
//! are restricted (neither begins with `*`) a day counts if either fits, as cron has always had it.

mod field;

use field::{Days, Fault, Field};
use jiff::civil::{Date, DateTime, Time, Weekday};
use jiff::{Span, ToSpan};

/// How many years are looked through for the next day: the 29th of February on a weekday returns within forty.
const YEARS: i16 = 41;

/// A cron expression that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cron {
    second: u64,
    minute: u64,
    hour: u64,
    month: u64,
    days: Days,
    /// Whether every hour fits, or the hours are written with `*`: then it goes by elapsed time.
    pub(super) by_elapsed_time: bool,
}

/// Why a text is no cron expression, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CronError {
    /// The bytes that are in the way.
    pub at: std::ops::Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What was perhaps meant.
    pub help: Option<String>,
}

/// Short names of common expressions.
const SHORT: [(&str, &str); 7] = [
    ("@hourly", "0 * * * *"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@weekly", "0 0 * * 0"),
    ("@monthly", "0 0 1 * *"),
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
];

impl Cron {
    /// Reads an expression.
    pub fn parse(text: &str) -> Result<Self, CronError> {
        let whole = |message: String, help: Option<String>| CronError { at: 0..text.len(), message, help };
        if text.len() > 256 {
            return Err(whole(format!("a cron expression has at most 256 bytes, this one has {}", text.len()), None));
        }
        if text.trim_start().starts_with('@') {
            let known = SHORT.iter().find(|(short, _)| *short == text.trim());
            let Some((_, long)) = known else {
                let meant = crate::suggest::nearest(text.trim(), SHORT.iter().map(|(short, _)| *short));
                let names = SHORT.map(|(short, _)| short).join(", ");
                let help = meant.map(|m| format!("did you mean `{m}`?")).unwrap_or(format!("there are {names}"));
                return Err(whole("there is no such short name".into(), Some(help)));
            };
            return Self::parse(long);
        }
        let words = words(text);
        let rest = match words[..] {
            [second, ref rest @ ..] if rest.len() == 5 => {
                return Self::of_fields(
                    text,
                    Field::SECOND.read(second)?.0,
                    [rest[0], rest[1], rest[2], rest[3], rest[4]],
                );
            }
            [a, b, c, d, e] => [a, b, c, d, e],
            _ => {
                let message =
                    format!("a cron expression has five fields, or six with seconds first; this has {}", words.len());
                let help = "such as `30 7 * * 1-5`: minute, hour, day of the month, month, day of the week";
                return Err(whole(message, Some(help.into())));
            }
        };
        Self::of_fields(text, 1, rest)
    }

    fn of_fields(
        text: &str,
        second: u64,
        [minute, hour, day, month, weekday]: [Word<'_>; 5],
    ) -> Result<Self, CronError> {
        let (hours, star) = Field::HOUR.read(hour)?;
        let cron = Self {
            second,
            minute: Field::MINUTE.read(minute)?.0,
            hour: hours,
            month: Field::MONTH.read(month)?.0,
            days: Days::read(day, weekday)?,
            by_elapsed_time: star || hours == (1 << 24) - 1,
        };
        // Any span of forty years holds every day that there is.
        if cron.next_day(Date::constant(2000, 1, 1)).is_none() {
            let help = "look at the day of the month and the month: is there such a day?";
            let at = day.at..month.at + month.text.len();
            return Err(CronError { at, message: format!("`{text}` never comes"), help: Some(help.into()) });
        }
        Ok(cron)
    }

    /// The first instant of a calendar at or after another that fits; a calendar has no time zone.
    pub(super) fn next_civil(&self, from: DateTime) -> Option<DateTime> {
        if self.fits(from.date())
            && let Some(time) = self.next_time(from.time())
        {
            return Some(from.date().to_datetime(time));
        }
        let day = self.next_day(from.date().tomorrow().ok()?)?;
        Some(day.to_datetime(self.next_time(Time::midnight())?))
    }

    fn next_time(&self, from: Time) -> Option<Time> {
        let (h, m, s) = (from.hour() as u32, from.minute() as u32, from.second() as u32);
        let time = |h: u32, m: u32, s: u32| Time::new(h as i8, m as i8, s as i8, 0).ok();
        if has(self.hour, h) {
            if has(self.minute, m)
                && let Some(s) = first_from(self.second, s)
            {
                return time(h, m, s);
            }
            if let Some(m) = first_from(self.minute, m + 1) {
                return time(h, m, first_from(self.second, 0)?);
            }
        }
        let h = first_from(self.hour, h + 1)?;
        time(h, first_from(self.minute, 0)?, first_from(self.second, 0)?)
    }

    fn next_day(&self, from: Date) -> Option<Date> {
        let last = from.year().saturating_add(YEARS);
        let mut day = from;
        while day.year() < last {
            if !has(self.month, day.month() as u32) {
                day = day.last_of_month().tomorrow().ok()?;
            } else if self.days.fit(day) {
                return Some(day);
            } else {
                day = day.checked_add(ONE_DAY()).ok()?;
            }
        }
        None
    }

    fn fits(&self, day: Date) -> bool {
        has(self.month, day.month() as u32) && self.days.fit(day)
    }
}

#[expect(non_snake_case, reason = "a constant that the library makes by a call")]
fn ONE_DAY() -> Span {
    1.day()
}

fn has(set: u64, value: u32) -> bool {
    value < 64 && set >> value & 1 == 1
}

/// The first value of a set from another on.
fn first_from(set: u64, from: u32) -> Option<u32> {
    let rest = if from < 64 { set >> from << from } else { 0 };
    (rest != 0).then(|| rest.trailing_zeros())
}

/// A word of an expression, and where it stands.
#[derive(Debug, Clone, Copy)]
struct Word<'a> {
    text: &'a str,
    at: usize,
}

fn words(text: &str) -> Vec<Word<'_>> {
    let start = text.as_ptr() as usize;
    text.split_ascii_whitespace().map(|word| Word { text: word, at: word.as_ptr() as usize - start }).collect()
}

impl From<Fault> for CronError {
    fn from(fault: Fault) -> Self {
        Self { at: fault.at, message: fault.message, help: fault.help }
    }
}

impl CronError {
    /// What is wrong, with the expression and a mark below the place.
    pub fn shown(&self, text: &str) -> String {
        let marks = " ".repeat(self.at.start) + &"^".repeat(self.at.len().max(1));
        let help = self.help.as_ref().map(|help| format!("\n{help}")).unwrap_or_default();
        format!("{}\n  {text}\n  {marks}{help}", self.message)
    }
}

/// The day of a week by its number in an expression.
fn weekday(number: u32) -> Weekday {
    Weekday::from_sunday_zero_offset((number % 7) as i8).unwrap_or(Weekday::Sunday)
}
