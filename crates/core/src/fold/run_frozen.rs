//! An operator lets nothing but reads work on a run: from here on no event of it counts but the one that lets it go on.
//!
//! The store keeps a mark beside the stream, set in the same append, so that nothing else is written to it either.

use super::{Fold, Ignored, Refusal};
use crate::event::{Event, Request};
use crate::run::{Asked, Run};

pub(super) fn check(run: &Run) -> Result<(), Ignored> {
    if run.about.is_none() { Err(Ignored::Unknown) } else { Ok(()) }
}

/// What counts while a run is frozen. Also of a run that is over: a rerun would open it.
pub(super) fn rests(run: &Run, event: &Event) -> Result<(), Ignored> {
    match event {
        _ if run.frozen.is_none() => Ok(()),
        Event::RunUnfrozen(_) => Ok(()),
        Event::RunFrozen(_) => Err(Ignored::Duplicate),
        _ => Err(Ignored::Refused(Refusal::RUN_FROZEN)),
    }
}

pub(super) fn apply(fold: &mut Fold<'_>, event: &Request) {
    fold.run.frozen = Some(Asked { by: event.by.clone(), why: event.why.clone(), at: fold.stamp.at });
}
