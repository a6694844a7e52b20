//! The fold goes on where its bound on inline work stopped it; settling does the work.

use super::{Fold, Ignored};
use crate::run::Run;

pub(super) fn check(run: &Run) -> Result<(), Ignored> {
    if run.advancing.is_empty() { Err(Ignored::Duplicate) } else { Ok(()) }
}

pub(super) fn apply(_: &mut Fold<'_>) {}
