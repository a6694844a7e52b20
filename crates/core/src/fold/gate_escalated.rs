//! A step of a gate's `escalate` fell due while it was closed: more people are asked. Who may approve follows from the
//! instant alone, with this event or without it; what it changes is that everybody is told, each step once, in order.

use super::approval_given::{gate_of, is_closed};
use super::{Fold, Ignored};
use crate::event::GateEscalated;
use crate::run::Run;
use crate::time::Time;

pub(super) fn check(run: &Run, now: Time, event: &GateEscalated) -> Result<(), Ignored> {
    let (_, task) = gate_of(run, event.task, event.generation)?;
    run.escalation(event.task, event.step).ok_or(Ignored::Unknown)?;
    let next = run.next_step(event.task);
    if event.step < next {
        return Err(Ignored::Duplicate);
    }
    is_closed(task)?;
    let due = run.escalates_at(event.task, event.step).is_some_and(|due| due <= now);
    if event.step == next && due { Ok(()) } else { Err(Ignored::Early) }
}

pub(super) fn apply(fold: &mut Fold<'_>, event: &GateEscalated) {
    let at = fold.stamp.at;
    fold.run.escalated.entry(event.task).or_default().push(at);
    fold.changes.escalated.push(event.task);
    fold.touch(event.task);
    fold.await_escalation(event.task);
}
