//! `GateLeft`: a task of a run goes on without a gate, by its own deadline or because somebody ended it.

use crate::error::{Error, Result};
use crate::work::settle::Turn;
use crate::work::{GateAwaited, Work};

pub(super) fn check(work: &Work, event: &GateAwaited) -> Result<u32> {
    let n = work.gate_waiting(&event.gate)?;
    let GateAwaited { gate, waiter } = event;
    if !work.waits_at(n, waiter) {
        let message = format!("no such task of run {} waits for gate {gate}", waiter.run);
        return Err(Error::conflict("already_known", message));
    }
    Ok(n)
}

pub(super) fn apply(work: &mut Work, turn: &mut Turn<'_>, event: &GateAwaited) {
    work.leave(&event.gate, &event.waiter);
    turn.changed.gates.insert(event.gate.clone());
    turn.changed.left.push((event.waiter.run, event.waiter.link));
}
