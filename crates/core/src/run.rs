//! A run, folded: what its events have come to.
//!
//! Dense by design: a task is one small struct in a vector, an edge one byte, a scope a few numbers.
//! What few tasks have (approvals, spreads, outputs, reasons, timers) lives in maps beside them.

mod asked;
mod chain;
mod composite;
mod escalation;
mod external;
mod gathered;
mod held;
mod item;
mod link;
mod pages;
mod path;
mod release;
mod rows;
mod shared;
mod table;
mod value;

pub use chain::{Chain, End, Held, Variable};
pub use composite::{Chunk, Composite};
pub use item::item_id;
pub use link::{Adopted, Outcome};
pub use pages::Pages;
pub use table::{Numbered, Table};
pub(crate) use value::Seen;
pub use value::{MASK, sealed};

use crate::event::{Failure, LinkRef, LinkRequested, RULES, TaskIx, TimerKey};
use crate::gate::Approval;
use crate::id::{EventId, PlanHash, RunId, TokenHash};
use crate::name::Name;
use crate::plan::{OnFailure, Plan, ROOT, Region, Resolution, Spec, Var, Work};
use crate::state::{Phase, RunState, TaskState};
use crate::time::Time;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What the events of a run have come to.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Which run.
    pub id: RunId,
    /// The seq of the last event folded; 0 before the first.
    pub seq: u64,
    /// The id of that event.
    pub last: EventId,
    /// The plan it is pinned to.
    pub plan: Arc<Plan>,
    /// The hash of that plan.
    pub plan_hash: PlanHash,
    /// What was asked for; `None` before `RunTriggered`.
    pub about: Option<About>,
    /// Whose child it is, if it is one.
    pub parent: Option<LinkRequested>,
    /// Whether `PlanCreated` has been folded.
    pub planned: bool,
    /// Where it is.
    pub state: RunState,
    /// One, plus one for each time an operator opened finished work of it again.
    pub generation: u16,
    /// No new leases for now.
    pub paused: bool,
    /// Who lets nothing but reads work on it, if anybody does. One that is damaged has a mark in its store instead.
    pub frozen: Option<Asked>,
    /// Who asked for the cancel, if anybody did.
    pub cancel: Option<Asked>,
    /// Who declared it dealt with, if anybody did.
    pub resolved: Option<Asked>,
    /// Who let the failures stand that it held, if anybody did.
    pub given_up: Option<Asked>,
    /// The root first, then in the order in which they were made.
    pub scopes: Pages<Scope>,
    /// All tasks, by number.
    pub tasks: Pages<Task>,
    /// All edges: 0 is open, else a [`Resolution`].
    pub edges: Vec<u8>,
    /// Timers that are set.
    pub timers: BTreeMap<TimerKey, Time>,
    /// Tokens of grants that came back undelivered, of the attempt that a task is still to be given.
    pub returned: BTreeMap<TaskIx, Vec<TokenHash>>,
    /// Children that their tasks went on without, and that are not known to be over.
    pub disowned: BTreeMap<LinkRef, RunId>,
    /// Children that tasks wait for instead of one of their own: they had failed, and go on.
    pub adopted: BTreeMap<TaskIx, Adopted>,
    /// Who approved which gate so far.
    pub approvals: BTreeMap<TaskIx, Vec<Approval>>,
    /// When more people were asked at which gate, one instant for each step of its `escalate` so far.
    pub escalated: BTreeMap<TaskIx, Vec<Time>>,
    /// Composites that have begun.
    pub composites: BTreeMap<TaskIx, Composite>,
    /// Chain scopes that have not ended, by their number.
    pub chains: Table<u32, Chain>,
    /// What was assigned in a task's chain between the task before it and itself.
    pub before: BTreeMap<TaskIx, Vec<(Var, Held)>>,
    /// Chain scopes whose fold stopped at its bound on inline work.
    pub stalled: BTreeSet<u32>,
    /// How the root ended, if it is a chain.
    pub end: Option<End>,
    /// What tasks made, where it is not null.
    pub outputs: Table<TaskIx, Arc<Value>>,
    /// Why tasks failed, were skipped or cancelled. A cancel of the whole run is not repeated here.
    pub reasons: BTreeMap<TaskIx, Reason>,
    /// Edges whose fact is older than what their upstream has come to since it was opened again.
    pub kept: BTreeMap<u32, Resolution>,
    /// Spreads that still have scopes to make.
    pub advancing: BTreeSet<TaskIx>,
    /// Iterations that are over and whose rows are still to be written before they are given back.
    pub over: Vec<u32>,
    /// How many tasks are in each state.
    pub counts: [u32; 11],
    /// How many leases live.
    pub leased: u32,
    /// When its first task began.
    pub started_at: Time,
    /// When it ended.
    pub completed_at: Time,
    /// Events of unknown types that were folded to nothing.
    pub unknown: u32,
}

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct About {
    /// The flow's name.
    pub flow: Name,
    /// The rules it is folded by.
    pub rules: u32,
    /// What the caller gave.
    pub input: Arc<Value>,
    /// Who asked.
    pub by: Name,
    /// The caller's own key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// For people to search by.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// When.
    pub at: Time,
}

