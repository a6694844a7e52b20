//! An operator leaves a task out; what follows is skipped too unless it accepts that.

use super::{Fold, Ignored, acted_on};
use crate::event::TaskAct;
use crate::run::{Asked, Reason, Run};
use crate::state::{Move, TaskState};

pub(super) fn check(run: &Run, act: &TaskAct) -> Result<(), Ignored> {
    let state = acted_on(run, act)?.state;
    if state == TaskState::Skipped {
        return Err(Ignored::Duplicate);
    }
    if state.is_done() { Err(Ignored::Refused("the task is done")) } else { Ok(()) }
}

pub(super) fn apply(fold: &mut Fold<'_>, act: &TaskAct) {
    fold.stop_within(act.task);
    let asked = Asked { by: act.by.clone(), why: act.why.clone(), at: fold.stamp.at };
    fold.because(act.task, Reason::Operator(Box::new(asked)));
    fold.finish(act.task, Move::SkippedByOperator, TaskState::Skipped);
}
