//! `GateWithdrawn`: a person took their yes back, as long as the gate is not open.

use super::said;
use crate::error::{Error, Result};
use crate::work::settle::Turn;
use crate::work::{GateActed, NoteKind, Work};

pub(super) fn check(work: &Work, event: &GateActed) -> Result<u32> {
    let n = work.gate_waiting(&event.gate)?;
    said::why(event.comment.as_ref())?;
    let gate = &work.gates[n as usize].gate;
    if !gate.approvals.iter().any(|approval| approval.by == event.by) {
        let message = format!("{} has not approved gate {}: there is nothing to take back", event.by, gate.id);
        return Err(Error::conflict("not_approved", message));
    }
    Ok(n)
}

pub(super) fn apply(work: &mut Work, turn: &mut Turn<'_>, event: &GateActed) {
    let Some(n) = work.gate_number(event.gate.as_str()) else { return };
    work.gate_mut(n).gate.approvals.retain(|approval| approval.by != event.by);
    turn.changed.gates.insert(event.gate.clone());
    turn.note(&event.gate, NoteKind::Withdrawn { why: event.comment.clone() });
}