/// Something a person asked for, and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// Who.
    pub by: Name,
    /// Why, if they said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// When.
    pub at: Time,
}

/// One task. Sized to stay within a cache line or so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Task {
    /// The id of the event that last changed it.
    pub version: EventId,
    /// When it became ready in this generation.
    pub ready_at: Time,
    /// When its last attempt began.
    pub started_at: Time,
    /// When it was done.
    pub completed_at: Time,
    /// The token of its last lease.
    pub token: TokenHash,
    /// The scope it is in.
    pub scope: u32,
    /// How many in-edges were resolved and accepted.
    pub accepted: u32,
    /// How many in-edges were resolved and refused.
    pub refused: u32,
    /// One, plus one for each time it was opened again.
    pub generation: u16,
    /// Attempts made in this generation.
    pub attempt: u16,
    /// Where it is.
    pub state: TaskState,
}

/// One instantiation of a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scope {
    /// Which region.
    pub region: u32,
    /// The number of its first task.
    pub task: u32,
    /// The number of its first edge.
    pub edge: u32,
    /// The composite it belongs to; itself meaningless for the root.
    pub parent: TaskIx,
    /// Its place among the composite's scopes.
    pub index: u32,
    /// The generation in which its tasks began.
    pub generation: u16,
    /// Tasks not done.
    pub open: u32,
    /// Tasks that ended in Error or Cancelled.
    pub bad: u32,
}

/// Why a task did not succeed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// It failed.
    Failed(Box<Failure>),
    /// An in-edge decided against it.
    Upstream {
        /// The upstream task.
        task: TaskIx,
        /// How the deciding edge ended.
        resolution: Resolution,
    },
    /// It was cancelled because this task failed and the rest was not wanted any more.
    BecauseOf {
        /// The task that failed.
        task: TaskIx,
    },
    /// Its own `when` said no.
    When,
    /// An operator said so.
    Operator(Box<Asked>),
}

impl Run {
    /// A run before its first event, with the plan it will be pinned to.
    pub fn new(id: RunId, plan_hash: PlanHash, plan: Arc<Plan>) -> Self {
        Self {
            id,
            seq: 0,
            last: EventId(0),
            plan,
            plan_hash,
            about: None,
            parent: None,
            planned: false,
            state: RunState::Pending,
            generation: 1,
            paused: false,
            frozen: None,
            cancel: None,
            resolved: None,
            given_up: None,
            scopes: Pages::new(GONE_SCOPE),
            tasks: Pages::new(GONE_TASK),
            edges: Vec::new(),
            timers: BTreeMap::new(),
            returned: BTreeMap::new(),
            disowned: BTreeMap::new(),
            adopted: BTreeMap::new(),
            approvals: BTreeMap::new(),
            escalated: BTreeMap::new(),
            composites: BTreeMap::new(),
            chains: Table::default(),
            before: BTreeMap::new(),
            stalled: BTreeSet::new(),
            end: None,
            outputs: Table::default(),
            reasons: BTreeMap::new(),
            kept: BTreeMap::new(),
            advancing: BTreeSet::new(),
            over: Vec::new(),
            counts: [0; 11],
            leased: 0,
            started_at: Time::NEVER,
            completed_at: Time::NEVER,
            unknown: 0,
        }
    }

    /// The rules it is folded by.
    pub(crate) fn rules(&self) -> u32 {
        self.about.as_ref().map_or(RULES, |about| about.rules)
    }

