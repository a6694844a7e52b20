//! What is asked about a run: its history, its timing, its logs, why it waits, what would happen.

use super::run::{ActShown, FailureShown};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Transitions of a run and of its tasks, and what people did.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct RunHistory {
    /// In the order of the ledger.
    pub history: Vec<Moved>,
    /// What `after` takes for the next page.
    pub next: Option<u64>,
}

/// One transition, or an act that moved nothing.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Moved {
    /// Of which task; of the run itself if there is none.
    pub task: Option<String>,
    /// From where.
    pub from: Option<String>,
    /// To where.
    pub to: Option<String>,
    /// By what.
    pub by: String,
    /// Who did it, if somebody did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub who: Option<String>,
    /// Why, if they said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The event.
    pub event: String,
    /// Its place in the stream.
    pub seq: u64,
    /// When.
    pub time: Option<String>,
    /// Who wrote it.
    pub source: String,
    /// Whether nothing came after it.
    pub most_recent: bool,
}

/// One attempt of a task.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Attempt {
    /// Of which generation.
    pub generation: u16,
    /// Which one, from 1.
    pub attempt: u16,
    /// Who had it.
    pub worker: String,
    /// Which orchestrator gave it away.
    pub source: String,
    /// How long the task had waited for it.
    pub waited_ms: u64,
    /// When it began.
    pub began_at: Option<String>,
    /// When it ended; null while it is at work.
    pub ended_at: Option<String>,
    /// How: `at_work`, `succeeded`, `failed`, `returned` or `stopped`.
    pub ending: String,
    /// How it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<FailureShown>,
    /// The event that stopped it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// What is new about it.
    pub differs: Vec<String>,
}

/// Where the time of a run went.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct RunTiming {
    /// Which run.
    pub run: String,
    /// When it was asked for.
    pub from: Option<String>,
    /// When it ended, or now.
    pub until: Option<String>,
    /// Whether it has ended.
    pub over: bool,
    /// The critical path, from the start.
    pub critical_path: Vec<CriticalTask>,
    /// Every task that became ready.
    pub tasks: Vec<TimedTask>,
}

/// A task on the critical path.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct CriticalTask {
    /// Which task.
    pub task: String,
    /// How long after its decider ended it became ready.
    pub held_ms: u64,
    /// How long it took from there on.
    pub took_ms: u64,
}

/// When one task was what.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TimedTask {
    /// Which task.
    pub task: String,
    /// How many composites it is inside of.
    pub depth: u32,
    /// When it became ready.
    pub ready_at: Option<String>,
    /// When it ended.
    pub ended_at: Option<String>,
    /// Attempts that began.
    pub attempts: u16,
    /// How long it was ready and nobody worked on it.
    pub waited_ms: u64,
    /// How long somebody worked on it.
    pub ran_ms: u64,
    /// How much later it could have ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slack_ms: Option<u64>,
    /// Whether it is on the critical path.
    pub critical: bool,
}

/// Why a run is where it is, or one task of it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct RunWhy {
    /// Which run.
    pub run: String,
    /// Where it is.
    pub state: String,
    /// What people see of that.
    pub phase: String,
    /// Whether it is paused.
    pub paused: bool,
    /// Who paused it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused_by: Option<ActShown>,
    /// Who froze it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frozen_by: Option<ActShown>,
    /// Who ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_by: Option<ActShown>,
    /// The failure that a program ended with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<FailureShown>,
    /// Who or what can move it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moved_by: Vec<Mover>,
    /// The tasks it comes down to.
    pub needs: Vec<NeededTask>,
    /// Each of them once.
    pub causes: Vec<Cause>,
    /// What is said of it where it is looked at.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// Somebody or something that can move a task or a run.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Mover {
    /// Who: `clock`, `worker`, `person` and so on.
    pub who: String,
    /// What each of them does, and when.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// A task that matters to another one, or to the run.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct NeededTask {
    /// Which one.
    pub path: String,
    /// Which ends are taken, where it is not just success.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accepts: Vec<String>,
    /// How it ended, if it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution: Option<String>,
}

/// Why one task is where it is.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Cause {
    /// Which task.
    pub path: String,
    /// Where it is.
    pub state: String,
    /// What people see of that.
    pub phase: String,
    /// Why, in a word.
    pub because: String,
    /// Who or what can move it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moved_by: Vec<Mover>,
    /// The tasks behind it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<NeededTask>,
    /// What the word does not say.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// What would happen.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Foretold {
    /// Which run.
    pub run: String,
    /// What was supposed.
    pub facts: Vec<String>,
    /// Whether the rest was supposed to go well.
    pub to_end: bool,
    /// Where the run would be.
    pub state: String,
    /// What people would see of that.
    pub phase: String,
    /// Whether it would be over.
    pub over: bool,
    /// When.
    pub at: Option<String>,
    /// What would be different, in the order in which it would come about.
    pub changes: Vec<ForetoldChange>,
    /// Tasks whose output was taken as null.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assumed_null: Vec<String>,
    /// Why the run would be there.
    pub why: RunWhy,
}

/// A task that would be elsewhere.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ForetoldChange {
    /// What people see of it now; null if it is not there yet.
    pub from: Option<String>,
    /// Where it would be, and why.
    #[serde(flatten)]
    pub to: Cause,
}

/// The attempts that have a log, or what one of them wrote.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum RunLogs {
    /// Of one attempt.
    Written {
        /// Of which generation.
        generation: u16,
        /// Which one.
        attempt: u16,
        /// A page of it.
        lines: Vec<LogLine>,
        /// What `after` takes for the next page.
        next: Option<u64>,
    },
    /// Of all.
    Attempts {
        /// Those that have one.
        logs: Vec<LogOf>,
    },
}

/// A line of a log.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct LogLine {
    /// When.
    pub time: Option<String>,
    /// Where: `stdout`, `stderr` or what the engine itself said.
    pub stream: String,
    /// What.
    pub text: String,
}

/// An attempt that has a log.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct LogOf {
    /// Of which task.
    pub task: String,
    /// Of which generation.
    pub generation: u16,
    /// Which one.
    pub attempt: u16,
}
