//! Flows, schedules, queues and tokens.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The text of a flow file.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowText {
    /// The text, as YAML or program text.
    pub source: String,
    /// The name of the file that it is from; its ending says which language it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

/// The flows of a text were registered.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct Registered {
    /// In the order of the text.
    pub flows: Vec<FlowRegistered>,
}

/// One flow was registered.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct FlowRegistered {
    /// Its name.
    pub flow: String,
    /// False if it was registered so already.
    pub changed: bool,
    /// The schedules that stand in its text.
    pub schedules: Vec<String>,
    /// Whether a call of its address begins it.
    #[serde(default)]
    pub webhook: bool,
}

/// The address of a flow. Whoever knows it can begin runs of it.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct FlowHook {
    /// Which flow.
    pub flow: String,
    /// Where to `POST` to, at this server.
    pub path: String,
    /// Not good from here on.
    pub expires_at: String,
}

/// Make or change a schedule. One of `cron`, `every` and `at` is said.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetSchedule {
    /// Its name.
    pub name: String,
    /// The registered flow that is run.
    pub flow: String,
    /// Minute, hour, day of the month, month, day of the week.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cron: Option<String>,
    /// The time zone of `cron`; UTC if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    /// How often, such as `15m`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<String>,
    /// The instant that `every` is counted from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Once, at this instant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// Begin up to so much later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter: Option<String>,
    /// What a tick does while the run before it is at work: `skip` (if absent), `queue`, `cancel` or `allow`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overlap: Option<String>,
    /// How many missed ticks are made up for; none if absent.
    #[serde(default)]
    pub catch_up: u32,
    /// What its runs are given.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub input: Map<String, Value>,
    /// Why, if they say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// Run a schedule for ticks that have passed.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BackfillSchedule {
    /// The first instant that counts.
    pub from: String,
    /// The last one; now if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// At most so many runs at a time; one if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_once: Option<u32>,
    /// Also ticks that had a run.
    #[serde(default)]
    pub again: bool,
    /// Why, if they say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// A schedule is so now.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct ScheduleTaken {
    /// Which schedule.
    pub schedule: String,
    /// False if it was so already.
    pub changed: bool,
}

/// A page of schedules.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct Schedules {
    /// The schedules, in the form of `edgewise schedule list --json`.
    #[schemars(with = "Vec<super::ScheduleShown>")]
    pub schedules: Vec<Value>,
    /// What `after` takes for the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// The ticks of a schedule that come.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct Ticks {
    /// When.
    pub ticks: Vec<String>,
}

/// What a queue is set to from now on, also after a restart. What is absent is not bounded.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetQueue {
    /// Most attempts at work at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slots: Option<u32>,
    /// How often an attempt may begin, such as `10/s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<String>,
    /// Nothing begins for now.
    #[serde(default)]
    pub paused: bool,
    /// Why, if they say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// Facts that have not happened.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WhatIf {
    /// In the order in which they would happen, in the words of `edgewise what-if`.
    #[serde(default)]
    pub facts: Vec<String>,
    /// Then suppose that everything else goes well, to the end.
    #[serde(default)]
    pub to_end: bool,
}

/// Take runs away that are long over.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Retain {
    /// How long ago they must have ended, such as `30d`.
    pub older_than: String,
    /// Only those that a search finds; without `state:` in it, those that succeeded or were cancelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub q: Option<String>,
    /// How long their keys are kept, counted from their end; 30 days if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys: Option<String>,
    /// Only say which.
    #[serde(default)]
    pub dry_run: bool,
}

/// Runs were taken away, some at a time.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct Retained {
    /// Those that are gone, or would be.
    pub gone: Vec<String>,
    /// Those that were kept, and why.
    pub kept: Vec<Value>,
    /// Whether there are more: ask again.
    pub more: bool,
}

/// A new token.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateToken {
    /// Whose it is: this name is written beside everything that is done with it.
    pub name: String,
    /// `viewer`, `operator`, `worker`, `approver` or `admin`.
    pub role: String,
    /// Not good any more after so long, such as `90d`; for ever if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<String>,
}

/// A token, without its secret.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct TokenListed {
    /// Whose it is.
    pub name: String,
    /// What they are trusted with.
    pub role: String,
    /// Not good from here on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// The token itself: only when it is made, and never again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
}

/// All tokens.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct TokenList {
    /// By their names.
    pub tokens: Vec<TokenListed>,
    /// The cursor of the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}
