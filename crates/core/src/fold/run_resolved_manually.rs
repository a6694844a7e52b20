//! An operator declares the run dealt with: what is open is cancelled, and the run ends as ResolvedManually.

use super::{Fold, Ignored, Refusal};
use crate::event::Request;
use crate::run::{Asked, Run};
use crate::state::RunState;
use crate::time::Time;

pub(super) fn check(run: &Run) -> Result<(), Ignored> {
    if !run.planned {
        return Err(Ignored::Unknown);
    }
    match run.state {
        RunState::ResolvedManually => Err(Ignored::Duplicate),
        RunState::Complete => Err(Ignored::Refused(Refusal::RUN_COMPLETE)),
        RunState::Cancelled => Err(Ignored::Refused(Refusal::RUN_CANCELLED)),
        _ => Ok(()),
    }
}

pub(super) fn apply(fold: &mut Fold<'_>, event: &Request) {
    fold.run.resolved = Some(Asked { by: event.by.clone(), why: event.why.clone(), at: fold.stamp.at });
    fold.run.completed_at = Time::NEVER;
    fold.stop_run();
}
