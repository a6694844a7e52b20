//! No new leases for now. What runs goes on, deadlines too: a flag, not a state.

use super::{Fold, Ignored, Refusal};
use crate::run::Run;

pub(super) fn check(run: &Run) -> Result<(), Ignored> {
    if run.about.is_none() {
        return Err(Ignored::Unknown);
    }
    if run.paused {
        return Err(Ignored::Duplicate);
    }
    if run.state.is_done() { Err(Ignored::Refused(Refusal::RUN_OVER)) } else { Ok(()) }
}

pub(super) fn apply(fold: &mut Fold<'_>) {
    fold.run.paused = true;
}