    /// Why only reads work on it, as its mark in a store says it; `None` unless an operator froze it.
    pub fn freeze_mark(&self) -> Option<String> {
        let Asked { by, why, .. } = self.frozen.as_ref()?;
        Some(why.as_ref().map_or_else(|| format!("{by} froze it"), |why| format!("{by} froze it: {why}")))
    }

    /// A task by its number.
    pub fn task(&self, task: TaskIx) -> Option<&Task> {
        self.tasks.get(task.0 as usize)
    }

    /// The scope a task is in.
    pub fn scope_of(&self, task: TaskIx) -> &Scope {
        &self.scopes[self.tasks[task.0 as usize].scope as usize]
    }

    /// A scope's region.
    pub fn region_of(&self, scope: &Scope) -> &Region {
        &self.plan.regions[scope.region as usize]
    }

    /// Which node of its region a task is.
    pub fn node_of(&self, task: TaskIx) -> u32 {
        task.0 - self.scope_of(task).task
    }

    /// What a task is made of.
    pub fn spec_of(&self, task: TaskIx) -> &Spec {
        let scope = self.scope_of(task);
        self.plan.spec(scope.region, task.0 - scope.task)
    }

    /// Whether a task is done by a worker under a lease (not by the world or by its scopes).
    pub fn is_leasable(&self, task: TaskIx) -> bool {
        self.spec_of(task).work.is_leased()
    }

    /// Whether a task has attempts: a worker's, or runs or items of its own.
    pub fn has_attempts(&self, task: TaskIx) -> bool {
        self.is_leasable(task) || self.spec_of(task).work.is_linked()
    }

    /// What people see of a task.
    pub fn phase_of(&self, task: TaskIx) -> Phase {
        match &self.spec_of(task).work {
            // A composite at work is not waiting for the world.
            work if work.is_composite() => self.tasks[task.0 as usize].state.phase(false),
            _ => self.tasks[task.0 as usize].state.phase(!self.is_leasable(task)),
        }
    }

    /// The failure a task ended with, if it did.
    pub fn failure_of(&self, task: TaskIx) -> Option<&Failure> {
        match self.reasons.get(&task) {
            Some(Reason::Failed(failure)) => Some(failure),
            _ => None,
        }
    }

    /// The action a worker must offer to be given this task; see [`COMMAND_ACTION`] for commands.
    pub fn action_of(&self, task: TaskIx) -> Option<&str> {
        match &self.spec_of(task).work {
            Work::Action { action, .. } => Some(action),
            Work::Command(_) => Some(COMMAND_ACTION),
            Work::Http(_) => Some(HTTP_ACTION),
            _ => None,
        }
    }

    /// The resolution of an edge of a scope; `None` while it is open.
    pub fn resolution(&self, scope: &Scope, edge: u32) -> Option<Resolution> {
        Resolution::from_byte(self.edges[(scope.edge + edge) as usize])
    }

    /// How many in-edges of a task are resolved and accepted, and how many refused, as the edges say it.
    pub(crate) fn count_edges(&self, task: TaskIx) -> (u32, u32) {
        let scope = self.scope_of(task);
        let (mut accepted, mut refused) = (0, 0);
        for (edge, need) in self.region_of(scope).needs(task.0 - scope.task) {
            match self.resolution(scope, edge) {
                Some(r) if need.accepts.contains(r) => accepted += 1,
                Some(_) => refused += 1,
                None => {}
            }
        }
        (accepted, refused)
    }

    /// Counts anew how many of a spread's scopes have ended, and how many badly.
    pub(crate) fn recount_spread(&mut self, spread: TaskIx) {
        let Some(state) = self.composites.get(&spread).filter(|state| !state.chunks.is_empty()) else { return };
        let ended = state.scopes().filter(|s| self.has_ended(*s));
        let (mut done, mut failed) = (0, 0);
        for scope in ended {
            done += 1;
            failed += u32::from(crate::rule::went_badly(self, scope));
        }
        if let Some(state) = self.composites.get_mut(&spread) {
            state.done = done;
            state.failed = failed;
        }
    }

