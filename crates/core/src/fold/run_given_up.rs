//! An operator lets the failures stand that a run holds: their out-edges resolve, and later failures travel at once.

use super::{Fold, Ignored};
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
        return Err(Ignored::Refused("the run is over"));
    }
    if run.plan.on_failure != OnFailure::Hold {
        return Err(Ignored::Refused("its flow does not hold failures (`on_failure: hold`): cancel it, or resolve it"));
    }
    if run.counts[TaskState::Error as usize] == 0 {
        return Err(Ignored::Refused("it holds no failure: nothing of it has failed for good"));
    }
    Ok(())
}

pub(super) fn apply(fold: &mut Fold<'_>, event: &Request) {
    fold.run.given_up = Some(Asked { by: event.by.clone(), why: event.why.clone(), at: fold.stamp.at });
    let failed: Vec<TaskIx> = fold.run.present().filter(|t| fold.state(*t) == TaskState::Error).collect();
    fold.done.extend(failed);
}
