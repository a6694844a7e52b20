//! `GateRejected`: a gate stays closed for good. Whoever waits for it is told that it cannot be satisfied any more.

use super::said;
use crate::error::{Error, Result};
use crate::work::settle::Turn;
use crate::work::{GateEnded, GateRejected, GateWait, Work};

pub(super) fn check(work: &Work, event: &GateRejected) -> Result<u32> {
    let n = work.gate_waiting(&event.gate)?;
    said::why(event.why.as_ref())?;
    match &work.gates[n as usize].gate.wait {
        GateWait::Approval { required_approvers, .. }
            if !required_approvers.is_empty() && !required_approvers.contains(&event.by) =>
        {
            let message = format!(
                "{} may not reject gate {}: those who may approve it may, {}; `edgewise gate reject {} --as {}`",
                event.by,
                event.gate,
                said::names(required_approvers),
                event.gate,
                required_approvers[0]
            );
            Err(Error::denied("not_an_approver", message))
        }
        _ => Ok(n),
    }
}

pub(super) fn apply(work: &mut Work, turn: &mut Turn<'_>, event: &GateRejected) {
    let Some(n) = work.gate_number(event.gate.as_str()) else { return };
    let by = Some(event.by.clone());
    work.end_gate(
        n,
        GateEnded { satisfied: false, by, why: event.why.clone(), at: turn.stamp.at, evidence: None },
        turn,
    );
}
