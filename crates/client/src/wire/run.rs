//! Runs and what people do to them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// Start a run: of a registered flow, or of a flow whose text comes along.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Start {
    /// The name of a registered flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<String>,
    /// The text of a flow, as YAML or program text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The name of the file that the text is from; its ending says which language it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// What the run is given; an object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// The caller's own key: the same key gives the same run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// For people to search by.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

/// A run was started, or was there already.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Started {
    /// Which run.
    pub run: String,
    /// False if the same key had started it before.
    pub new: bool,
}

/// A page of runs, the newest first.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Runs {
    /// The runs, in the form of `edgewise runs --json`.
    #[schemars(with = "Vec<super::RunListed>")]
    pub runs: Vec<Value>,
    /// What `after` takes for the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// How a run ended; absent while it has not.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Ended {
    /// Which run.
    pub run: String,
    /// Its last state, if it has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// What it made, if it succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
}

/// Something that a person does to a run or a task.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ActRequest {
    /// The path of the task, where it is one task that is meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// Why, if they say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// Something that a person says to a gate.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GateRequest {
    /// The path of the gate.
    pub task: String,
    /// What they say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
}

/// Say that what a gate waits for outside is so.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SatisfyRequest {
    /// The path of the gate.
    pub task: String,
    /// What they say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// What came with it: the gate's output; null if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
}

/// Have finished work done again.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RerunRequest {
    /// From this task on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// Only what failed.
    #[serde(default)]
    pub failed: bool,
    /// Why, if they say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// An output that a person supplies in place of a task's own.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SupplyRequest {
    /// The path of the task.
    pub task: String,
    /// The output.
    pub output: Value,
    /// Why, if they say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// It is so now, durably.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ActTaken {
    /// It was so already.
    pub already: bool,
    /// How many tasks were opened again, where some were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reopened: Option<u32>,
}

/// The flows that are registered.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Flows {
    /// By their names.
    pub flows: Vec<FlowListed>,
    /// What `after` takes for the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A registered flow.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct FlowListed {
    /// Its name.
    pub flow: String,
    /// The plan that new runs get.
    pub plan: String,
    /// How often it was registered.
    pub version: u32,
    /// Who registered it last.
    pub by: String,
    /// When.
    pub at: String,
    /// Whether a call of its address begins it.
    #[serde(default)]
    pub webhook: bool,
}
