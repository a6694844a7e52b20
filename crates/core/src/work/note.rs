//! Notes: what happened to an item, for its history; and what one event changed, for whoever keeps rows.

use super::{Close, DependencyKind, ItemId, Status, Target};
use crate::event::LinkRef;
use crate::id::RunId;
use crate::name::Name;
use crate::time::Time;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What is different after an event. Rows of what is named here are written anew, or taken away if it is gone.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Changed {
    /// Items whose row differs, also only in what is derived.
    pub items: BTreeSet<ItemId>,
    /// Dependencies that are new, different or gone.
    pub dependencies: BTreeSet<DependencyKey>,
    /// Gates whose row differs.
    pub gates: BTreeSet<ItemId>,
    /// Runs of which something else is known.
    pub runs: BTreeSet<RunId>,
    /// Tasks that went on without the gate they waited for.
    pub left: Vec<(RunId, LinkRef)>,
    /// What history has to say, in order.
    pub notes: Vec<Note>,
}

/// What makes a dependency the same one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DependencyKey {
    /// Whose it is: the waiter.
    #[serde(rename = "sourceId")]
    pub source: ItemId,
    /// What it points to: the prerequisite.
    #[serde(rename = "targetId")]
    pub target: Target,
    /// What it says.
    #[serde(rename = "type")]
    pub kind: DependencyKind,
}

/// Something that happened to an item or a gate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Note {
    /// To whom.
    pub item: ItemId,
    /// The seq of the event that did it.
    pub seq: u64,
    /// When.
    pub at: Time,
    /// Who did it; nobody where time did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Name>,
    /// What.
    #[serde(flatten)]
    pub what: NoteKind,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum NoteKind {
    /// It was made: an item or a gate.
    Created,
    /// Some of its fields are different.
    Changed {
        /// Which, by their wire names.
        fields: Vec<String>,
    },
    /// It was closed.
    Closed {
        /// How.
        how: Close,
        /// Although something was in the way.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        force: bool,
        /// Why, if they said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    },
    /// It was opened again.
    Reopened {
        /// Why, if they said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    },
    /// It was deleted.
    Deleted {
        /// Why, if they said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    },
    /// It has another parent.
    Moved {
        /// Where it was.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<ItemId>,
        /// Where it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<ItemId>,
    },
    /// Somebody has it.
    Claimed {
        /// Until when, without a heartbeat.
        until: Time,
    },
    /// Nobody has it any more.
    Released {
        /// Whose it was.
        from: Name,
    },
    /// A dependency that it is an end of was made.
    DependencyAdded(DependencyKey),
    /// A dependency that it was an end of is gone.
    DependencyRemoved(DependencyKey),
    /// Something is in its way now.
    AutoBlocked {
        /// The status that was shown before.
        previous: Status,
    },
    /// Nothing is in its way any more.
    AutoUnblocked {
        /// The status that is shown again.
        status: Status,
    },
    /// Its last open child was closed.
    CompletionEligible,
    /// It closed by itself when its last open child was closed.
    AutoCompleted {
        /// How.
        how: Close,
    },
    /// A person said yes to the gate.
    Approved {
        /// What else they said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    },
    /// A person took their yes back.
    Withdrawn {
        /// What else they said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    },
    /// The gate is open.
    Satisfied {
        /// What else they said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    },
    /// The gate stays closed for good.
    Rejected {
        /// Why, if they said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    },
}

impl DependencyKey {
    /// The key of a dependency.
    pub fn new(source: ItemId, target: Target, kind: DependencyKind) -> Self {
        Self { source, target, kind }
    }
}
