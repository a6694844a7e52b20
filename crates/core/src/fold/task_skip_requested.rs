//! An operator leaves a task out; what follows is skipped too unless it accepts that.

use super::{Fold, Ignored, acted_on_open};
use crate::event::TaskAct;
use crate::run::Run;
use crate::state::{Move, TaskState};

pub(super) fn check(run: &Run, act: &TaskAct) -> Result<(), Ignored> {
    acted_on_open(run, act, TaskState::Skipped)
}

pub(super) fn apply(fold: &mut Fold<'_>, act: &TaskAct) {
    fold.leave_out(act, Move::SkippedByOperator, TaskState::Skipped);
}
