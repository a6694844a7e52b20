//! An operator has finished work done again: all of it, what failed, or one task; each with all that follows.
//!
//! The only act that opens what succeeded, and the only one that a cancelled run takes: the cancel is over then.

use super::{Fold, Ignored, Refusal};
use crate::event::{Rerun, RerunFrom, TaskIx};
use crate::plan::Resolution;
use crate::rule::Opening;
use crate::run::{Asked, End, Reason, Run};

pub(super) fn check(run: &Run, event: &Rerun) -> Result<(), Ignored> {
    if !run.planned {
        return Err(Ignored::Unknown);
    }
    if event.generation != run.generation {
        return Err(Ignored::Stale);
    }
    if run.generation == u16::MAX {
        return Err(Ignored::Refused(Refusal::TOO_OFTEN));
    }
    match event.from {
        RerunFrom::Start if !run.state.is_done() => Err(Ignored::Refused(Refusal::NOT_OVER)),
        RerunFrom::Start => Ok(()),
        RerunFrom::Failure if Opening::of_failure(run).is_some() => Ok(()),
        RerunFrom::Failure if matches!(run.end, Some(End::Failed(_))) => Err(Ignored::Refused(Refusal::FAILED_ITSELF)),
        RerunFrom::Failure => Err(Ignored::Refused(Refusal::NOTHING_FAILED)),
        RerunFrom::Task { task, generation } => check_task(run, task, generation),
    }
}

fn check_task(run: &Run, task: TaskIx, generation: u16) -> Result<(), Ignored> {
    let entry = run.task(task).ok_or(Ignored::Unknown)?;
    if entry.generation != generation {
        return Err(Ignored::Stale);
    }
    if !entry.state.is_done() {
        return Err(Ignored::Refused(Refusal::TASK_NOT_DONE));
    }
    if let Some(why) = run.sealed(task) {
        return Err(Ignored::Refused(why));
    }
    if run.in_chain(task) {
        return if run.has_begun(task) { Ok(()) } else { Err(Ignored::Refused(Refusal::PROGRAM_STOPPED)) };
    }
    match run.reasons.get(&task) {
        Some(Reason::Upstream { .. }) => Err(Ignored::Refused(Refusal::LEFT_OUT)),
        Some(Reason::When) => Err(Ignored::Refused(Refusal::LEFT_OUT_BY_WHEN)),
        // What it needs was stopped with it.
        _ if !run.has_begun(task) && is_hopeless(run, task) => Err(Ignored::Refused(Refusal::LEFT_OUT)),
        _ => Ok(()),
    }
}

/// Whether what a task needs would decide against it at once.
fn is_hopeless(run: &Run, task: TaskIx) -> bool {
    let scope = run.scope_of(task);
    let region = run.region_of(scope);
    let node = task.0 - scope.task;
    let refused = region.needs(node).filter(|(_, need)| {
        let fact: Option<Resolution> = run.fact_of(TaskIx(scope.task + need.up));
        fact.is_some_and(|fact| !need.accepts.contains(fact))
    });
    let degree = region.in_degree(node);
    refused.count() as u32 > degree - region.join(node).threshold(degree)
}

/// How many tasks a rerun would open; nothing if it does not count.
pub fn reopens(run: &Run, event: &Rerun) -> Option<u32> {
    check(run, event).ok()?;
    opening(run, event).map(|opening| opening.len(run))
}

fn opening(run: &Run, event: &Rerun) -> Option<Opening> {
    match event.from {
        RerunFrom::Start => Some(Opening::whole(run)),
        RerunFrom::Failure => Opening::of_failure(run),
        RerunFrom::Task { task, .. } => Some(Opening::of(run, task)),
    }
}

pub(super) fn apply(fold: &mut Fold<'_>, event: &Rerun) {
    let Some(mut opening) = opening(fold.run, event) else { return };
    if event.from == RerunFrom::Failure {
        let asked = Asked { by: event.by.clone(), why: event.why.clone(), at: fold.stamp.at };
        opening = opening.adopting(fold.run, &asked);
    }
    fold.forget_end();
    if fold.run.rules() >= 2 && !matches!(event.from, RerunFrom::Task { .. }) {
        opening.stands = fold.forget_give_up();
    }
    fold.open(&opening, None);
}
