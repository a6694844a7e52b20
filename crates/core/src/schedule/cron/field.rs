//! One field of a cron expression: lists of values, ranges and steps, by number or by name.

use super::{CronError, Word, has, weekday};
use crate::suggest::{nearest, shown};
use jiff::civil::Date;

/// What a field may hold.
pub(super) struct Field {
    what: &'static str,
    first: u32,
    last: u32,
    names: &'static [&'static str],
}

/// Why a field cannot be read.
pub(super) struct Fault {
    pub at: std::ops::Range<usize>,
    pub message: String,
    pub help: Option<String>,
}

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

impl Field {
    pub(super) const SECOND: Self = Self { what: "a second", first: 0, last: 59, names: &[] };
    pub(super) const MINUTE: Self = Self { what: "a minute", first: 0, last: 59, names: &[] };
    pub(super) const HOUR: Self = Self { what: "an hour", first: 0, last: 23, names: &[] };
    const DAY: Self = Self { what: "a day of the month", first: 1, last: 31, names: &[] };
    pub(super) const MONTH: Self = Self { what: "a month", first: 1, last: 12, names: &MONTHS };
    const WEEKDAY: Self = Self { what: "a day of the week", first: 0, last: 7, names: &WEEKDAYS };

    /// The values of a field, and whether it is written with `*`.
    pub(super) fn read(&self, word: Word<'_>) -> Result<(u64, bool), Fault> {
        let mut set = 0;
        for part in parts(word) {
            set |= self.part(part)?;
        }
        Ok((set, word.text.starts_with('*')))
    }

    fn part(&self, part: Word<'_>) -> Result<u64, Fault> {
        let (range, step) = match part.text.split_once('/') {
            Some((range, step)) => (range, Some(Word { text: step, at: part.at + range.len() + 1 })),
            None => (part.text, None),
        };
        let (first, last) = match range.split_once('-') {
            _ if range == "*" => (self.first, if self.names.len() == 7 { 6 } else { self.last }),
            Some((a, b)) => {
                let first = self.value(Word { text: a, at: part.at })?;
                (first, self.value(Word { text: b, at: part.at + a.len() + 1 })?)
            }
            // `5/10` is from 5 to the end.
            None => {
                let value = self.value(Word { text: range, at: part.at })?;
                (value, if step.is_some() { self.last } else { value })
            }
        };
        if first > last {
            let help = format!("write it as two ranges: `{first}-{},{}-{last}`", self.last, self.first);
            return Err(fault(part, format!("the range {} goes backwards", shown(range)), Some(help)));
        }
        let step = step.map_or(Ok(1), |step| self.step(step))?;
        Ok((first..=last).step_by(step as usize).fold(0, |set, value| set | 1 << value))
    }

    fn step(&self, word: Word<'_>) -> Result<u32, Fault> {
        match word.text.parse::<u32>() {
            Ok(step) if step >= 1 && step <= self.last => Ok(step),
            _ => Err(fault(
                word,
                format!("a step is a number from 1 to {}, found {}", self.last, shown(word.text)),
                None,
            )),
        }
    }

    fn value(&self, word: Word<'_>) -> Result<u32, Fault> {
        let lower = word.text.to_ascii_lowercase();
        if let Some(at) = self.names.iter().position(|name| *name == lower) {
            return Ok(at as u32 + if self.names.len() == 12 { 1 } else { 0 });
        }
        let digits = !word.text.is_empty() && word.text.bytes().all(|b| b.is_ascii_digit());
        if digits
            && let Ok(value) = word.text.parse::<u32>()
            && (self.first..=self.last).contains(&value)
        {
            return Ok(value);
        }
        let names = if self.names.is_empty() { String::new() } else { format!(" or {}", self.names.join(", ")) };
        let message = format!(
            "{} is a number from {} to {}{names}, found {}",
            self.what,
            self.first,
            self.last,
            shown(word.text)
        );
        let meant = nearest(&lower, self.names.iter().copied()).map(|name| format!("did you mean `{name}`?"));
        Err(fault(word, message, meant))
    }
}

/// Which days count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Days {
    month: u64,
    last: bool,
    week: u64,
    /// The last of these days of the week in a month, and the n-th ones (by n, from 1).
    week_last: u64,
    week_nth: [u64; 5],
    /// Either of both suffices.
    either: bool,
}

impl Days {
    pub(super) fn read(day: Word<'_>, week: Word<'_>) -> Result<Self, CronError> {
        let mut days = Self {
            month: 0,
            last: false,
            week: 0,
            week_last: 0,
            week_nth: [0; 5],
            either: is_bound(day) && is_bound(week),
        };
        for part in parts(day) {
            match part.text {
                "L" | "l" => days.last = true,
                _ => days.month |= Field::DAY.part(part)?,
            }
        }
        for part in parts(week) {
            days.week_part(part)?;
        }
        Ok(days)
    }

    fn week_part(&mut self, part: Word<'_>) -> Result<(), Fault> {
        if let Some((name, nth)) = part.text.split_once('#') {
            let value = Field::WEEKDAY.value(Word { text: name, at: part.at })?;
            let at = Word { text: nth, at: part.at + name.len() + 1 };
            match nth.parse::<usize>() {
                Ok(nth @ 1..=5) => self.week_nth[nth - 1] |= 1 << (value % 7),
                _ => {
                    return Err(fault(
                        at,
                        format!("after `#` stands a number from 1 to 5, found {}", shown(nth)),
                        None,
                    ));
                }
            }
        } else if let Some(name) = part
            .text
            .strip_suffix(['L', 'l'])
            .filter(|name| !name.is_empty() && Field::WEEKDAY.value(Word { text: part.text, at: part.at }).is_err())
        {
            self.week_last |= 1 << (Field::WEEKDAY.value(Word { text: name, at: part.at })? % 7);
        } else {
            self.week |= Field::WEEKDAY.part(part)?;
        }
        // Both 0 and 7 are Sunday.
        self.week |= self.week >> 7 & 1;
        Ok(())
    }

    pub(super) fn fit(&self, day: Date) -> bool {
        let month = has(self.month, day.day() as u32) || self.last && day == day.last_of_month();
        let of_week = (0..7).find(|n| weekday(*n) == day.weekday()).unwrap_or(0);
        let nth = (day.day() as usize - 1) / 7;
        let week = has(self.week, of_week)
            || has(self.week_nth[nth], of_week)
            || has(self.week_last, of_week) && day.day() + 7 > day.days_in_month();
        if self.either { month || week } else { month && week }
    }
}

fn is_bound(word: Word<'_>) -> bool {
    !word.text.starts_with('*')
}

fn parts(word: Word<'_>) -> impl Iterator<Item = Word<'_>> {
    let mut at = word.at;
    word.text.split(',').map(move |text| {
        let part = Word { text, at };
        at += text.len() + 1;
        part
    })
}

fn fault(word: Word<'_>, message: String, help: Option<String>) -> Fault {
    Fault { at: word.at..word.at + word.text.len(), message, help }
}
