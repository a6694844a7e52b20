//! Leases again: what became ready during the pause is offered now.

use super::{Fold, Ignored, Refusal};
use crate::event::TaskIx;
use crate::run::Run;
use crate::state::TaskState;

pub(super) fn check(run: &Run) -> Result<(), Ignored> {
    if run.about.is_none() {
        return Err(Ignored::Unknown);
    }
    if run.paused {
        // Also of a run that ended meanwhile: ledgers have this, and it must fold to the same rows for ever.
        return Ok(());
    }
    Err(if run.state.is_done() { Ignored::Refused(Refusal::RUN_OVER) } else { Ignored::Duplicate })
}

pub(super) fn apply(fold: &mut Fold<'_>) {
    fold.run.paused = false;
    fold.look_at_links();
    if fold.run.counts[TaskState::Enqueued as usize] == 0 {
        return;
    }
    let enqueued = fold.run.present().filter(|t| fold.state(*t) == TaskState::Enqueued);
    let ready: Vec<TaskIx> = enqueued.collect();
    fold.changes.ready.extend(ready);
}
