//! An item as it is read from JSON: all keys on one level, spelled out.
//!
//! A nested struct that is written flat could be read flat too, but then every value is kept aside first: loading a
//! large graph would spend most of its time on that.

use super::{Claimed, Closed, Details, Fields, Item, ItemId, ItemKind, Phase, Status, TaskType, Waiter};
use crate::name::Name;
use crate::time::{Millis, Time};
use serde::Deserialize;
use std::collections::BTreeSet;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Whole {
    id: ItemId,
    kind: ItemKind,
    title: String,
    priority: u8,
    #[serde(rename = "type")]
    task_type: TaskType,
    #[serde(default)]
    assignee: Option<Name>,
    #[serde(default)]
    owner: Option<Name>,
    #[serde(default)]
    tags: BTreeSet<Name>,
    #[serde(default)]
    deadline: Option<Time>,
    #[serde(default)]
    scheduled_for: Option<Time>,
    #[serde(default)]
    external_ref: Option<String>,
    #[serde(default)]
    auto_complete: bool,
    #[serde(default)]
    ephemeral: Option<Millis>,
    #[serde(default)]
    details: Option<Box<Details>>,
    status: Status,
    #[serde(default)]
    phase: Option<Phase>,
    created_by: Name,
    created_at: Time,
    updated_at: Time,
    #[serde(default)]
    closed: Option<Closed>,
    #[serde(default)]
    claim: Option<Claimed>,
    #[serde(default)]
    waiter: Option<Box<Waiter>>,
}

impl From<Whole> for Item {
    fn from(whole: Whole) -> Self {
        let fields = Fields {
            title: whole.title,
            priority: whole.priority,
            task_type: whole.task_type,
            assignee: whole.assignee,
            owner: whole.owner,
            tags: whole.tags,
            deadline: whole.deadline,
            scheduled_for: whole.scheduled_for,
            external_ref: whole.external_ref,
            auto_complete: whole.auto_complete,
            ephemeral: whole.ephemeral,
            details: whole.details,
        };
        Self {
            id: whole.id,
            kind: whole.kind,
            fields,
            status: whole.status,
            phase: whole.phase,
            created_by: whole.created_by,
            created_at: whole.created_at,
            updated_at: whole.updated_at,
            closed: whole.closed,
            claim: whole.claim,
            waiter: whole.waiter,
        }
    }
}
