//! The events of a workspace's work graph.

use super::{
    Change, Close, Dependency, DependencyKind, Fields, GateWait, Item, ItemId, ItemKind, Phase, Target, When, WorkGate,
};
use crate::event::{LinkRef, Recorded};
use crate::id::{RunId, TokenHash};
use crate::name::Name;
use crate::state::RunState;
use crate::time::Time;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A fact of the work graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum WorkEvent {
    /// There is an item.
    ItemAdded(Box<ItemAdded>),
    /// Something of it is different from here on.
    ItemChanged(Box<ItemChanged>),
    /// It is over.
    ItemClosed(ItemClosed),
    /// It is not over after all.
    ItemReopened(ItemAct),
    /// It is gone: a tombstone without dependencies; its children belong to its parent.
    ItemDeleted(ItemAct),
    /// It has another parent, or none.
    ItemMoved(ItemMoved),
    /// It is somebody's, for a while.
    ItemClaimed(ItemClaimed),
    /// It stays somebody's for longer.
    ClaimExtended(ClaimExtended),
    /// It is nobody's any more.
    ItemReleased(ItemReleased),
    /// One waits for the other, or has to do with it.
    DependencyAdded(Box<DependencyAdded>),
    /// Not any more.
    DependencyRemoved(DependencyRemoved),
    /// There is a gate.
    GateMade(GateMade),
    /// A person said yes to a gate.
    GateApproved(GateActed),
    /// A person took their yes back.
    GateWithdrawn(GateActed),
    /// A gate is open: its instant was reached, or somebody from outside said so.
    GateSatisfied(GateSatisfied),
    /// A gate stays closed for good.
    GateRejected(GateRejected),
    /// A task of a run opens with a gate from now on.
    GateAwaited(GateAwaited),
    /// It goes on without the gate.
    GateLeft(GateAwaited),
    /// A run that items wait for ended, or is open again.
    RunEnded(RunEnded),
    /// A gate of a run that items wait for ended, or asks again.
    RunGateEnded(RunGateEnded),
    /// There is an item, just as it was elsewhere.
    ItemImported(Box<Item>),
    /// There is a gate, just as it was elsewhere, with who has said yes to it.
    GateImported(Box<WorkGate>),
    /// There is a dependency, just as it was elsewhere.
    DependencyImported(Box<Dependency>),
    /// Written by a newer program: folds to nothing.
    #[serde(skip)]
    Unknown(Box<str>),
}

/// See [`WorkEvent::ItemAdded`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ItemAdded {
    /// Its id.
    pub id: ItemId,
    /// What it is.
    pub kind: ItemKind,
    /// What is said of it.
    pub fields: Fields,
    /// The phase of a plan or an instance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// The task of a run that waits for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiter: Option<Box<Waiter>>,
    /// When it was made, where that was elsewhere: its age counts among what is ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Time>,
    /// Who.
    pub by: Name,
}

/// The task of a run that waits for an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiter {
    /// The run.
    pub run: RunId,
    /// The runs that wait for that one, the nearest first. They never change: a run is a sub-run of the same run for
    /// ever.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub within: Vec<RunId>,
    /// Its task and attempt.
    #[serde(flatten)]
    pub link: LinkRef,
}

impl Waiter {
    /// A run and the one that waits for it, and so on outwards.
    pub fn pairs(&self) -> impl Iterator<Item = (RunId, RunId)> + '_ {
        std::iter::once(&self.run).chain(&self.within).copied().zip(self.within.iter().copied())
    }

    /// Whether it is this task of this run.
    pub fn is(&self, run: RunId, link: LinkRef) -> bool {
        (self.run, self.link) == (run, link)
    }
}

/// See [`WorkEvent::ItemChanged`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ItemChanged {
    /// Which item.
    pub id: ItemId,
    /// What.
    pub change: Change,
    /// Who.
    pub by: Name,
}

