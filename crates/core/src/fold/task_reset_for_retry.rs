//! An operator gives a failed task new attempts: the next generation, ready, with its count at zero.

use super::{DONE_IN_CHAIN, Fold, Ignored, acted_on};
use crate::event::TaskAct;
use crate::plan::Work;
use crate::run::Run;
use crate::state::TaskState;

const INSIDE: &str = "it is reset through the task in it that failed, or rerun as a whole";

pub(super) fn check(run: &Run, act: &TaskAct) -> Result<(), Ignored> {
    if acted_on(run, act)?.state != TaskState::Error {
        return Err(Ignored::Refused("only a failed task can be reset"));
    }
    match run.spec_of(act.task).work {
        _ if run.in_chain(act.task) && !run.stopped_at(act.task) => Err(Ignored::Refused(DONE_IN_CHAIN)),
        Work::Spread(_) => Err(Ignored::Refused("a spread is reset through its failed items")),
        _ if run.composites.contains_key(&act.task) => Err(Ignored::Refused(INSIDE)),
        _ => Ok(()),
    }
}

pub(super) fn apply(fold: &mut Fold<'_>, act: &TaskAct) {
    fold.reopen(act.task);
    fold.ready(act.task);
}
