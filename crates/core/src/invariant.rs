//! Invariants: what must be true of every run, one function each, named as the promises name them.
//!
//! They are written from the model and not from the fold: each reads facts off the plan and the tasks' states and
//! compares, so that a mistake in the fold cannot hide in them. There are three shapes. Over a state:
//! true after every event. Over a step: true of one event, with what was before and after it. Over a
//! stream: true of all events of a run, in one pass. The simulator checks steps at every event, states after
//! every commit and streams at the end; where events go straight into the fold, states at every event too.
//! `edgewise doctor` checks states and streams, which are linear in the run and its events.

mod attempt;
mod chain;
mod edge;
mod gate;
mod run;
mod spread;
mod stream;
mod task;

pub use attempt::{
    attempts_are_bounded, leased_only_if_ready, one_live_lease, one_outcome_per_attempt, outbox_has_cause, retry_waits,
};
pub use chain::chain_has_one_place;
pub use edge::{
    counter_matches_edges, done_resolves_all_out_edges, edge_has_cause, edge_resolves_once, edges_match_plan,
};
pub use gate::{approvers_differ, escalation_waits, gate_opens_once, timer_fires_once};
pub use run::{cancel_is_final, frozen_runs_rest, run_done_iff_tasks_done};
pub use spread::spread_is_whole;
pub use stream::{
    Rows, duplicate_is_noop, idempotency_is_unique, load_equals_fold, prefix_is_monotone, refold_equals_projection,
    rows_are_of, said_again, seq_is_dense,
};
pub use task::{done_is_final, moves_are_legal, no_forgotten_task, ready_iff_allowed, skip_has_reason};

use crate::event::{Event, TaskIx};
use crate::fold::{Changes, Stamp, Verdict};
use crate::history::Stream;
use crate::id::RunId;
use crate::plan::{InEdge, OnFailure, Resolution};
use crate::run::{Run, Scope};
use crate::state::TaskState;
use std::fmt;

/// An invariant that does not hold: a bug of ours, or damage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Which invariant.
    pub invariant: &'static str,
    /// Of which run.
    pub run: RunId,
    /// At which task, if at one.
    pub task: Option<TaskIx>,
    /// What was expected and what was found.
    pub message: String,
}

/// One event, with what was before and after it.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a> {
    /// The run before the event.
    pub before: &'a Run,
    /// Where the event stands.
    pub stamp: Stamp,
    /// The event.
    pub event: &'a Event,
    /// What this event alone changed.
    pub changes: &'a Changes,
    /// What became of it.
    pub verdict: Verdict,
    /// The run after it.
    pub after: &'a Run,
}