/// See [`WorkEvent::ItemClosed`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ItemClosed {
    /// Which item.
    pub id: ItemId,
    /// How.
    #[serde(default)]
    pub how: Close,
    /// Although it is blocked, has open children, or is somebody else's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub force: bool,
    /// What is kept of the token that was shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<TokenHash>,
    /// Who.
    pub by: Name,
    /// Why, if they said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// Something done to an item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ItemAct {
    /// Which item.
    pub id: ItemId,
    /// Who.
    pub by: Name,
    /// Why, if they said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// See [`WorkEvent::ItemMoved`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ItemMoved {
    /// Which item.
    pub id: ItemId,
    /// Where to; absent for the top.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<ItemId>,
    /// Who.
    pub by: Name,
}

/// See [`WorkEvent::ItemClaimed`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ItemClaimed {
    /// Which item.
    pub id: ItemId,
    /// Whose it is now; they are its assignee too.
    pub by: Name,
    /// What is kept of the token.
    pub token: TokenHash,
    /// Until when, without a heartbeat.
    pub until: Time,
}

/// See [`WorkEvent::ClaimExtended`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClaimExtended {
    /// Which item.
    pub id: ItemId,
    /// What is kept of the token that was shown.
    pub token: TokenHash,
    /// Until when from now on.
    pub until: Time,
}

/// See [`WorkEvent::ItemReleased`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ItemReleased {
    /// Which item.
    pub id: ItemId,
    /// What is kept of the claim's token: a later claim is not meant.
    pub token: TokenHash,
    /// Who gave it back; absent where the claim ran out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Name>,
}

/// See [`WorkEvent::DependencyAdded`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DependencyAdded {
    /// Whose it is: the waiter.
    #[serde(rename = "sourceId")]
    pub source: ItemId,
    /// What it points to: the prerequisite.
    #[serde(rename = "targetId")]
    pub target: Target,
    /// What it says.
    #[serde(rename = "type")]
    pub kind: DependencyKind,
    /// What end satisfies it.
    #[serde(default)]
    pub when: When,
    /// What else is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Value>,
    /// Who.
    pub by: Name,
}

/// See [`WorkEvent::DependencyRemoved`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DependencyRemoved {
    /// Whose it was.
    #[serde(rename = "sourceId")]
    pub source: ItemId,
    /// What it pointed to.
    #[serde(rename = "targetId")]
    pub target: Target,
    /// What it said.
    #[serde(rename = "type")]
    pub kind: DependencyKind,
    /// Who.
    pub by: Name,
}

/// See [`WorkEvent::GateMade`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GateMade {
    /// Its id.
    pub id: ItemId,
    /// What opens it.
    pub wait: GateWait,
    /// What it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Who.
    pub by: Name,
}

/// What a person said to a gate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GateActed {
    /// Which gate.
    pub gate: ItemId,
    /// Who.
    pub by: Name,
    /// What else they said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
}

/// See [`WorkEvent::GateSatisfied`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GateSatisfied {
    /// Which gate.
    pub gate: ItemId,
    /// Who; absent where its instant was reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Name>,
    /// What else they said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What came with it from outside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Value>,
}

/// See [`WorkEvent::GateRejected`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GateRejected {
    /// Which gate.
    pub gate: ItemId,
    /// Who.
    pub by: Name,
    /// Why, if they said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// A gate and the task of a run that opens with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GateAwaited {
    /// Which gate.
    pub gate: ItemId,
    /// Who waits.
    pub waiter: GateWaiter,
}

/// The task of a run that opens with a gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateWaiter {
    /// The run.
    pub run: RunId,
    /// What the task is called there.
    pub path: String,
    /// The task and its attempt.
    #[serde(flatten)]
    pub link: LinkRef,
}

/// See [`WorkEvent::RunEnded`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunEnded {
    /// Which run.
    pub run: RunId,
    /// How; absent if it is open again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<RunState>,
}

/// See [`WorkEvent::RunGateEnded`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunGateEnded {
    /// Which run.
    pub run: RunId,
    /// The path of its gate.
    pub task: String,
    /// How; absent if it asks again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<RunGateEnd>,
}

