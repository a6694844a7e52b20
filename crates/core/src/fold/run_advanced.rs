//! The fold goes on where its bound on inline work stopped it; settling does the work.

use super::{Fold, Ignored};
use crate::run::Run;

pub(super) fn check(run: &Run) -> Result<(), Ignored> {
    if run.is_advancing() { Ok(()) } else { Err(Ignored::Duplicate) }
}

pub(super) fn apply(fold: &mut Fold<'_>) {
    fold.moving.extend(std::mem::take(&mut fold.run.stalled));
}
