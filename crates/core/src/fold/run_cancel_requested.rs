//! Nothing of this run may start any more, whatever it accepts. Every open task and edge is resolved.

use super::{Fold, Ignored, Refusal};
use crate::event::Request;
use crate::run::{Asked, Run};

pub(super) fn check(run: &Run) -> Result<(), Ignored> {
    if run.about.is_none() {
        return Err(Ignored::Unknown);
    }
    if run.cancel.is_some() {
        return Err(Ignored::Duplicate);
    }
    if run.state.is_done() { Err(Ignored::Refused(Refusal::RUN_OVER)) } else { Ok(()) }
}

pub(super) fn apply(fold: &mut Fold<'_>, event: &Request) {
    fold.run.cancel = Some(Asked { by: event.by.clone(), why: event.why.clone(), at: fold.stamp.at });
    fold.stop_run();
}
