//! A person said no: one no is enough, and the gate's task fails as `rejected`.

use super::approval_given::closed_gate;
use super::{Fold, Ignored};
use crate::event::{Approved, Failure};
use crate::run::Run;
use crate::time::Time;

pub(super) fn check(run: &Run, now: Time, event: &Approved) -> Result<(), Ignored> {
    closed_gate(run, now, event).map(|_| ())
}

pub(super) fn apply(fold: &mut Fold<'_>, event: &Approved) {
    let message = match &event.comment {
        Some(comment) => format!("rejected by {}: {comment}", event.by),
        None => format!("rejected by {}", event.by),
    };
    fold.fail(event.task, Failure::new("rejected", message));
}
