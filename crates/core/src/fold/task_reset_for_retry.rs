//! An operator gives a failed task new attempts: the next generation, ready, with its count at zero.

use super::{Fold, Ignored, Refusal, acted_on};
use crate::event::TaskAct;
use crate::plan::Work;
use crate::run::Run;
use crate::state::TaskState;

pub(super) fn check(run: &Run, act: &TaskAct) -> Result<(), Ignored> {
    if acted_on(run, act)?.state != TaskState::Error {
        return Err(Ignored::Refused(Refusal::TASK_NOT_FAILED));
    }
    match run.spec_of(act.task).work {
        _ if run.in_chain(act.task) && !run.stopped_at(act.task) => Err(Ignored::Refused(Refusal::DONE_IN_CHAIN)),
        Work::Spread(_) => Err(Ignored::Refused(Refusal::SPREAD)),
        _ if run.composites.contains_key(&act.task) => Err(Ignored::Refused(Refusal::COMPOSITE)),
        _ => Ok(()),
    }
}

pub(super) fn apply(fold: &mut Fold<'_>, act: &TaskAct) {
    fold.reopen(act.task);
    fold.ready(act.task);
}
