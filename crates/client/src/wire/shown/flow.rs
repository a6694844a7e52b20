//! Flows, schedules and queues.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What a check of a text found.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct FlowChecked {
    /// How the text is called.
    pub file: String,
    /// Whether it could be run.
    pub ok: bool,
    /// Its flows.
    pub flows: Vec<CheckedFlow>,
    /// What is wrong, or could be better.
    pub problems: Vec<FlowProblem>,
    /// How many more problems there are.
    pub more: usize,
}

/// One flow of a text.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct CheckedFlow {
    /// Its name.
    pub flow: String,
    /// The hash of its plan.
    pub plan: String,
    /// How many tasks it has.
    pub tasks: u32,
    /// How many edges.
    pub edges: u32,
}

/// Something that is wrong with a text.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct FlowProblem {
    /// How bad it is.
    pub level: String,
    /// Its stable code.
    pub code: String,
    /// Where.
    pub line: u32,
    /// Where in the line.
    pub column: u32,
    /// What.
    pub message: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// The text it is about.
    pub excerpt: String,
}

/// A plan, as it is stored.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct FlowPlan {
    /// Its hash.
    pub hash: String,
    /// All of it.
    pub plan: Map<String, Value>,
    /// What a registered flow says about being begun from outside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub webhook: Option<Map<String, Value>>,
}

/// A schedule, and where it is.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ScheduleShown {
    /// Its name.
    pub schedule: String,
    /// What it begins.
    pub flow: String,
    /// What was asked for.
    pub rules: Map<String, Value>,
    /// Who asked.
    pub by: String,
    /// Why, if they said.
    pub why: Option<String>,
    /// When it was last set.
    pub set_at: Option<String>,
    /// Ticks up to here are decided.
    pub decided_until: Option<String>,
    /// The next one.
    pub next: Option<String>,
    /// Ticks that wait for the run before them, in milliseconds since 1970.
    pub waiting: Vec<u64>,
    /// Runs of it.
    pub running: Vec<String>,
    /// How the last tick was decided.
    pub last: Option<Map<String, Value>>,
    /// How many ticks became runs.
    pub started: u64,
    /// How many did not.
    pub skipped: u64,
    /// Whether it rests.
    pub paused: bool,
}

/// Queues and limits.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct QueuesShown {
    /// By name.
    pub queues: Vec<QueueShown>,
    /// By key.
    pub limits: Vec<LimitShown>,
}

/// What a queue is set to, and what is in it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct QueueShown {
    /// Which queue.
    pub queue: String,
    /// Most attempts at work at once.
    pub slots: Option<u32>,
    /// How often one may begin, such as `10/s`.
    pub rate: Option<String>,
    /// Whether nothing begins for now.
    pub paused: bool,
    /// Who said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub set: Option<QueueSetBy>,
    /// Attempts at work.
    pub used: u32,
    /// Tasks that wait.
    pub waiting: u32,
    /// Tasks whose key is full.
    pub aside: u32,
}

/// Who set a queue.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct QueueSetBy {
    /// Who.
    pub by: String,
    /// When, in milliseconds since 1970.
    pub at: u64,
    /// Why, if they said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// A key, its bounds, and who holds it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct LimitShown {
    /// The key.
    pub key: String,
    /// Most attempts at work at once.
    pub max: Option<u32>,
    /// How often one may begin.
    pub rate: Option<String>,
    /// Attempts at work.
    pub used: u32,
    /// Tasks that wait for it.
    pub waiting: u32,
    /// Some of those at work.
    pub holders: Vec<HolderShown>,
}

/// An attempt that holds a slot.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct HolderShown {
    /// Of which run.
    pub run: String,
    /// Which task.
    pub task: String,
    /// Which attempt.
    pub attempt: u16,
    /// Who has it.
    pub worker: String,
}
