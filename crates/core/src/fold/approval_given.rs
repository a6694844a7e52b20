//! A person said yes. N approvals are N different permitted people. Who is permitted may grow with time: the instant
//! of the event decides, so that a refold decides the same.

use super::{Fold, Ignored};
use crate::event::Approved;
use crate::gate::{Approval, Wait};
use crate::plan::Work;
use crate::run::{Run, Task};
use crate::state::TaskState;
use crate::time::Time;

/// The gate's task while it is closed, and whether this person may speak to it.
pub(super) fn closed_gate<'a>(run: &'a Run, now: Time, event: &Approved) -> Result<&'a Task, Ignored> {
    let task = run.task(event.task).ok_or(Ignored::Unknown)?;
    let Work::Gate(gate) = &run.spec_of(event.task).work else { return Err(Ignored::Refused("it is not a gate")) };
    if !matches!(gate.wait, Wait::Approval { .. }) {
        return Err(Ignored::Refused("it is not an approval gate"));
    }
    if task.generation != event.generation {
        return Err(Ignored::Stale);
    }
    if !gate.may_speak(&event.by, task.ready_at, now) {
        return Err(Ignored::Denied);
    }
    match task.state {
        TaskState::InProgress => Ok(task),
        TaskState::Pending => Err(Ignored::Refused("the gate is not reached yet")),
        _ => Err(Ignored::Refused("the gate is not waiting any more")),
    }
}

pub(super) fn has_approved(run: &Run, event: &Approved) -> bool {
    run.approvals.get(&event.task).is_some_and(|list| list.iter().any(|a| a.by == event.by))
}

pub(super) fn check(run: &Run, now: Time, event: &Approved) -> Result<(), Ignored> {
    let open = closed_gate(run, now, event);
    if !matches!(open, Err(Ignored::Stale | Ignored::Unknown)) && has_approved(run, event) {
        return Err(Ignored::Duplicate);
    }
    open.map(|_| ())
}

pub(super) fn apply(fold: &mut Fold<'_>, event: &Approved) {
    let at = fold.stamp.at;
    let given = fold.run.approvals.entry(event.task).or_default();
    given.push(Approval { by: event.by.clone(), at });
    let names: Vec<&str> = given.iter().map(|a| a.by.as_str()).collect();
    let output = serde_json::json!({ "approved_by": names });
    let count = given.len();
    let Work::Gate(gate) = &fold.run.spec_of(event.task).work else { return };
    let Wait::Approval { count: needed, .. } = gate.wait else { return };
    if count >= needed as usize {
        fold.succeed(event.task, output);
    } else {
        fold.touch(event.task);
    }
}
