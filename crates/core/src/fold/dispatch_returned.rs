//! A lease that never reached its worker: the task is ready again and the attempt is not spent.

use super::{Fold, Ignored};
use crate::event::AttemptRef;
use crate::id::TokenHash;
use crate::run::Run;
use crate::state::{Move, TaskState};

pub(super) fn check(run: &Run, event: &AttemptRef) -> Result<(), Ignored> {
    let task = run.task(event.task).ok_or(Ignored::Unknown)?;
    if is_current(run, event) && task.state == TaskState::InProgress { Ok(()) } else { Err(Ignored::Stale) }
}

/// Whether generation, attempt and token are the task's current ones.
pub(super) fn is_current(run: &Run, event: &AttemptRef) -> bool {
    run.task(event.task).is_some_and(|task| {
        task.generation == event.generation && task.attempt == event.attempt && task.token == event.token
    }) && event.attempt > 0
}

pub(super) fn apply(fold: &mut Fold<'_>, event: &AttemptRef) {
    // The attempt's number will be given again; the grant that came back must not come with it.
    fold.run.returned.entry(event.task).or_default().push(event.token);
    let task = fold.task_mut(event.task);
    task.attempt -= 1;
    task.token = TokenHash::default();
    fold.enqueue(event.task, Move::Returned);
}
