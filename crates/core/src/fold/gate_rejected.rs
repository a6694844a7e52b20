//! A person said no: one no is enough, and the gate's task fails as `rejected`. What waits for something outside is
//! rejected by whoever knows that it will not come.

use super::approval_given::{gate_of, is_closed};
use super::{Fold, Ignored, Refusal};
use crate::event::{Approved, Failure};
use crate::gate::Opens;
use crate::run::Run;
use crate::time::Time;

pub(super) fn check(run: &Run, now: Time, event: &Approved) -> Result<(), Ignored> {
    let (gate, task) = gate_of(run, event.task, event.generation)?;
    match gate.wait.opens() {
        Opens::Itself => Err(Ignored::Refused(Refusal::NO_APPROVAL_GATE)),
        Opens::Shared => Err(Ignored::Refused(Refusal::SHARED)),
        Opens::People | Opens::Outside if !gate.may_speak(&event.by, task.ready_at, now) => Err(Ignored::Denied),
        Opens::People | Opens::Outside => is_closed(task),
    }
}

pub(super) fn apply(fold: &mut Fold<'_>, event: &Approved) {
    let message = match &event.comment {
        Some(comment) => format!("rejected by {}: {comment}", event.by),
        None => format!("rejected by {}", event.by),
    };
    fold.fail(event.task, Failure::new("rejected", message));
}
