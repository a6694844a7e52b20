//! The fold goes on where its bound on inline work stopped it; settling does the work.

use super::{Fold, Ignored};
use crate::run::Run;

pub(super) fn check(run: &Run) -> Result<(), Ignored> {
    if run.is_advancing() { Ok(()) } else { Err(Ignored::Duplicate) }
}

pub(super) fn apply(fold: &mut Fold<'_>) {
    // Each takes a statement at least. Those that this event cannot come to stay where they are: taking all of them
    // each time would cost a wide spread the square of its items.
    let reach = fold.budget as usize;
    let within = std::iter::from_fn(|| fold.run.stalled.pop_first()).take(reach);
    fold.moving.extend(within);
}
