//! A task of another run waits for this one. Said when the run is made, and again if a later attempt goes on with it.

use super::{Fold, Ignored, Refusal};
use crate::event::LinkRequested;
use crate::run::Run;

pub(super) fn check(run: &Run, event: &LinkRequested) -> Result<(), Ignored> {
    if run.about.is_none() {
        return Err(Ignored::Unknown);
    }
    match &run.parent {
        None if run.planned => Err(Ignored::Refused(Refusal::NOT_A_CHILD)),
        None => Ok(()),
        Some(parent) if parent == event => Err(Ignored::Duplicate),
        Some(parent) if (parent.run, parent.link.task) != (event.run, event.link.task) => {
            Err(Ignored::Refused(Refusal::CHILD_OF_ANOTHER))
        }
        Some(parent) if event.link < parent.link => Err(Ignored::Stale),
        Some(_) => Ok(()),
    }
}

pub(super) fn apply(fold: &mut Fold<'_>, event: &LinkRequested) {
    fold.run.parent = Some(event.clone());
}
