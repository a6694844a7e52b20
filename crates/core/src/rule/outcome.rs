//! How scopes and runs end, and where a run is until then.

use crate::event::TaskIx;
use crate::fold::Fold;
use crate::plan::Join;
use crate::run::{End, Run};
use crate::state::{RunState, TaskState};

impl Fold<'_> {
    /// The run's state, read off what its tasks are: the first that matches.
    pub(crate) fn derive_run_state(&mut self) {
        let next = state_of(self.run);
        if next.is_done() && self.run.completed_at.known().is_none() {
            self.run.completed_at = self.stamp.at;
        }
        self.run_to(next);
    }
}

/// Whether a scope, all done, ended otherwise than well.
pub(crate) fn went_badly(run: &Run, number: u32) -> bool {
    ending(run, number) != Ending::Well
}

/// The task because of which a scope went badly: the first failure that nobody answered, else the first cancelled one.
pub(crate) fn culprit(run: &Run, number: u32) -> TaskIx {
    let scope = &run.scopes[number as usize];
    let tasks = || (scope.task..scope.task + run.region_of(scope).len()).map(TaskIx);
    let is = |t: TaskIx, state: TaskState| run.tasks[t.0 as usize].state == state;
    let failed = tasks().find(|t| is(*t, TaskState::Error) && !is_handled(run, *t));
    failed.or_else(|| tasks().find(|t| is(*t, TaskState::Cancelled))).unwrap_or(TaskIx(scope.task))
}

/// How a scope ended, once all its tasks are done.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    Well,
    Failed,
    Cancelled,
}

fn state_of(run: &Run) -> RunState {
    if let Some(outcome) = outcome(run) {
        return outcome;
    }
    if !run.planned {
        return RunState::Pending;
    }
    let count = |state: TaskState| run.counts[state as usize];
    let held = run.holds_failures() && count(TaskState::Error) > 0;
    if run.total() == count(TaskState::Pending) {
        RunState::Initializing
    } else if count(TaskState::EnqueuedForOrchestration) + count(TaskState::EnqueuedAsErrorForOrchestration) > 0 {
        RunState::EvaluatingResults
    } else if run.leased > 0 {
        RunState::TasksInProcess
    } else if count(TaskState::Enqueued) > 0 || run.is_advancing() {
        RunState::EnqueuingTasks
    } else if count(TaskState::WaitingForRetry) > 0 {
        RunState::WaitingForRetry
    } else if held {
        RunState::BlockedByFailures
    } else {
        RunState::WaitingForDependencies
    }
}

/// How the run ended; `None` while it has not.
fn outcome(run: &Run) -> Option<RunState> {
    if run.planned && !run.has_ended(0) {
        return None;
    }
    if run.cancel.is_some() {
        return Some(RunState::Cancelled);
    }
    if !run.planned {
        return None;
    }
    if run.resolved.is_some() {
        return Some(RunState::ResolvedManually);
    }
    let ending = match &run.end {
        Some(End::Returned(_)) => Ending::Well,
        Some(End::Failed(_)) => Ending::Failed,
        Some(End::Cancelled) => Ending::Cancelled,
        None => ending(run, 0),
    };
    Some(match ending {
        Ending::Well => RunState::Complete,
        Ending::Failed => RunState::Error,
        Ending::Cancelled => RunState::Cancelled,
    })
}

fn ending(run: &Run, number: u32) -> Ending {
    let scope = &run.scopes[number as usize];
    if scope.bad == 0 {
        return Ending::Well;
    }
    let tasks = (scope.task..scope.task + run.region_of(scope).len()).map(TaskIx);
    // Whether something around a program's scope deals with its failure says nothing of how the scope ended.
    let answers = run.region_of(scope).script().is_none();
    let mut cancelled = false;
    for task in tasks {
        match run.tasks[task.0 as usize].state {
            TaskState::Error if !(answers && is_handled(run, task)) => return Ending::Failed,
            TaskState::Cancelled => cancelled = true,
            _ => {}
        }
    }
    if cancelled { Ending::Cancelled } else { Ending::Well }
}

/// Whether a failure was answered: by an edge that wants just that, or by a join that could do without.
pub fn is_handled(run: &Run, task: TaskIx) -> bool {
    let scope = run.scope_of(task);
    let region = run.region_of(scope);
    if region.script().is_some() {
        return is_caught(run, task);
    }
    region.needed_by(task.0 - scope.task).iter().any(|out| {
        let down = &run.tasks[(scope.task + out.down) as usize];
        let answers = region.edge(out.edge).accepts.handles_failure() || region.join(out.down) != Join::All;
        answers && down.ready_at.known().is_some()
    })
}

/// Whether something around a statement of a program dealt with its failure.
fn is_caught(run: &Run, task: TaskIx) -> bool {
    let number = run.tasks[task.0 as usize].scope;
    if number == 0 {
        return matches!(run.end, Some(End::Returned(_)));
    }
    let parent = run.scopes[number as usize].parent;
    match run.tasks[parent.0 as usize].state {
        TaskState::Error => is_caught(run, parent),
        TaskState::Complete => true,
        // A handler is at work on it.
        _ => run.composites.get(&parent).is_some_and(|c| c.caught.is_some()),
    }
}