/// The result of looking at an invariant.
pub type Held = Result<(), Violation>;
/// An invariant over a state.
pub type OverState = fn(&Run) -> Held;
/// An invariant over a step.
pub type OverStep = fn(&Step<'_>) -> Held;
/// An invariant over the events of one stream.
pub type OverStream = fn(&Stream<'_>) -> Held;

macro_rules! registry {
    ($($name:ident),* $(,)?) => { &[$((stringify!($name), $name)),*] };
}

/// The invariants that are true after every event.
pub const STATE: &[(&str, OverState)] = registry![
    load_equals_fold,
    edges_match_plan,
    edge_has_cause,
    done_resolves_all_out_edges,
    counter_matches_edges,
    ready_iff_allowed,
    no_forgotten_task,
    leased_only_if_ready,
    attempts_are_bounded,
    one_live_lease,
    skip_has_reason,
    retry_waits,
    approvers_differ,
    escalation_waits,
    spread_is_whole,
    chain_has_one_place,
    run_done_iff_tasks_done,
];

/// The invariants that are true of every event.
pub const STEP: &[(&str, OverStep)] = registry![
    prefix_is_monotone,
    duplicate_is_noop,
    edge_resolves_once,
    moves_are_legal,
    done_is_final,
    timer_fires_once,
    outbox_has_cause,
    cancel_is_final,
    frozen_runs_rest,
];

/// The invariants that are true of all events of a stream together.
pub const STREAM: &[(&str, OverStream)] =
    registry![seq_is_dense, idempotency_is_unique, one_outcome_per_attempt, gate_opens_once];

/// Every invariant over a state.
pub fn check_state(run: &Run) -> Held {
    STATE.iter().try_for_each(|(_, holds)| holds(run))
}

/// Every invariant over a step.
pub fn check_step(step: &Step<'_>) -> Held {
    STEP.iter().try_for_each(|(_, holds)| holds(step))
}

/// Every invariant over a stream.
pub fn check_stream(stream: &Stream<'_>) -> Held {
    STREAM.iter().try_for_each(|(_, holds)| holds(stream))
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} does not hold in run {}", self.invariant, self.run)?;
        if let Some(task) = self.task {
            write!(f, " at task {}", task.0)?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for Violation {}

/// Says that an invariant does not hold.
fn broken(invariant: &'static str, run: &Run, task: Option<TaskIx>, message: impl Into<String>) -> Held {
    Err(Violation { invariant, run: run.id, task, message: message.into() })
}

/// All tasks of a run, but those that loops have given back.
fn tasks(run: &Run) -> impl Iterator<Item = TaskIx> + '_ {
    run.present()
}

/// The scope of a task with its in-edges: the number of each in the run, and what the plan says of it.
fn needs(run: &Run, task: TaskIx) -> impl Iterator<Item = (u32, TaskIx, InEdge)> + '_ {
    let scope: &Scope = run.scope_of(task);
    run.region_of(scope)
        .needs(task.0 - scope.task)
        .map(|(edge, need)| (scope.edge + edge, TaskIx(scope.task + need.up), need))
}

/// What the model says an edge must be: as its upstream ended, unless it was decided on an older fact.
fn owed(run: &Run, edge: u32, up: TaskIx) -> Option<Resolution> {
    if let Some(fact) = run.kept.get(&edge) {
        return Some(*fact);
    }
    match run.tasks[up.0 as usize].state {
        TaskState::Complete | TaskState::ResolvedManually => Some(Resolution::Success),
        TaskState::Error if holds_failures(run) => None,
        TaskState::Error => Some(Resolution::Failed),
        TaskState::Skipped => Some(Resolution::Skipped),
        TaskState::Cancelled => Some(Resolution::Cancelled),
        _ => None,
    }
}

/// Whether permanent failures leave their out-edges open.
fn holds_failures(run: &Run) -> bool {
    let decided = run.cancel.is_some() || run.resolved.is_some() || run.given_up.is_some();
    run.plan.on_failure == OnFailure::Hold && !decided
}

/// What a task's in-edges come to, read off plan and upstream states alone.
struct Allowed {
    degree: u32,
    needed: u32,
    accepted: u32,
    refused: u32,
}

impl Allowed {
    fn of(run: &Run, task: TaskIx) -> Self {
        let scope = run.scope_of(task);
        let region = run.region_of(scope);
        if region.script().is_some() {
            return Self::in_chain(run, task);
        }
        let (mut degree, mut accepted, mut refused) = (0, 0, 0);
        for (edge, up, need) in needs(run, task) {
            degree += 1;
            match owed(run, edge, up) {
                Some(fact) if need.accepts.contains(fact) => accepted += 1,
                Some(_) => refused += 1,
                None => {}
            }
        }
        let needed = match region.join(task.0 - scope.task) {
            crate::plan::Join::All => degree,
            crate::plan::Join::Any => degree.min(1),
            crate::plan::Join::Count(n) => n,
        };
        Self { degree, needed, accepted, refused }
    }

    /// A statement of a chain needs one thing, that the chain comes to it; it is not refused before the chain ends.
    fn in_chain(run: &Run, task: TaskIx) -> Self {
        let number = run.tasks[task.0 as usize].scope;
        let scope = &run.scopes[number as usize];
        let statement = run.region_of(scope).statement_of(task.0 - scope.task).unwrap_or(u32::MAX);
        let (accepted, refused) = match run.chains.get(&number) {
            Some(chain) if run.stalled.contains(&number) => (u32::from(chain.at > statement), 0),
            Some(chain) => (u32::from(chain.at >= statement), 0),
            None if run.tasks[task.0 as usize].ready_at.known().is_some() => (1, 0),
            None => (0, 1),
        };
        Self { degree: 1, needed: 1, accepted, refused }
    }

    fn is_ready(&self) -> bool {
        self.accepted >= self.needed
    }

    fn is_hopeless(&self) -> bool {
        self.degree - self.refused < self.needed
    }
}
