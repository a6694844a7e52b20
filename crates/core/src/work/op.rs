//! Operations: what is asked of the work graph. Several in a row are one commit: all of them, or none.
//!
//! An operation names items by texts that are looked up when it is decided: an id, a prefix of one that fits no
//! other, or `$name`, which is what an earlier operation of the same commit made under that name.

use super::{Change, Close, DependencyKind, Details, Filter, GateWait, ItemId, ItemKind, Phase, TaskType, When};
use crate::error::{Error, Result};
use crate::id::Token;
use crate::name::Name;
use crate::time::{Millis, Time};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;

/// One thing asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Op {
    /// Make an item.
    Add(Box<Add>),
    /// Change an item.
    Update {
        /// Which.
        id: String,
        /// What.
        change: Box<Change>,
    },
    /// Close an item.
    Close(CloseOp),
    /// Open a closed item again.
    Reopen(ReopenOp),
    /// Take an item away.
    Delete(Act),
    /// Give an item another parent, or none.
    Move {
        /// Which.
        id: String,
        /// Where to.
        #[serde(default)]
        parent: Option<String>,
    },
    /// Have an item for a while.
    Claim {
        /// Which.
        id: String,
        /// For how long without a heartbeat.
        lease: Millis,
    },
    /// Have the first ready item of those that fit.
    ClaimNext {
        /// Which ones.
        filter: Box<Filter>,
        /// For how long without a heartbeat.
        lease: Millis,
    },
    /// Have it for longer.
    Extend {
        /// Which.
        id: String,
        /// The claim's token.
        token: Token,
        /// For how long from now.
        lease: Millis,
    },
    /// Give a claim back. Without its token only by whoever has it.
    Release {
        /// Which.
        id: String,
        /// The claim's token.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        token: Option<Token>,
    },
    /// Make a dependency; with a gate in it, the gate too.
    Depend(Box<Depend>),
    /// Take a dependency away.
    Undepend {
        /// The waiter.
        id: String,
        /// What it waits for; all of the kind if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        on: Option<String>,
        /// Which kind; all if absent.
        #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
        kind: Option<DependencyKind>,
    },
    /// Make a gate.
    MakeGate {
        /// What opens it.
        #[serde(flatten)]
        wait: GateWait,
        /// What it is about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// Its id; made up if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<ItemId>,
        /// What later operations of the same commit call it.
        #[serde(default, rename = "as", skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// Who has said yes to it, where that was elsewhere.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        approvals: Vec<Name>,
    },
    /// Say yes to a gate.
    Approve(Act),
    /// Take a yes back.
    Withdraw(Act),
    /// Open a gate from outside.
    Satisfy(Act),
    /// Say no to a gate.
    Reject(Act),
    /// Open a gate that waits for another system, with what came from there.
    Deliver {
        /// Which gate.
        id: String,
        /// What came.
        evidence: Value,
    },
    /// Refuse all of this commit unless an item or a gate is just as somebody saw it.
    Expect {
        /// Which.
        id: String,
        /// The version that they saw: any one of these.
        version: Vec<String>,
    },
}

impl Op {
    /// Reads an operation as programs write it. A type of dependency that there is not has the same code wherever it is
    /// asked for; everything else that is wrong is `bad_operation`.
    pub fn read(asked: Value) -> Result<Self> {
        if matches!(asked.get("op").and_then(Value::as_str), Some("depend" | "undepend")) {
            DependencyKind::check_in(&asked)?;
        }
        serde_json::from_value(asked).map_err(|error| Error::invalid("bad_operation", error.to_string()))
    }
}

/// Make an item.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Add {
    /// What it is about, in one line.
    pub title: String,
    /// Its id; made up if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<ItemId>,
    /// What it is.
    pub kind: ItemKind,
    /// The phase of a plan or an instance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// 1 first, 5 last; 3 if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// What kind of task.
    #[serde(rename = "type")]
    pub task_type: TaskType,
    /// Who does it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assignee: Option<Name>,
    /// Who answers for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<Name>,
    /// To find it by.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub tags: BTreeSet<Name>,
    /// When it should be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Time>,
    /// Not ready before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduled_for: Option<Time>,
    /// What it is called elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external_ref: Option<String>,
    /// Close it by itself when its last child is closed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub auto_complete: bool,
    /// Of an instance: it and its items go away after so long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ephemeral: Option<Millis>,
    /// The long fields.
    #[serde(flatten)]
    pub details: Details,
    /// Its parent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// What it waits for: items, gates, runs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<String>,
    /// The message that it answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replies_to: Option<String>,
    /// When it was made, where that was elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Time>,
    /// Who made it there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_by: Option<Name>,
    /// What later operations of the same commit call it.
    #[serde(rename = "as", skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// Close an item.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CloseOp {
    /// Which.
    pub id: String,
    /// How.
    #[serde(default)]
    pub how: Close,
    /// Although it is blocked, has open children, or is somebody else's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub force: bool,
    /// The claim's token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<Token>,
    /// Why, if they say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// Open a closed item again.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReopenOp {
    /// Which.
    pub id: String,
    /// Although the item that it is in is closed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub force: bool,
    /// Why, if they say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// Something done to an item or a gate.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Act {
    /// Which.
    pub id: String,
    /// Why, if they say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// Make a dependency.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Depend {
    /// The waiter.
    pub id: String,
    /// What it waits for; absent where a new gate is made for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<String>,
    /// What it says; absent where it is simply waited for: then `awaits` if that is a gate, a run or a gate of one, else `blocks`.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<DependencyKind>,
    /// What end satisfies it.
    #[serde(default)]
    pub when: When,
    /// A gate that is made for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<GateWait>,
    /// What else is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Value>,
}

/// What an operation came to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Done {
    /// The item or gate; absent where `ClaimNext` found nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<ItemId>,
    /// The other end of a dependency, as it is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<super::Target>,
    /// What a dependency says, as it is kept.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<DependencyKind>,
    /// It was so already.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub already: bool,
    /// The token of a new claim: shown once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<Token>,
    /// Until when a claim is good.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
    /// Whom it made ready.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unblocked: Vec<ItemId>,
    /// Whom it blocked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blocked: Vec<ItemId>,
    /// Dependencies that were taken away.
    #[serde(skip_serializing_if = "is_zero")]
    pub removed: u32,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}
