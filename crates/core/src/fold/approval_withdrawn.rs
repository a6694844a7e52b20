//! A person took their yes back, which they may until the gate opens.

use super::approval_given::{has_approved, may_approve};
use super::{Fold, Ignored, Refusal};
use crate::event::Approved;
use crate::run::Run;
use crate::time::Time;

pub(super) fn check(run: &Run, now: Time, event: &Approved) -> Result<(), Ignored> {
    may_approve(run, now, event)?;
    if has_approved(run, event) { Ok(()) } else { Err(Ignored::Refused(Refusal::NO_APPROVAL)) }
}

pub(super) fn apply(fold: &mut Fold<'_>, event: &Approved) {
    if let Some(given) = fold.run.approvals.get_mut(&event.task) {
        given.retain(|a| a.by != event.by);
        if given.is_empty() {
            fold.run.approvals.remove(&event.task);
        }
    }
    fold.touch(event.task);
}
