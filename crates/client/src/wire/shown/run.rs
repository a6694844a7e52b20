//! Runs and their tasks.

use super::insight::{Attempt, Moved};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// What somebody did.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ActShown {
    /// Who.
    pub by: String,
    /// Why, if they said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// When.
    pub at: Option<String>,
}

/// Why something failed.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct FailureShown {
    /// Its type, such as `exit_1` or `timeout`.
    #[serde(rename = "type")]
    pub kind: String,
    /// For people.
    pub message: String,
    /// Whether another attempt could help; yes if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retryable: Option<bool>,
    /// How long the worker asks to wait, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u64>,
    /// The wider types it also is, the nearest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub is: Vec<String>,
    /// The failure that was being handled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Box<FailureShown>>,
    /// The failures it stands for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<FailureShown>,
}

/// A run in a list.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct RunListed {
    /// Which run.
    pub run: String,
    /// Of which flow.
    pub flow: Option<String>,
    /// Where it is.
    pub state: String,
    /// What people see of that.
    pub phase: String,
    /// Counts, times and marks.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// A run with its tasks.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct RunShown {
    /// Which run.
    pub run: String,
    /// Of which flow.
    pub flow: Option<String>,
    /// Where it belongs.
    pub namespace: String,
    /// Where it is.
    pub state: String,
    /// What people see of that.
    pub phase: String,
    /// Whether nothing new is leased.
    pub paused: bool,
    /// Why only reads work on it.
    pub frozen: Option<String>,
    /// Who froze it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frozen_by: Option<ActShown>,
    /// Whether somebody works on it.
    pub engine: bool,
    /// The task that waits for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<ParentShown>,
    /// The hash of its plan.
    pub plan: String,
    /// The rules that it was started under.
    pub rules: Option<u32>,
    /// Who asked for it.
    pub by: Option<String>,
    /// The key of whoever asked.
    pub key: Option<String>,
    /// To find it by.
    pub labels: Option<BTreeMap<String, String>>,
    /// When it was asked for.
    pub triggered_at: Option<String>,
    /// When it began.
    pub started_at: Option<String>,
    /// When it ended.
    pub completed_at: Option<String>,
    /// What it was given.
    pub input: Option<Value>,
    /// What it made.
    pub output: Option<Value>,
    /// Why there is no output although it ended.
    pub output_error: Option<FailureShown>,
    /// The failure that a program ended with.
    pub failure: Option<FailureShown>,
    /// Who cancelled it.
    pub cancel: Option<ActShown>,
    /// Who declared it dealt with.
    pub resolved: Option<ActShown>,
    /// Who let its failures stand.
    pub given_up: Option<ActShown>,
    /// How many events it has.
    pub seq: u64,
    /// The last of them.
    pub last_event: String,
    /// Events that are not known here.
    pub unknown_events: u32,
    /// Tasks by state.
    pub counts: BTreeMap<String, u32>,
    /// Its tasks, each composite followed by what is inside of it.
    pub tasks: Vec<TaskShown>,
    /// What `after` takes for the next page of tasks; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// The task that waits for a run.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ParentShown {
    /// Of which run.
    pub run: String,
    /// Which task.
    pub task: String,
    /// In which generation.
    pub generation: u16,
    /// Which attempt.
    pub attempt: u16,
}

/// A task.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TaskShown {
    /// Its printed name.
    pub path: String,
    /// Its number.
    pub task: u32,
    /// What it is, such as `action`, `command` or `gate`.
    pub kind: String,
    /// What a worker does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// The flow that it is a run of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
    /// That run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub child: Option<String>,
    /// Where it is.
    pub state: String,
    /// What people see of that.
    pub phase: String,
    /// How often it was opened.
    pub generation: u16,
    /// How many attempts began.
    pub attempt: u16,
    /// How many there may be.
    pub max_attempts: u16,
    /// When it became ready.
    pub ready_at: Option<String>,
    /// When it began.
    pub started_at: Option<String>,
    /// When it ended.
    pub completed_at: Option<String>,
    /// What it made.
    pub output: Option<Value>,
    /// Why it did not succeed: a word, or an object with one.
    pub reason: Option<Value>,
    /// How many of its needs must be met: a word, or a number.
    pub join: Value,
    /// What it waits for.
    pub needs: Vec<EdgeShown>,
    /// When what is due for it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub timers: BTreeMap<String, String>,
    /// What a gate waits for, and who has approved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<Map<String, Value>>,
    /// How far a spread is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<SpreadShown>,
    /// The event that changed it last.
    pub row_version: String,
    /// All its attempts, where it is shown by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempts: Option<Vec<Attempt>>,
}

/// Something that a task waits for.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct EdgeShown {
    /// Which task.
    pub task: String,
    /// Which ends it takes.
    pub accepts: Vec<String>,
    /// How it ended, if it has.
    pub resolution: Option<String>,
}

/// How far a spread is.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct SpreadShown {
    /// All of its items.
    pub total: u32,
    /// Those that were begun.
    pub made: u32,
    /// Those that ended.
    pub done: u32,
    /// Those that failed.
    pub failed: u32,
}

/// A gate of a run, with what somebody must know to decide.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct RunGateShown {
    /// The gate.
    pub gate: TaskShown,
    /// Who or what it waits for, while it does.
    pub waits: Option<Map<String, Value>>,
    /// What the run was given.
    pub input: Option<Value>,
    /// Tasks whose outputs matter.
    pub evidence: Vec<TaskShown>,
    /// What was said so far.
    pub said: Vec<Moved>,
}
