//! An operator lets the failures stand that a run holds: their out-edges resolve, and later failures travel at once.

use super::{Fold, Ignored, Refusal};
use crate::event::{Request, TaskIx};
use crate::plan::OnFailure;
use crate::run::{Asked, Run};
use crate::state::TaskState;

pub(super) fn check(run: &Run) -> Result<(), Ignored> {
    if !run.planned {
        return Err(Ignored::Unknown);
    }
    if run.given_up.is_some() {
        return Err(Ignored::Duplicate);
    }
    if run.state.is_done() {
        return Err(Ignored::Refused(Refusal::RUN_OVER));
    }
    if run.plan.on_failure != OnFailure::Hold {
        return Err(Ignored::Refused(Refusal::NOT_HELD));
    }
    if run.counts[TaskState::Error as usize] == 0 {
        return Err(Ignored::Refused(Refusal::HOLDS_NOTHING));
    }
    Ok(())
}

pub(super) fn apply(fold: &mut Fold<'_>, event: &Request) {
    fold.run.given_up = Some(Asked { by: event.by.clone(), why: event.why.clone(), at: fold.stamp.at });
    let failed: Vec<TaskIx> = fold.run.present().filter(|t| fold.state(*t) == TaskState::Error).collect();
    fold.done.extend(failed);
}
