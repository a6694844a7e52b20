//! Items: what is kept of a piece of work.
//!
//! The long fields stand apart in [`Details`]: nothing is derived from them.

use super::ItemId;
use crate::id::TokenHash;
use crate::name::Name;
use crate::time::{Millis, Time};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// What an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemKind {
    /// Something to be done.
    #[default]
    Task,
    /// Holds tasks that belong together.
    Plan,
    /// An instance of a template: holds its tasks, may be ephemeral.
    #[serde(rename = "workflow")]
    Instance,
    /// Said once, never changed; threaded by `replies-to`.
    Message,
    /// A text that is kept.
    Document,
    /// Where messages are.
    Channel,
    /// A person, an agent, a system.
    Entity,
}

/// What kind of task it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskType {
    /// Something is wrong.
    Bug,
    /// Something is wanted.
    Feature,
    /// Something is to be done.
    #[default]
    Task,
    /// Something must be done now and then.
    Chore,
}

/// The base status, which is stored. Blocked is not among them: it is derived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// To be done.
    #[default]
    Open,
    /// Somebody is at it.
    InProgress,
    /// Put off.
    Deferred,
    /// Not now.
    Backlog,
    /// Done, to be looked at.
    Review,
    /// Over.
    Closed,
    /// Deleted.
    Tombstone,
}

impl Close {
    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

impl Status {
    /// Whether it is closed or deleted.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Closed | Self::Tombstone)
    }
}

impl ItemKind {
    /// Whether it is something that can be done: a task, or what holds tasks.
    pub fn is_work(self) -> bool {
        matches!(self, Self::Task | Self::Plan | Self::Instance)
    }
}

/// The phase of a plan or of a template's instance, beside its status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// A plan that is being written: nothing in it is ready.
    Draft,
    /// A plan that counts.
    Active,
    /// An instance that has not begun.
    Pending,
    /// An instance at work.
    Running,
    /// Ended well.
    Completed,
    /// Ended badly.
    Failed,
    /// Ended without being done.
    Cancelled,
}

/// How an item was closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Close {
    /// It is done.
    #[default]
    Done,
    /// It was tried, and did not work.
    Failed,
    /// It is not wanted any more.
    Cancelled,
}

/// What somebody may say of an item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Fields {
    /// What it is about, in one line.
    pub title: String,
    /// 1 first, 5 last.
    pub priority: u8,
    /// What kind of task.
    #[serde(rename = "type")]
    pub task_type: TaskType,
    /// Who does it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assignee: Option<Name>,
    /// Who answers for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<Name>,
    /// To find it by.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub tags: BTreeSet<Name>,
    /// When it should be done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Time>,
    /// Not ready before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduled_for: Option<Time>,
    /// What it is called elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_ref: Option<String>,
    /// Close it by itself when its last child is closed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub auto_complete: bool,
    /// Of an instance: it and its items go away so long after it was made, and are not ready unless asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ephemeral: Option<Millis>,
    /// The long ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Box<Details>>,
}

/// The long fields of an item, which nothing is derived from.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Details {
    /// What is to be done, or what a message or document says.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// When it counts as done.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub acceptance: String,
    /// Whatever else programs keep with it.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}

/// One change to an item: what is absent stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Change {
    /// A new title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// A new priority.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// Another kind of task.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub task_type: Option<TaskType>,
    /// Another base status; closing, reopening and deleting are events of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// Another phase of a plan or an instance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// Who does it; `Some(None)` for nobody.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "given")]
    pub assignee: Option<Option<Name>>,
    /// Who answers for it.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "given")]
    pub owner: Option<Option<Name>>,
    /// Tags to add.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub tag: BTreeSet<Name>,
    /// Tags to take away.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub untag: BTreeSet<Name>,
    /// When it should be done.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "given")]
    pub deadline: Option<Option<Time>>,
    /// Not ready before.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "given")]
    pub scheduled_for: Option<Option<Time>>,
    /// What it is called elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "given")]
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

/// `null` says "nothing", absence says "as it was".
mod given {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<T: Serialize, S: Serializer>(value: &Option<Option<T>>, s: S) -> Result<S::Ok, S::Error> {
        value.as_ref().and_then(Option::as_ref).serialize(s)
    }

    pub fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(d: D) -> Result<Option<Option<T>>, D::Error> {
        Option::<T>::deserialize(d).map(Some)
    }
}

/// An item: what was said of it, and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", from = "super::whole::Whole")]
pub struct Item {
    /// Its id.
    pub id: ItemId,
    /// What it is.
    pub kind: ItemKind,
    /// What was said of it.
    #[serde(flatten)]
    pub fields: Fields,
    /// Where it is. `Closed` has a `closed`.
    pub status: Status,
    /// The phase of a plan or an instance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// Who made it.
    pub created_by: Name,
    /// When.
    pub created_at: Time,
    /// When anything of it last changed.
    pub updated_at: Time,
    /// How it was closed, and when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed: Option<Closed>,
    /// Who has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<Claimed>,
    /// The task of a run that waits for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiter: Option<Box<super::Waiter>>,
}

/// How an item was closed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Closed {
    /// How.
    pub how: Close,
    /// Why, if they said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Who.
    pub by: Name,
    /// When.
    pub at: Time,
}

/// A claim: whose an item is, until when.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Claimed {
    /// Whose it is.
    pub by: Name,
    /// What is kept of the token that proves it.
    pub token: TokenHash,
    /// Until when, without a heartbeat.
    pub until: Time,
    /// Whose it was to do before: theirs again when the claim ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Name>,
}