    /// Whether a permanent failure leaves its out-edges open until an operator decides.
    pub(crate) fn holds_failures(&self) -> bool {
        let decided = self.cancel.is_some() || self.resolved.is_some() || self.given_up.is_some();
        self.plan.on_failure == OnFailure::Hold && !decided
    }

    /// How an edge resolves that comes from a task as it is now.
    pub(crate) fn fact_of(&self, up: TaskIx) -> Option<Resolution> {
        match self.tasks[up.0 as usize].state {
            TaskState::Error if self.holds_failures() => None,
            state => resolution_of(state),
        }
    }

    /// The tasks that are there: all but those that loops have given back.
    pub fn present(&self) -> impl Iterator<Item = TaskIx> + '_ {
        self.tasks.present().map(|task| TaskIx(task as u32))
    }

    /// How many tasks there are.
    pub fn total(&self) -> u32 {
        self.tasks.len() as u32
    }

    /// Instantiates a region; the caller says to which composite it belongs.
    pub(crate) fn add_scope(&mut self, region: u32, parent: TaskIx, index: u32) -> u32 {
        let number = self.scopes.len() as u32;
        let (nodes, edges) = {
            let region = &self.plan.regions[region as usize];
            (region.len(), region.edge_count())
        };
        let (task, edge) = (self.tasks.len() as u32, self.edges.len() as u32);
        let generation = self.generation_within(parent);
        self.scopes.push(Scope { region, task, edge, parent, index, generation, open: nodes, bad: 0 });
        let fresh = Task { scope: number, generation, ..Task::default() };
        self.tasks.extend_to(self.tasks.len() + nodes as usize, fresh);
        self.edges.resize(self.edges.len() + edges as usize, 0);
        self.counts[TaskState::Pending as usize] += nodes;
        number
    }

    /// The generation in which tasks of a composite's next scope begin. No task is ahead of its run, so where a scope
    /// may stand in the place of an earlier one, its tasks are of a generation that none of them had.
    pub(crate) fn generation_within(&self, parent: TaskIx) -> u16 {
        match self.task(parent) {
            Some(composite) if composite.generation > 1 => self.generation,
            _ => 1,
        }
    }

    pub(crate) fn add_root(&mut self) {
        self.add_scope(ROOT, TaskIx(0), 0);
    }
}

/// What a task reads as whose scope was given back.
pub const GONE_TASK: Task = Task {
    version: EventId(0),
    ready_at: Time::NEVER,
    started_at: Time::NEVER,
    completed_at: Time::NEVER,
    token: TokenHash(0),
    scope: u32::MAX,
    accepted: 0,
    refused: 0,
    generation: 0,
    attempt: 0,
    state: TaskState::Skipped,
};

/// What a scope reads as that was given back.
pub const GONE_SCOPE: Scope = Scope {
    region: u32::MAX,
    task: u32::MAX,
    edge: 0,
    parent: TaskIx(u32::MAX),
    index: 0,
    generation: 0,
    open: 0,
    bad: 0,
};

/// What the outbox calls a run that waits as a whole.
pub const WHOLE_RUN: TaskIx = TaskIx(u32::MAX);

/// What the built-in command runner offers. Actions whose names start with `edgewise/` are ours alone.
pub const COMMAND_ACTION: &str = "edgewise/command";

/// What the built-in HTTP runner offers.
pub const HTTP_ACTION: &str = "edgewise/http";

/// What the outbox has for a run whose fold stopped at its bound on inline work.
pub const ADVANCE_ACTION: &str = "edgewise/advance";

/// What the outbox calls the children that a run's tasks went on without: the tasks themselves may be gone.
pub const DISOWNED: TaskIx = TaskIx(u32::MAX - 1);

/// What the outbox has for a task that waits for its child.
pub const SUB_RUN_ACTION: &str = "edgewise/sub-run";

/// What the outbox has for a run with children that its tasks went on without.
pub const DISOWNED_ACTION: &str = "edgewise/disowned";

/// How an edge resolves once its upstream is done.
pub fn resolution_of(state: TaskState) -> Option<Resolution> {
    match state {
        TaskState::Complete | TaskState::ResolvedManually => Some(Resolution::Success),
        TaskState::Error => Some(Resolution::Failed),
        TaskState::Skipped => Some(Resolution::Skipped),
        TaskState::Cancelled => Some(Resolution::Cancelled),
        _ => None,
    }
}