/// How a gate of a run ended, for whoever waits for it outside of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunGateEnd {
    /// It opened, or somebody settled it.
    Open,
    /// Somebody said no, or its deadline did.
    Rejected,
    /// Nobody is asked: it was skipped or cancelled, or the run ended without it.
    Missed,
}

impl WorkEvent {
    /// The event's type, as the model names it.
    pub fn name(&self) -> &str {
        match self {
            Self::ItemAdded(_) => "ItemAdded",
            Self::ItemChanged(_) => "ItemChanged",
            Self::ItemClosed(_) => "ItemClosed",
            Self::ItemReopened(_) => "ItemReopened",
            Self::ItemDeleted(_) => "ItemDeleted",
            Self::ItemMoved(_) => "ItemMoved",
            Self::ItemClaimed(_) => "ItemClaimed",
            Self::ClaimExtended(_) => "ClaimExtended",
            Self::ItemReleased(_) => "ItemReleased",
            Self::DependencyAdded(_) => "DependencyAdded",
            Self::DependencyRemoved(_) => "DependencyRemoved",
            Self::GateMade(_) => "GateMade",
            Self::GateApproved(_) => "GateApproved",
            Self::GateWithdrawn(_) => "GateWithdrawn",
            Self::GateSatisfied(_) => "GateSatisfied",
            Self::GateRejected(_) => "GateRejected",
            Self::GateAwaited(_) => "GateAwaited",
            Self::GateLeft(_) => "GateLeft",
            Self::RunEnded(_) => "RunEnded",
            Self::RunGateEnded(_) => "RunGateEnded",
            Self::ItemImported(_) => "ItemImported",
            Self::GateImported(_) => "GateImported",
            Self::DependencyImported(_) => "DependencyImported",
            Self::Unknown(name) => name,
        }
    }
}

impl WorkEvent {
    /// The item, gate or run that it is about; of a dependency whose it is.
    pub fn about(&self) -> Option<String> {
        let id = match self {
            Self::ItemAdded(event) => &event.id,
            Self::ItemChanged(event) => &event.id,
            Self::ItemClosed(event) => &event.id,
            Self::ItemReopened(event) | Self::ItemDeleted(event) => &event.id,
            Self::ItemMoved(event) => &event.id,
            Self::ItemClaimed(event) => &event.id,
            Self::ClaimExtended(event) => &event.id,
            Self::ItemReleased(event) => &event.id,
            Self::DependencyAdded(event) => &event.source,
            Self::DependencyRemoved(event) => &event.source,
            Self::GateMade(event) => &event.id,
            Self::GateApproved(event) | Self::GateWithdrawn(event) => &event.gate,
            Self::GateSatisfied(event) => &event.gate,
            Self::GateRejected(event) => &event.gate,
            Self::GateAwaited(event) | Self::GateLeft(event) => &event.gate,
            Self::ItemImported(item) => &item.id,
            Self::GateImported(gate) => &gate.id,
            Self::DependencyImported(dependency) => &dependency.source,
            Self::RunEnded(event) => return Some(event.run.to_string()),
            Self::RunGateEnded(event) => return Some(format!("{}/{}", event.run, event.task)),
            Self::Unknown(_) => return None,
        };
        Some(id.to_string())
    }
}

impl Recorded for WorkEvent {
    const KNOWN: &'static [&'static str] = &[
        "ItemAdded",
        "ItemChanged",
        "ItemClosed",
        "ItemReopened",
        "ItemDeleted",
        "ItemMoved",
        "ItemClaimed",
        "ClaimExtended",
        "ItemReleased",
        "DependencyAdded",
        "DependencyRemoved",
        "GateMade",
        "GateApproved",
        "GateWithdrawn",
        "GateSatisfied",
        "GateRejected",
        "GateAwaited",
        "GateLeft",
        "RunEnded",
        "RunGateEnded",
        "ItemImported",
        "GateImported",
        "DependencyImported",
    ];

    fn unknown(name: &str) -> Self {
        Self::Unknown(name.into())
    }
}
