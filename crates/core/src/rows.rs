//! Rows: what a run looks like in the projections, and all that loading it needs.
//!
//! A task has a row once it has left its first state; a task without one is Pending, generation 1.
//! Edges have none: all out-edges of a task resolve alike, so they follow from plan and task rows.

use crate::event::{TaskIx, TimerKey};
use crate::id::{EventId, PlanHash, RunId, TokenHash};
use crate::name::Name;
use crate::rate::Rate;
use crate::state::{RunState, TaskState};
use crate::time::{Millis, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One run: what people search and list, and `body` for the rest that the fold needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRow {
    /// Which run.
    pub id: RunId,
    /// The flow's name.
    pub flow: Name,
    /// The plan it is pinned to.
    pub plan: PlanHash,
    /// Where it is.
    pub state: RunState,
    /// No new leases for now.
    pub paused: bool,
    /// How many tasks are in each state, in the order of [`TaskState::ALL`].
    pub counts: [u32; 11],
    /// When it was asked for.
    pub triggered_at: Time,
    /// When its first task began.
    pub started_at: Time,
    /// When it ended.
    pub completed_at: Time,
    /// The seq of the last event folded into these rows.
    pub applied_seq: u64,
    /// The id of the event that last changed it.
    pub version: EventId,
    /// What else it is searched by.
    pub marks: Marks,
    /// The rest, as JSON, only read by the core.
    pub body: String,
}

/// What a run is searched by besides flow, state and time. Said once, when it is started.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Marks {
    /// The namespace of its plan, where it is not the flow's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<Name>,
    /// Who asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Name>,
    /// The key it was started with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The run that started it and waits for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<RunId>,
    /// Its labels.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

impl RunRow {
    /// The namespace it is in: its plan's, else the flow's name.
    pub fn namespace(&self) -> &Name {
        self.marks.namespace.as_ref().unwrap_or(&self.flow)
    }
}

/// One task that has left its first state.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskRow {
    /// Which task of the run.
    pub task: TaskIx,
    /// The scope it is in.
    pub scope: u32,
    /// The region that scope is made of: the root's, or the one of its spread.
    pub region: u32,
    /// Which node of its region.
    pub node: u32,
    /// Its printed name where the plan alone does not tell it (in a spread's scope).
    pub path: Option<String>,
    /// Its generation.
    pub generation: u16,
    /// Where it is.
    pub state: TaskState,
    /// Attempts made in this generation.
    pub attempt: u16,
    /// The token of the last lease.
    pub token: TokenHash,
    /// When it became ready.
    pub ready_at: Time,
    /// When its last attempt began.
    pub started_at: Time,
    /// When it was done.
    pub completed_at: Time,
    /// What it made, as JSON.
    pub output: Option<String>,
    /// Why it failed or was left out, as JSON.
    pub error: Option<String>,
    /// Gate, spread and cause, as JSON, only read by the core.
    pub body: Option<String>,
    /// The id of the event that last changed it.
    pub version: EventId,
}

/// What a composite began with, or a run, where that is too much to be written with each of its rows: it never changes
/// while they do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenRow {
    /// Which composite, or [`crate::run::WHOLE_RUN`] for the run itself.
    pub task: TaskIx,
    /// What it was given, as JSON, only read by the core.
    pub body: String,
}

/// A timer that is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimerRow {
    /// Which timer.
    pub key: TimerKey,
    /// When it is due.
    pub due: Time,
}

/// A task that waits for a worker.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct OutboxRow {
    /// Which task.
    pub task: TaskIx,
    /// Its generation.
    pub generation: u16,
    /// The attempt it waits for.
    pub attempt: u16,
    /// Which action, or `run` for the command runner.
    pub action: Name,
    /// Since when.
    pub ready_at: Time,
    /// How it takes its turn among others.
    pub turn: Turn,
}

/// How a waiting task takes its turn among others, with its key evaluated.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct Turn {
    /// The queue it waits in; the one without a name if absent.
    pub queue: Option<Name>,
    /// Higher goes first.
    pub priority: i16,
    /// What it must not do too much of at once.
    pub limit: Option<KeyLimit>,
}

/// A bound on attempts with the same key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct KeyLimit {
    /// The key, evaluated.
    pub key: String,
    /// Most attempts with the key at work at once.
    pub max: Option<u32>,
    /// How often one with the key may begin.
    pub rate: Option<Rate>,
}

/// A lease: a worker's right to one attempt until a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaseRow {
    /// Which task.
    pub task: TaskIx,
    /// Its generation.
    pub generation: u16,
    /// Which attempt.
    pub attempt: u16,
    /// The hash of its token: a grant that came back is made anew under the same attempt.
    pub token: TokenHash,
    /// Who has it.
    pub worker: String,
    /// Until when.
    pub deadline: Time,
    /// How far a heartbeat moves that; absent for a worker that ends with its engine.
    pub span: Option<Millis>,
    /// The queue whose slot it holds; the one without a name if absent.
    pub queue: Option<Name>,
    /// The key of its limit, if it has one.
    pub key: Option<String>,
}
