//! Generations: work that was opened again is new work. What was said of the old one does not count for it.

use crate::violation::{Held, ensure};
use edgewise_core::event::{AttemptRef, Event, Rerun, RerunFrom, TaskAct, TaskIx};
use edgewise_core::fold::Verdict;
use edgewise_core::invariant::Step;
use edgewise_core::state::TaskState;

/// Everything that must hold of generations, of one step.
pub fn check(step: &Step<'_>) -> Held {
    a_rerun_is_of_the_run_that_was_meant(step)?;
    old_names_change_nothing(step)?;
    old_children_change_nothing(step)?;
    reopened_work_is_bare(step)?;
    timers_are_of_this_generation(step)
}

/// Whoever names a generation, attempt or token that is not the task's changes nothing.
fn old_names_change_nothing(step: &Step<'_>) -> Held {
    let Some((task, generation)) = named(step.event) else { return Ok(()) };
    let Some(was) = step.before.task(task) else { return Ok(()) };
    let lease = lease(step.event).is_none_or(|lease| (lease.attempt, lease.token) == (was.attempt, was.token));
    let current = generation == was.generation && lease;
    ensure(current || step.verdict != Verdict::Applied, "old_names_change_nothing", || {
        let name = step.event.name();
        format!("{name} of generation {generation} counted for task {} of generation {}", task.0, was.generation)
    })
}

/// Whoever looked at the run before it was opened again opens nothing.
fn a_rerun_is_of_the_run_that_was_meant(step: &Step<'_>) -> Held {
    let Event::RunRerunRequested(rerun) = step.event else { return Ok(()) };
    let meant = rerun.generation == step.before.generation;
    ensure(meant || step.verdict != Verdict::Applied, "a_rerun_is_of_the_run_that_was_meant", || {
        format!("a rerun of generation {} counted for {}", rerun.generation, step.before.generation)
    })
}

/// Of children only the one that is waited for counts; of one that its task went on without it is known that it is over.
fn old_children_change_nothing(step: &Step<'_>) -> Held {
    let Event::LinkResolved(told) = step.event else { return Ok(()) };
    let entry = step.before.task(told.link.task);
    let waited = entry.is_some_and(|task| {
        (task.generation, task.attempt, task.state) == (told.link.generation, told.link.attempt, TaskState::InProgress)
    });
    let left = step.before.disowned.contains_key(&told.link);
    ensure(waited || left || step.verdict != Verdict::Applied, "old_names_change_nothing", || format!("{told:?}"))?;
    let moved = step.changes.moves.iter().any(|step| step.task == told.link.task);
    ensure(!left || !moved, "old_names_change_nothing", || format!("{told:?} moved its task"))
}

/// The task and generation that an event is about.
fn named(event: &Event) -> Option<(TaskIx, u16)> {
    let act = |act: &TaskAct| (act.task, act.generation);
    Some(match event {
        Event::DispatchEnqueued(e) => (e.task, e.generation),
        Event::TimerFired(e) => (e.timer.task, e.timer.generation),
        Event::ApprovalGiven(e) | Event::ApprovalWithdrawn(e) | Event::GateRejected(e) => (e.task, e.generation),
        Event::GateSatisfied(e) => (e.task, e.generation),
        Event::GateEscalated(e) => (e.task, e.generation),
        Event::TaskResolvedManually(e)
        | Event::TaskResetForRetry(e)
        | Event::TaskSkipRequested(e)
        | Event::TaskCancelRequested(e) => act(e),
        Event::TaskCompletedManually(e) => act(&e.act),
        Event::RunRerunRequested(Rerun { from: RerunFrom::Task { task, generation }, .. }) => (*task, *generation),
        _ => lease(event).map(|lease| (lease.task, lease.generation))?,
    })
}

/// The lease that an event must hold to count.
fn lease(event: &Event) -> Option<AttemptRef> {
    match event {
        Event::DispatchReturned(lease) => Some(*lease),
        Event::TaskHeartbeat(e) => Some(e.attempt),
        Event::TaskFinished(e) => Some(e.attempt()),
        _ => None,
    }
}

/// The next generation has no attempt, no lease and nobody's yes, and has asked nobody more.
fn reopened_work_is_bare(step: &Step<'_>) -> Held {
    for task in step.before.present() {
        let at = task.0 as usize;
        let is = &step.after.tasks[at];
        if is.generation == step.before.tasks[at].generation {
            continue;
        }
        // A sub-run needs nobody to begin its first attempt.
        let first = u16::from(step.after.sub_run(task).is_some());
        let asked = step.after.approvals.contains_key(&task) || step.after.escalated.contains_key(&task);
        let bare = is.attempt <= first && is.token == Default::default() && !asked;
        ensure(bare, "reopened_work_is_bare", || {
            format!("generation {} of task {at} began with what was of the one before", is.generation)
        })?;
    }
    Ok(())
}

/// No timer is of a generation that is over.
fn timers_are_of_this_generation(step: &Step<'_>) -> Held {
    let generation = |task: TaskIx| step.after.tasks[task.0 as usize].generation;
    let old = step.after.timers.keys().find(|key| key.generation != generation(key.task));
    ensure(old.is_none(), "timers_are_of_this_generation", || format!("{old:?} is set, the task has another"))
}
