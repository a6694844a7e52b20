//! An operator cancels one task; what follows is cancelled too unless it accepts that.

use super::{Fold, Ignored, acted_on_open};
use crate::event::TaskAct;
use crate::run::Run;
use crate::state::{Move, TaskState};

pub(super) fn check(run: &Run, act: &TaskAct) -> Result<(), Ignored> {
    acted_on_open(run, act, TaskState::Cancelled)
}

pub(super) fn apply(fold: &mut Fold<'_>, act: &TaskAct) {
    fold.leave_out(act, Move::Cancelled, TaskState::Cancelled);
}
