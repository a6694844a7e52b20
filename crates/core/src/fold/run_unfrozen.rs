//! An operator lets a frozen run go on where it was. A run that only had a mark goes on too, and here is who let it.

use super::{Fold, Ignored};
use crate::event::Unfrozen;
use crate::run::Run;

pub(super) fn check(run: &Run, event: &Unfrozen) -> Result<(), Ignored> {
    if run.about.is_none() {
        return Err(Ignored::Unknown);
    }
    if run.frozen.is_some() || event.mark.is_some() { Ok(()) } else { Err(Ignored::Duplicate) }
}

pub(super) fn apply(fold: &mut Fold<'_>) {
    fold.run.frozen = None;
}
