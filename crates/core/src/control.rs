//! Control: what a workspace is set to. Flows under their names, schedules, settings.
//!
//! One stream for each workspace, beside those of its runs. A tick of a schedule and the run it starts are written
//! in one commit, one event in each of two streams. The fold knows no calendar: which instant is
//! the next is asked of [`crate::schedule`] by whoever decides, and only the answer is a fact, so that a newer
//! time zone database changes the future and never the past.

mod event;
mod fold;
mod rows;

pub use event::{ControlEvent, FlowRegistered, Outcome, ScheduleFired, ScheduleSet, SettingChanged, Skip};
pub use fold::{check, fold};
pub use rows::{ControlRow, ControlRows};

use crate::id::{EventId, PlanHash, RunId};
use crate::name::Name;
use crate::schedule::Schedule;
use crate::time::Time;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The setting that addresses without a token are signed with. The first one stays: another one would end all addresses
/// that others were given.
pub const HOOK_SECRET: &str = "hook/secret";

/// What the settings begin with that tell who may come in, one for each name. The first one of a name stays until it is
/// taken away: whoever made it was shown its secret once.
pub const TOKEN: &str = "token/";

/// All that a workspace is set to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Control {
    /// The seq of the last event.
    pub seq: u64,
    /// The id of the last event.
    pub last: EventId,
    /// Flows by their names.
    pub flows: BTreeMap<Name, Registered>,
    /// Schedules by their names.
    pub schedules: BTreeMap<Name, Scheduled>,
    /// Settings by their keys.
    pub settings: BTreeMap<Name, Setting>,
}

/// A flow under its name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Registered {
    /// The plan that new runs of it get.
    pub plan: PlanHash,
    /// How often it was registered.
    pub version: u32,
    /// Who registered it last.
    pub by: Name,
    /// When.
    pub at: Time,
    /// How a call of its address begins it; `None` if it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook: Option<Hook>,
}

/// How a call from outside begins a flow: `on: { webhook: … }`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hook {
    /// The input that gets the body whole; its keys are the inputs if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub into: Option<Name>,
}

/// A schedule, and where it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scheduled {
    /// What was asked for.
    pub schedule: Schedule,
    /// Who asked.
    pub by: Name,
    /// Why, if they said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// When it was last set.
    pub set_at: Time,
    /// The cursor: ticks up to here are decided, or were never asked for.
    pub after: Time,
    /// Ticks that wait for the run before them, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queue: Vec<Time>,
    /// Runs that were not known to be over when the last tick was decided.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub running: Vec<RunId>,
    /// How the last tick was decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<Decided>,
    /// How many ticks became runs.
    #[serde(default)]
    pub started: u64,
    /// How many did not.
    #[serde(default)]
    pub skipped: u64,
}

/// How a tick was decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Decided {
    /// The tick.
    pub due: Time,
    /// When it was decided.
    pub at: Time,
    /// What became of it.
    pub outcome: Outcome,
}

/// A setting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    /// What it is set to.
    pub value: Value,
    /// Who set it.
    pub by: Name,
    /// When.
    pub at: Time,
    /// Why, if they said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// Names one thing of a workspace's control: one row each.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Key {
    /// A flow.
    Flow(Name),
    /// A schedule.
    Schedule(Name),
    /// A setting.
    Setting(Name),
}

#[cfg(test)]
mod tests;
