//! Schedules: when runs of a flow begin by themselves.
//!
//! A schedule is a rhythm and the rules around it. Its ticks are instants that follow from the rhythm alone; what
//! becomes of a tick is a fact of the control stream ([`crate::control`]).

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

fn is_zero(span: &Millis) -> bool {
    span.0 == 0
}

fn is_none(count: &u32) -> bool {
    *count == 0
}
