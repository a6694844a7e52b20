//! Schedules: when runs of a flow begin by themselves.
//!
//! A schedule is a rhythm and the rules around it. Its ticks are instants that follow from the rhythm alone; what
//! becomes of a tick is a fact of the control stream ([`crate::control`]).

mod cron;
mod rhythm;

pub use cron::{Cron, CronError};
pub use rhythm::{Rhythm, find_zone};

use crate::error::{Error, Result};
use crate::limits;
use crate::name::Name;
use crate::time::{Millis, Time};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A flow that is run again and again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Schedule {
    /// The flow, by its name: a tick runs the plan that is registered then.
    pub flow: Name,
    /// Its rhythm.
    pub when: When,
    /// A tick is decided up to so much later, the same for the same tick.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub jitter: Millis,
    /// What a tick does while the run before it is at work.
    #[serde(default)]
    pub overlap: Overlap,
    /// How many of the ticks that were missed are made up for, the newest ones.
    #[serde(default, skip_serializing_if = "is_none")]
    pub catch_up: u32,
    /// What its runs are given.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub input: Map<String, Value>,
    /// Nothing is due for now.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub paused: bool,
    /// It stands in the flow's own text, and goes with it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub declared: bool,
    /// It makes up for a range of another schedule, and ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backfill: Option<Backfill>,
}

/// A rhythm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// The instants of a cron expression in a time zone.
    Cron {
        /// The expression, as it was written.
        text: String,
        /// The time zone's name, such as `Europe/Berlin`.
        zone: String,
    },
    /// Every so often, counted from an instant.
    Every {
        /// How often.
        span: Millis,
        /// From when it is counted.
        #[serde(default)]
        from: Time,
    },
    /// Once.
    At(Time),
}

/// What a tick does while the run of an earlier one is at work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Overlap {
    /// It becomes no run.
    #[default]
    Skip,
    /// It waits until that run has ended.
    Queue,
    /// That run is cancelled.
    Cancel,
    /// Both run.
    Allow,
}

/// What makes a schedule a backfill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backfill {
    /// The schedule whose ticks it makes up for.
    pub of: Name,
    /// The first instant that counts.
    pub from: Time,
    /// The last one.
    pub until: Time,
    /// At most so many runs at a time.
    pub at_once: u32,
    /// Ticks that had a run get another one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
}

impl Schedule {
    /// A schedule of a flow with the usual rules.
    pub fn new(flow: Name, when: When) -> Self {
        Self {
            flow,
            when,
            jitter: Millis(0),
            overlap: Overlap::default(),
            catch_up: 0,
            input: Map::new(),
            paused: false,
            declared: false,
            backfill: None,
        }
    }

    /// Refuses what cannot be read or could never tick.
    pub fn check(&self, now: Time) -> Result<()> {
        Rhythm::read(&self.when)?;
        match (&self.when, &self.backfill) {
            (When::At(time), None) if *time <= now => {
                let message = format!("{time} is over: a schedule counts from now on");
                return Err(Error::invalid("in_the_past", message));
            }
            (_, Some(backfill)) if backfill.until < backfill.from || backfill.until > now => {
                let (from, until) = (backfill.from, backfill.until);
                let message = format!("a backfill is over what has passed: {from} to {until} is not");
                return Err(Error::invalid("bad_range", message));
            }
            (_, Some(backfill)) if !(1..=limits::BACKFILL_AT_ONCE).contains(&backfill.at_once) => {
                let most = limits::BACKFILL_AT_ONCE;
                let message = format!("a backfill has from 1 to {most} runs at a time, not {}", backfill.at_once);
                return Err(Error::invalid("bad_count", message));
            }
            _ => {}
        }
        if self.catch_up > limits::CAUGHT_UP {
            let message =
                format!("a schedule catches up with at most {} ticks, not {}", limits::CAUGHT_UP, self.catch_up);
            return Err(Error::limit("bad_count", message));
        }
        let bytes = Value::Object(self.input.clone()).to_string().len();
        if bytes > limits::SCHEDULE_INPUT_BYTES {
            let most = limits::SCHEDULE_INPUT_BYTES;
            let message = format!("the input of a schedule has at most {most} bytes, this one has {bytes}");
            return Err(Error::limit("input_too_large", message));
        }
        Ok(())
    }

    /// How much later than its instant a tick is decided: the same for the same tick, drawn from its name.
    pub fn delay(&self, name: &Name, due: Time) -> Millis {
        if self.jitter.0 == 0 {
            return Millis(0);
        }
        let mut hasher = blake3::Hasher::new();
        hasher.update(name.as_bytes());
        hasher.update(&due.0.to_le_bytes());
        let mut head = [0; 8];
        head.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
        Millis(u64::from_le_bytes(head) % (self.jitter.0 + 1))
    }

    /// The key of a tick's run: whatever happens, there is one run for each tick.
    pub fn key(&self, name: &Name, due: Time) -> String {
        match &self.backfill {
            Some(backfill) if !backfill.again => format!("schedule/{}/{due}", backfill.of),
            _ => format!("schedule/{name}/{due}"),
        }
    }
}

impl When {
    /// In words, for people.
    pub fn words(&self) -> String {
        match self {
            Self::Cron { text, zone } => format!("{text} ({zone})"),
            Self::Every { span, from: Time(0) } => format!("every {span}"),
            Self::Every { span, from } => format!("every {span} from {from}"),
            Self::At(time) => format!("at {time}"),
        }
    }
}

impl Overlap {
    /// All of them, with the words authors use.
    pub const ALL: [(&'static str, Self); 4] =
        [("skip", Self::Skip), ("queue", Self::Queue), ("cancel", Self::Cancel), ("allow", Self::Allow)];

    /// The word for it.
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(_, overlap)| *overlap == self).map_or("skip", |(word, _)| word)
    }
}

/// How many missed ticks a word stands for: `none`, `last` or `all` (as many as there may be).
pub fn catch_up_word(word: &str) -> Option<u32> {
    match word {
        "none" => Some(0),
        "last" => Some(1),
        "all" => Some(limits::CAUGHT_UP),
        _ => None,
    }
}

#[cfg(test)]
mod tests;

fn is_zero(span: &Millis) -> bool {
    span.0 == 0
}

fn is_none(count: &u32) -> bool {
    *count == 0
}
