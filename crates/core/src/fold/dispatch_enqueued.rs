//! A lease: one attempt of a task is a worker's. In pull this is the grant itself.

use super::{Fold, Ignored, Refusal};
use crate::event::{DispatchEnqueued, TimerKind};
use crate::run::Run;
use crate::state::{Move, TaskState};

pub(super) fn check(run: &Run, event: &DispatchEnqueued) -> Result<(), Ignored> {
    let task = run.task(event.task).ok_or(Ignored::Unknown)?;
    if task.token == event.token && task.attempt == event.attempt && task.generation == event.generation {
        return Err(Ignored::Duplicate);
    }
    if run.returned.get(&event.task).is_some_and(|tokens| tokens.contains(&event.token)) {
        return Err(Ignored::Stale);
    }
    if task.generation != event.generation || task.attempt + 1 != event.attempt || task.state != TaskState::Enqueued {
        return Err(Ignored::Stale);
    }
    if run.cancel.is_some() {
        return Err(Ignored::Refused(Refusal::RUN_CANCELLED));
    }
    if run.paused {
        return Err(Ignored::Refused(Refusal::RUN_PAUSED));
    }
    if event.attempt > run.spec_of(event.task).retry.most_attempts() {
        return Err(Ignored::Refused(Refusal::NO_ATTEMPT));
    }
    Ok(())
}

pub(super) fn apply(fold: &mut Fold<'_>, event: &DispatchEnqueued) {
    let at = fold.stamp.at;
    let task = fold.task_mut(event.task);
    task.attempt = event.attempt;
    task.token = event.token;
    task.started_at = at;
    if fold.run.started_at.known().is_none() {
        fold.run.started_at = at;
    }
    fold.clear_timers_of(event.task, TimerKind::Queue);
    fold.step(event.task, Move::Leased, TaskState::InProgress);
}
