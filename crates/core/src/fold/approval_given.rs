//! A person said yes. N approvals are N different permitted people. Who is permitted may grow with time: the instant
//! of the event decides, so that a refold decides the same.

use super::{Fold, Ignored, Refusal};
use crate::event::{Approved, TaskIx};
use crate::gate::{Approval, Gate, Opens, Wait};
use crate::plan::Work;
use crate::run::{Run, Task};
use crate::state::TaskState;
use crate::time::Time;

/// The gate of a task in a generation.
pub(super) fn gate_of(run: &Run, ix: TaskIx, generation: u16) -> Result<(&Gate, &Task), Ignored> {
    let task = run.task(ix).ok_or(Ignored::Unknown)?;
    let Work::Gate(gate) = &run.spec_of(ix).work else { return Err(Ignored::Refused(Refusal::NO_GATE)) };
    if task.generation != generation {
        return Err(Ignored::Stale);
    }
    Ok((gate, task))
}

/// Whether a gate waits.
pub(super) fn is_closed(task: &Task) -> Result<(), Ignored> {
    match task.state {
        TaskState::InProgress => Ok(()),
        TaskState::Pending => Err(Ignored::Refused(Refusal::GATE_NOT_REACHED)),
        _ => Err(Ignored::Refused(Refusal::GATE_OVER)),
    }
}

/// Whether the gate asks people and waits, and this person may approve it.
pub(super) fn may_approve(run: &Run, now: Time, event: &Approved) -> Result<(), Ignored> {
    let (gate, task) = gate_of(run, event.task, event.generation)?;
    if gate.wait.opens() == Opens::Shared {
        return Err(Ignored::Refused(Refusal::SHARED));
    }
    if gate.wait.opens() != Opens::People {
        return Err(Ignored::Refused(Refusal::NO_APPROVAL_GATE));
    }
    if !gate.may_speak(&event.by, task.ready_at, now) {
        return Err(Ignored::Denied);
    }
    is_closed(task)
}

pub(super) fn has_approved(run: &Run, event: &Approved) -> bool {
    run.approvals.get(&event.task).is_some_and(|list| list.iter().any(|a| a.by == event.by))
}

pub(super) fn check(run: &Run, now: Time, event: &Approved) -> Result<(), Ignored> {
    let may = may_approve(run, now, event);
    if !matches!(may, Err(Ignored::Stale | Ignored::Unknown)) && has_approved(run, event) {
        return Err(Ignored::Duplicate);
    }
    may
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
