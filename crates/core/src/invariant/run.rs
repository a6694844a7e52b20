//! Runs: over when all tasks are, with the outcome the model gives; a cancel is the end of it, a freeze stops all.

use super::{Held, Step, broken, tasks};
use crate::event::{Event, TaskIx};
use crate::fold::Verdict;
use crate::plan::{Join, Resolution};
use crate::run::{End, Run};
use crate::state::{RunState, TaskState};

/// A run is where its tasks say it is: over exactly when all of them are, and how, by the first rule that matches.
pub fn run_done_iff_tasks_done(run: &Run) -> Held {
    let mut counts = [0; 11];
    let mut present = 0;
    let scopes = current(run);
    for task in tasks(run).filter(|t| scopes[run.tasks[t.0 as usize].scope as usize]) {
        counts[run.tasks[task.0 as usize].state as usize] += 1;
        present += 1;
    }
    // Loops and spreads of programs are counted with what they gave back.
    if (present == run.total() || !run.is_program()) && counts != run.counts {
        let message = format!("its tasks count {counts:?}, it counts {:?}", run.counts);
        return broken("run_done_iff_tasks_done", run, None, message);
    }
    let expected = expected(run, &counts);
    if run.state != expected {
        let message = format!("it is {:?} and should be {expected:?}", run.state);
        return broken("run_done_iff_tasks_done", run, None, message);
    }
    if run.state.is_done() != run.completed_at.known().is_some() {
        let message = format!("it is {:?} and ended at {:?}", run.state, run.completed_at);
        return broken("run_done_iff_tasks_done", run, None, message);
    }
    Ok(())
}

/// Which scopes are there and were not done anew since.
fn current(run: &Run) -> Vec<bool> {
    let mut current = vec![false; run.scopes.len()];
    for number in 0..run.scopes.len() {
        let Some(scope) = run.scopes.get(number) else { continue };
        let outer = run.tasks.get(scope.parent.0 as usize).map(|task| task.scope as usize);
        let made = || run.composites.get(&scope.parent)?.scope_at(scope.index);
        current[number] = number == 0 || (outer.is_some_and(|outer| current[outer]) && made() == Some(number as u32));
    }
    current
}

fn expected(run: &Run, counts: &[u32; 11]) -> RunState {
    let any = |state: TaskState| counts[state as usize] > 0;
    let open = match run.is_program() {
        true => run.planned && run.end.is_none(),
        false => tasks(run).any(|t| !run.tasks[t.0 as usize].state.is_done()),
    };
    if !run.planned {
        return if run.cancel.is_some() { RunState::Cancelled } else { RunState::Pending };
    }
    if !open {
        return outcome(run);
    }
    let leased = |t: TaskIx| run.tasks[t.0 as usize].state == TaskState::InProgress && run.is_leasable(t);
    if run.counts[TaskState::Pending as usize] == run.total() {
        RunState::Initializing
    } else if any(TaskState::EnqueuedForOrchestration) || any(TaskState::EnqueuedAsErrorForOrchestration) {
        RunState::EvaluatingResults
    } else if tasks(run).any(leased) {
        RunState::TasksInProcess
    } else if any(TaskState::Enqueued) || run.is_advancing() {
        RunState::EnqueuingTasks
    } else if any(TaskState::WaitingForRetry) {
        RunState::WaitingForRetry
    } else if super::holds_failures(run) && any(TaskState::Error) {
        RunState::BlockedByFailures
    } else {
        RunState::WaitingForDependencies
    }
}

/// The outcome once all tasks are done; what is inside of spreads counts through the spread.
fn outcome(run: &Run) -> RunState {
    if run.cancel.is_some() {
        return RunState::Cancelled;
    }
    if run.resolved.is_some() {
        return RunState::ResolvedManually;
    }
    match &run.end {
        Some(End::Returned(_)) => return RunState::Complete,
        Some(End::Failed(_)) => return RunState::Error,
        Some(End::Cancelled) => return RunState::Cancelled,
        None => {}
    }
    let root = || (0..run.plan.root().len()).map(TaskIx);
    let is = |t: TaskIx, state: TaskState| run.tasks[t.0 as usize].state == state;
    if root().any(|t| is(t, TaskState::Error) && !answered(run, t)) {
        return RunState::Error;
    }
    if root().any(|t| is(t, TaskState::Cancelled)) { RunState::Cancelled } else { RunState::Complete }
}

/// Handled: an edge that accepts FAILED and not SUCCESS led to something ready, or an `any` / `n` was satisfied.
fn answered(run: &Run, failed: TaskIx) -> bool {
    let region = run.plan.root();
    region.needed_by(failed.0).iter().any(|out| {
        let accepts = region.edge(out.edge).accepts;
        let wants_it = accepts.contains(Resolution::Failed) && !accepts.contains(Resolution::Success);
        let does_without = region.join(out.down) != Join::All;
        run.tasks[out.down as usize].ready_at.known().is_some() && (wants_it || does_without)
    })
}

/// After a cancel nothing is open, nothing becomes ready, nothing is leased, and no event changes that.
pub fn cancel_is_final(step: &Step<'_>) -> Held {
    let fail = |message: String| broken("cancel_is_final", step.after, None, message);
    let (before, after) = (step.before, step.after);
    if matches!(step.event, Event::RunRerunRequested(_)) && after.cancel.is_none() {
        return Ok(());
    }
    if before.cancel.is_some() && (after.cancel != before.cancel || after.completed_at != before.completed_at) {
        return fail(format!("{} changed the cancel", step.event.name()));
    }
    if after.cancel.is_none() {
        return Ok(());
    }
    let open = tasks(after).find(|t| !after.tasks[t.0 as usize].state.is_done());
    if open.is_some() || after.state != RunState::Cancelled || !after.timers.is_empty() {
        return fail(format!("after {} it is {:?} and task {open:?} is open", step.event.name(), after.state));
    }
    let moved = step.changes.moves.iter().find(|m| m.to != TaskState::Cancelled);
    let late =
        before.cancel.is_some() && !matches!(step.event, Event::PlanCreated(_)) && !step.changes.moves.is_empty();
    if moved.is_some() || late || !step.changes.ready.is_empty() {
        return fail(format!("{} moved {moved:?}", step.event.name()));
    }
    Ok(())
}

/// Between the event that freezes a run and the one that lets it go on nothing counts, and only these two change
/// whether it is frozen.
pub fn frozen_runs_rest(step: &Step<'_>) -> Held {
    let fail =
        |what: &str| broken("frozen_runs_rest", step.after, step.event.task(), format!("{} {what}", step.event.name()));
    let applied = !matches!(step.verdict, Verdict::Ignored(_));
    match step.event {
        Event::RunUnfrozen(_) if applied && step.after.frozen.is_some() => fail("left it frozen"),
        Event::RunFrozen(_) if applied && step.after.frozen.is_none() => fail("did not freeze it"),
        Event::RunUnfrozen(_) => Ok(()),
        _ if step.before.frozen.is_some() && applied => fail("counted in a frozen run"),
        Event::RunFrozen(_) => Ok(()),
        _ if step.before.frozen != step.after.frozen => fail("changed whether it is frozen"),
        _ => Ok(()),
    }
}
