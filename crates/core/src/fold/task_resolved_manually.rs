//! An operator declares a task dealt with, without output: whoever reads it gets null.

use super::{Fold, Ignored, Refusal, acted_on};
use crate::event::TaskAct;
use crate::run::Run;
use crate::state::{Move, TaskState};

/// The same for resolve and complete: not for what succeeded already.
pub(super) fn check(run: &Run, act: &TaskAct) -> Result<(), Ignored> {
    match acted_on(run, act)?.state {
        TaskState::Complete => Err(Ignored::Refused(Refusal::TASK_COMPLETE)),
        TaskState::ResolvedManually => Err(Ignored::Refused(Refusal::TASK_RESOLVED)),
        state if state.is_done() && run.in_chain(act.task) && !run.stopped_at(act.task) => {
            Err(Ignored::Refused(Refusal::DONE_IN_CHAIN))
        }
        _ => Ok(()),
    }
}

pub(super) fn apply(fold: &mut Fold<'_>, act: &TaskAct) {
    make_open(fold, act);
    fold.finish(act.task, Move::ResolvedByOperator, TaskState::ResolvedManually);
}

/// A done task is opened again first; a spread at work is stopped. One that had begun answers what it began for, as if
/// it had succeeded.
pub(super) fn make_open(fold: &mut Fold<'_>, act: &TaskAct) {
    if fold.state(act.task).is_done() {
        let ready_at = fold.run.tasks[act.task.0 as usize].ready_at;
        fold.reopen(act.task);
        fold.task_mut(act.task).ready_at = ready_at;
    }
    fold.stop_within(act.task);
    fold.run.reasons.remove(&act.task);
}
