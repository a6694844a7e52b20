//! Items of the work graph and what is done to them. Instants are spelled (`2027-01-31T12:00:00Z`), lengths of time too
//! (`30m`).

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// Make an item.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AddItem {
    /// What it is about, in one line.
    pub title: String,
    /// Its id; made up if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What it is, such as `task`, `plan`, `message` or `document`; a task if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The phase of a plan or an instance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// 1 first, 5 last; 3 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// `bug`, `feature`, `task` or `chore`.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub task_type: Option<String>,
    /// Who does it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assignee: Option<String>,
    /// Who answers for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// To find it by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// When it should be done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<String>,
    /// Not ready before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduled_for: Option<String>,
    /// What it is called elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_ref: Option<String>,
    /// Close it by itself when its last child is closed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub auto_complete: bool,
    /// Of an instance: it and its items go away after so long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ephemeral: Option<String>,
    /// What is to be done, or what a message or document says.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// When it counts as done.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub acceptance: String,
    /// Whatever else programs keep with it.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    /// Its parent: an id, or the unique beginning of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// What it waits for: items, gates or runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<String>,
    /// The message that it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replies_to: Option<String>,
}

/// Change an item: what is absent stays as it is, and null takes something away.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ItemChange {
    /// A new title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// A new priority.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// Another kind of task.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub task_type: Option<String>,
    /// `open`, `in_progress`, `deferred`, `backlog` or `review`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Another phase of a plan or an instance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// Who does it.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub assignee: Option<Option<String>>,
    /// Who answers for it.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub owner: Option<Option<String>>,
    /// Tags to add.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tag: Vec<String>,
    /// Tags to take away.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untag: Vec<String>,
    /// When it should be done.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Option<String>>,
    /// Not ready before.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub scheduled_for: Option<Option<String>>,
    /// What it is called elsewhere.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub external_ref: Option<Option<String>>,
    /// Whether it closes by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auto_complete: Option<bool>,
    /// A new description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// When it counts as done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acceptance: Option<String>,
    /// Keys of the metadata to set; null takes one away.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}

/// Null says "nothing", absence says "as it was".
fn given<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(d).map(Some)
}

/// Close an item.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CloseItem {
    /// `done`, `failed` or `cancelled`; done if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub how: Option<String>,
    /// Although it is blocked, has open children, or is somebody else's.
    #[serde(default)]
    pub force: bool,
    /// The claim's token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// Why, if they say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// Open a closed item again.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReopenItem {
    /// Although the item that it is in is closed.
    #[serde(default)]
    pub force: bool,
    /// Why, if they say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// Something done to an item or a gate.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ItemAct {
    /// Why, if they say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// Give an item another parent.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MoveItem {
    /// Where to; absent for the top.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
}

/// Have an item for a while.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClaimItem {
    /// For how long; half an hour if absent.
    #[serde(default = "lease")]
    pub lease: String,
}

/// Have the first ready item of those that fit.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClaimNextItem {
    /// Which ones, in the words of the query of `/api/v1/items`; all if absent.
    #[serde(default)]
    pub filter: Map<String, Value>,
    /// For how long; half an hour if absent.
    #[serde(default = "lease")]
    pub lease: String,
}

/// Have it for longer.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExtendClaim {
    /// The claim's token.
    pub token: String,
    /// For how long from now; half an hour if absent.
    #[serde(default = "lease")]
    pub lease: String,
}

fn lease() -> String {
    "30m".to_owned()
}

/// Give a claim back.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReleaseItem {
    /// The claim's token; without it only by whoever has the item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
}

/// Make a dependency.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddDependency {
    /// What it waits for; absent where a new gate is made for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<String>,
    /// What it says; if absent `awaits` for a gate, a run or a gate of one, `blocks` for anything else.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// What end satisfies it: `success`, `failure` or `any`; success if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// A gate that is made for it: `gateType` and what it needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<Map<String, Value>>,
    /// What else is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Value>,
}

/// Take dependencies away.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemoveDependency {
    /// What it waits for; all of the kind if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<String>,
    /// Which kind; all if absent.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
}

/// Several operations as one: all of them, or none.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BatchItems {
    /// What is asked, in order: the operations of `edgewise batch`.
    pub ops: Vec<Map<String, Value>>,
    /// The caller's own key: the same operations with the same key are done once, also after a restart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

/// What an operation came to.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ItemDone {
    /// The item or gate; absent where nothing was ready to be claimed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The other end of a dependency, as it is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// What a dependency says, as it is kept.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// It was so already.
    #[serde(default)]
    pub already: bool,
    /// The token of a new claim: shown once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// Until when a claim is good.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Whom it made ready.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unblocked: Vec<String>,
    /// Whom it blocked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocked: Vec<String>,
    /// Dependencies that were taken away.
    #[serde(default)]
    pub removed: u32,
}

/// What each operation of a batch came to.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct BatchDone {
    /// In the order in which they were asked.
    pub done: Vec<ItemDone>,
}

/// A page of items.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct Items {
    /// The items, in the form of `edgewise list --json`.
    #[schemars(with = "Vec<super::ItemShown>")]
    pub items: Vec<Value>,
    /// What `after` takes for the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}
