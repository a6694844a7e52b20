//! Items and gates of the work graph.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// An item, with what is derived beside what was said.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ItemShown {
    /// Its id.
    pub id: String,
    /// What it is about, in one line.
    pub title: String,
    /// What it is.
    pub kind: String,
    /// What sort of task it is.
    #[serde(rename = "type")]
    pub task_type: String,
    /// 1 first, 5 last.
    pub priority: u8,
    /// What is shown: `blocked` while something is in its way.
    pub status: String,
    /// What was said.
    pub base_status: String,
    /// Where it stands, in a word.
    pub standing: String,
    /// Whether somebody can begin.
    pub ready: bool,
    /// The most urgent priority among it and what waits for it.
    pub effective_priority: u8,
    /// All that is in its way.
    pub blocked_by: Vec<BlockerShown>,
    /// The same in words.
    pub block_reason: Option<String>,
    /// Who made it.
    pub created_by: String,
    /// When.
    pub created_at: Option<String>,
    /// When it last changed.
    pub updated_at: Option<String>,
    /// What else was said of it, and what it is bound to where it is shown by itself.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// One thing in the way of an item.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct BlockerShown {
    /// What.
    pub by: String,
    /// Why.
    pub reason: String,
    /// The item around it that waits, where it is not the item itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub through: Option<String>,
}

/// A gate of items.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GateShown {
    /// Its id.
    pub id: String,
    /// What it waits for: `timer`, `approval`, `external` or `webhook`.
    pub gate_type: String,
    /// Whether it is open.
    pub satisfied: bool,
    /// Who has approved.
    pub current_approvers: Vec<String>,
    /// The items that wait for it.
    pub waiters: Vec<String>,
    /// What it waits for in particular, and how it ended.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// How many items stand where.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ItemStats {
    /// All of them.
    pub items: usize,
    /// By kind.
    pub kinds: BTreeMap<String, usize>,
    /// Of those that can be done, by base status.
    pub status: BTreeMap<String, usize>,
    /// Tasks that somebody can begin.
    pub ready: usize,
    /// Tasks that something is in the way of.
    pub blocked: usize,
    /// Tasks that somebody has.
    pub claimed: usize,
    /// Tasks whose time has not come.
    pub scheduled: usize,
    /// Dependencies of all kinds.
    pub dependencies: usize,
    /// Gates that are neither open nor rejected.
    pub closed_gates: usize,
    /// Runs that are waited for.
    pub awaited_runs: usize,
}

/// Cycles among dependencies.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ItemCycles {
    /// Each as its way round.
    pub cycles: Vec<Vec<String>>,
}

/// What an item waits for, and what waits for it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ItemTree {
    /// What it waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dependencies: Option<TreeBranch>,
    /// What waits for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dependents: Option<TreeBranch>,
}

/// One place in a tree.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct TreeBranch {
    /// What stands here.
    pub id: String,
    /// What it is called.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// The status that is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// The kind of the dependency that led here.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// It stands elsewhere in the tree, with what is below it.
    #[serde(default)]
    pub seen: bool,
    /// There is more below than the depth shows.
    #[serde(default)]
    pub cut: bool,
    /// What it leads to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub branches: Vec<TreeBranch>,
}

/// Why something stands as it does, and what is behind it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ItemReason {
    /// An item, a gate, a run, a task of a run, or something outside.
    pub id: String,
    /// What it is called.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// Where an item stands: a word, or an object with one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standing: Option<Value>,
    /// In a sentence.
    pub says: String,
    /// Who or what can help.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub help: Vec<HelpShown>,
    /// What it waits for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub because: Vec<ItemReason>,
    /// It stands further up already.
    #[serde(default)]
    pub seen: bool,
}

/// What can be done about it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct HelpShown {
    /// Who.
    pub who: String,
    /// In words.
    pub does: String,
    /// What they would type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// Everything that happened to an item or a gate.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ItemHistory {
    /// Which one.
    pub id: String,
    /// In the order in which it happened.
    pub history: Vec<ItemNote>,
    /// What `after` takes for the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// Something that happened.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ItemNote {
    /// To what.
    pub item: String,
    /// The event that did it.
    pub seq: u64,
    /// When.
    pub at: Option<String>,
    /// Who did it; absent where time did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// What, in a word.
    pub what: String,
    /// What the word does not say.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// What an agent must know to work here.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Primer {
    /// What is the same for everybody.
    pub primer: String,
    /// Who asks.
    pub who: String,
    /// How many items can be begun.
    pub ready: usize,
    /// How many something is in the way of.
    pub blocked: usize,
    /// How many are somebody's.
    pub claimed: usize,
}
