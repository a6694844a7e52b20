//! `GateSatisfied`: a gate is open, because its instant was reached or somebody from outside said so. People who
//! must approve cannot be gone round.

use super::said;
use crate::error::{Error, Result};
use crate::time::Time;
use crate::work::settle::Turn;
use crate::work::{GateEnded, GateSatisfied, GateWait, Work};

pub(super) fn check(work: &Work, at: Time, event: &GateSatisfied) -> Result<u32> {
    let n = work.gate_waiting(&event.gate)?;
    said::why(event.why.as_ref())?;
    said::metadata(&event.evidence)?;
    let id = &event.gate;
    match (&work.gates[n as usize].gate.wait, &event.by) {
        (GateWait::Approval { required_approvers, .. }, _) => {
            let by = required_approvers.first().map(|name| format!(" --as {name}")).unwrap_or_default();
            let message = format!("gate {id} asks for approvals: `edgewise gate approve {id}{by}`");
            Err(Error::denied("wrong_gate", message))
        }
        (GateWait::Timer { wait_until }, None) if at < *wait_until => {
            Err(Error::conflict("too_early", format!("gate {id} opens at {wait_until}: that is not yet")))
        }
        (GateWait::Timer { .. }, _) | (_, Some(_)) => Ok(n),
        (_, None) => Err(Error::invalid("wrong_gate", format!("gate {id} is opened by somebody, and nobody is named"))),
    }
}

pub(super) fn apply(work: &mut Work, turn: &mut Turn<'_>, event: &GateSatisfied) {
    let Some(n) = work.gate_number(event.gate.as_str()) else { return };
    let GateSatisfied { by, why, evidence, .. } = event.clone();
    let ended = GateEnded { satisfied: true, by, why, at: turn.stamp.at, evidence };
    work.end_gate(n, ended, turn);
}
