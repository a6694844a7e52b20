//! Standing: the one predicate that `ready`, `blocked`, `why` and everything else asks.

use super::{ItemId, ItemKind, Status, Target};
use crate::name::Name;
use crate::time::Time;
use serde::{Deserialize, Serialize};

/// What an item is at an instant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Somebody can begin.
    Ready,
    /// Something is in the way: all of it is in the item's blockers.
    Blocked,
    /// Somebody has it until then.
    Claimed(Name, Time),
    /// Not before then.
    Scheduled(Time),
    /// In a plan that is being written.
    Draft(ItemId),
    /// In an ephemeral instance, which is only ready for who asks for it.
    Ephemeral(ItemId),
    /// Deferred, in the backlog, or in review: a person decides.
    Aside,
    /// Closed or deleted.
    Over,
    /// Not something to be done: a message, a document, a channel, an entity.
    NotWork,
}

/// One thing in the way of an item.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Blocker {
    /// What is waited for: an item, a gate, a run, something outside.
    pub by: Target,
    /// Why it is in the way.
    pub reason: Obstacle,
    /// The item around it that waits, where it is not the item itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub through: Option<ItemId>,
}

/// Why something is in the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Obstacle {
    /// An item that is not closed.
    Open,
    /// A gate that is not open.
    Gate,
    /// A run that has not ended.
    Run,
    /// Nobody here knows it.
    Unresolved,
    /// It ended another way than the dependency accepts: it stays in the way until somebody acts.
    Unsatisfiable,
}

/// What the standing of an item is told by: of an item in the graph, or of its row.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts {
    /// What it is.
    pub kind: ItemKind,
    /// Its base status.
    pub status: Status,
    /// Whether something is in its way.
    pub blocked: bool,
    /// Not before.
    pub scheduled_for: Option<Time>,
    /// Who has it, until when.
    pub claim: Option<(Name, Time)>,
    /// The plan that is being written, itself or around it.
    pub draft_in: Option<ItemId>,
    /// The ephemeral instance, itself or around it.
    pub ephemeral_in: Option<ItemId>,
}

impl Facts {
    /// What it is at an instant.
    pub fn standing(&self, now: Time) -> Standing {
        if !self.kind.is_work() {
            return if self.status.is_over() { Standing::Over } else { Standing::NotWork };
        }
        match self.status {
            Status::Closed | Status::Tombstone => return Standing::Over,
            _ if self.blocked => return Standing::Blocked,
            Status::Deferred | Status::Backlog | Status::Review => return Standing::Aside,
            Status::Open | Status::InProgress => {}
        }
        if let Some(plan) = &self.draft_in {
            return Standing::Draft(plan.clone());
        }
        if let Some(at) = self.scheduled_for.filter(|at| *at > now) {
            return Standing::Scheduled(at);
        }
        if let Some((by, until)) = self.claim.as_ref().filter(|(_, until)| *until > now) {
            return Standing::Claimed(by.clone(), *until);
        }
        self.ephemeral_in.clone().map_or(Standing::Ready, Standing::Ephemeral)
    }
}
