//! Filters over items, and the orders that they are shown in.

use super::{ItemKind, Status, TaskType};
use crate::name::Name;
use crate::time::Time;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Which items are meant. Everything that is said must hold.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Filter {
    /// Of these kinds; tasks if empty.
    pub kinds: BTreeSet<ItemKind>,
    /// In one of these; not closed and not deleted if empty.
    pub status: BTreeSet<Status>,
    /// Of one of these priorities.
    pub priority: BTreeSet<u8>,
    /// Whose it is to do.
    pub assignee: Option<Name>,
    /// Nobody's to do.
    pub unassigned: bool,
    /// Who answers for it.
    pub owner: Option<Name>,
    /// Of one of these types.
    #[serde(rename = "type")]
    pub task_type: BTreeSet<TaskType>,
    /// With all of these tags.
    pub tags: BTreeSet<Name>,
    /// With at least one of these.
    pub any_tags: BTreeSet<Name>,
    /// With none of these.
    pub no_tags: BTreeSet<Name>,
    /// Due before.
    pub due_before: Option<Time>,
    /// Directly below this one: an id or a prefix.
    pub parent: Option<String>,
    /// Somewhere below this one.
    pub plan: Option<String>,
    /// With this text in title, description or id.
    pub text: Option<String>,
    /// Also what is in ephemeral instances.
    pub ephemeral: bool,
    /// At most so many.
    pub limit: Option<usize>,
    /// In which order.
    pub sort: Sort,
}

/// The order of ready work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sort {
    /// Effective priority, priority, created, id.
    #[default]
    Effective,
    /// Priority, created, id: the specification's order.
    Priority,
    /// What most others wait for, directly or not, first.
    Unblocks,
    /// What is due first; without a deadline last.
    Deadline,
    /// What was made first.
    Oldest,
}
