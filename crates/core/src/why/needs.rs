//! Which tasks stand behind a reason.

use super::{Need, needs_all, unusual};
use crate::event::TaskIx;
use crate::plan::{Accepts, Resolution};
use crate::rule::{is_handled, went_badly};
use crate::run::{Reason, Run};
use crate::state::{RunState, TaskState};

/// A task that matters without an edge.
pub(super) fn plain(run: &Run, task: TaskIx) -> Need {
    need(run, task, Accepts::SUCCESS, None)
}

fn need(run: &Run, task: TaskIx, accepts: Accepts, resolution: Option<Resolution>) -> Need {
    Need { task, path: run.path(task), accepts: unusual(accepts), resolution }
}

/// What a run comes down to: what it waits for, or what ended it as it did.
pub(super) fn of_run(run: &Run) -> Vec<Need> {
    if !run.planned {
        return Vec::new();
    }
    let found: Vec<TaskIx> = match run.state {
        RunState::Complete | RunState::ResolvedManually => Vec::new(),
        RunState::Error => unanswered(run, 0),
        RunState::Cancelled if run.cancel.is_some() => Vec::new(),
        RunState::Cancelled => cancelled_from_outside(run),
        _ => frontier(run, 0),
    };
    found.into_iter().map(|task| plain(run, task)).collect()
}

/// The tasks behind a task's reason.
pub(super) fn of_task(run: &Run, task: TaskIx) -> Vec<Need> {
    match run.tasks[task.0 as usize].state {
        TaskState::Pending if run.in_chain(task) => at_work_before(run, task),
        TaskState::Pending => {
            let all = needs_all(run, task);
            edges(run, task, |accepts, fact| match fact {
                None => true,
                // With `all` a refusal would have ended it; with `any` it says why fewer are left.
                Some(fact) => !all && !accepts.contains(fact),
            })
        }
        TaskState::InProgress => within(run, task, frontier),
        TaskState::Error => within(run, task, unanswered),
        TaskState::Skipped | TaskState::Cancelled => against(run, task),
        _ => Vec::new(),
    }
}

/// What a statement waits for: the one its chain stands at.
fn at_work_before(run: &Run, task: TaskIx) -> Vec<Need> {
    frontier(run, run.tasks[task.0 as usize].scope).into_iter().map(|other| plain(run, other)).collect()
}

/// The upstream tasks of a task whose edges are of interest.
fn edges(run: &Run, task: TaskIx, wanted: impl Fn(Accepts, Option<Resolution>) -> bool) -> Vec<Need> {
    let scope = run.scope_of(task);
    let all = run.region_of(scope).needs(task.0 - scope.task);
    let found = all.filter_map(|(edge, in_edge)| {
        let fact = run.resolution(scope, edge);
        wanted(in_edge.accepts, fact).then(|| need(run, TaskIx(scope.task + in_edge.up), in_edge.accepts, fact))
    });
    found.collect()
}

/// What decided against a task.
fn against(run: &Run, task: TaskIx) -> Vec<Need> {
    match run.reasons.get(&task) {
        Some(Reason::Upstream { task: up, .. }) => {
            let mut found = edges(run, task, |accepts, fact| fact.is_some_and(|f| !accepts.contains(f)));
            if needs_all(run, task) {
                // The first refusal decided; what was refused after it changed nothing.
                found.retain(|need| need.task == *up);
            }
            found
        }
        Some(Reason::BecauseOf { task: other }) => vec![plain(run, *other)],
        _ => Vec::new(),
    }
}

/// What is found in those scopes of a spread that have not ended, or ended badly.
fn within(run: &Run, spread: TaskIx, find: fn(&Run, u32) -> Vec<TaskIx>) -> Vec<Need> {
    let Some(state) = run.composites.get(&spread) else { return Vec::new() };
    state.scopes().flat_map(|scope| find(run, scope)).map(|task| plain(run, task)).collect()
}

fn tasks_of(run: &Run, scope: u32) -> impl Iterator<Item = TaskIx> + use<> {
    let scope = run.scopes[scope as usize];
    (scope.task..scope.task + run.region_of(&scope).len()).map(TaskIx)
}

/// What a scope waits for: what is begun and not done, and failures that an operator must decide on.
fn frontier(run: &Run, scope: u32) -> Vec<TaskIx> {
    let begun = |state: TaskState| !state.is_done() && state != TaskState::Pending;
    tasks_of(run, scope).filter(|t| begun(run.tasks[t.0 as usize].state) || is_held(run, *t)).collect()
}

/// The failures of a scope that nothing in the flow answers.
fn unanswered(run: &Run, scope: u32) -> Vec<TaskIx> {
    if !run.has_ended(scope) || !went_badly(run, scope) {
        return Vec::new();
    }
    let failed = |t: &TaskIx| run.tasks[t.0 as usize].state == TaskState::Error && !is_handled(run, *t);
    tasks_of(run, scope).filter(failed).collect()
}

/// Tasks that were cancelled, but not because another one was.
fn cancelled_from_outside(run: &Run) -> Vec<TaskIx> {
    let cancelled = |t: &TaskIx| run.tasks[t.0 as usize].state == TaskState::Cancelled;
    let first = |t: &TaskIx| !matches!(run.reasons.get(t), Some(Reason::Upstream { .. }));
    tasks_of(run, 0).filter(cancelled).filter(first).collect()
}

/// Whether a failure keeps what follows waiting for an operator.
pub(super) fn is_held(run: &Run, task: TaskIx) -> bool {
    let scope = run.scope_of(task);
    run.tasks[task.0 as usize].state == TaskState::Error
        && run.fact_of(task).is_none()
        && run
            .region_of(scope)
            .needed_by(task.0 - scope.task)
            .iter()
            .any(|out| run.tasks[(scope.task + out.down) as usize].state == TaskState::Pending)
}
