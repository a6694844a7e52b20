//! `GateApproved`: a person said yes. Different people, permitted ones only; the last one needed opens the gate.

use super::said;
use crate::error::{Error, Result};
use crate::gate::Approval;
use crate::work::settle::Turn;
use crate::work::{GateActed, GateEnded, GateWait, NoteKind, Work};

pub(super) fn check(work: &Work, event: &GateActed) -> Result<u32> {
    let n = work.gate_waiting(&event.gate)?;
    let gate = &work.gates[n as usize].gate;
    said::why(event.comment.as_ref())?;
    let GateWait::Approval { required_approvers, .. } = &gate.wait else {
        let id = &gate.id;
        let message = match &gate.wait {
            GateWait::Timer { wait_until } => {
                format!("gate {id} takes no approvals: it opens by itself at {wait_until}")
            }
            wait => format!(
                "gate {id} takes no approvals, it waits for something {}: `edgewise gate satisfy {id}` opens it",
                if matches!(wait, GateWait::Webhook) { "to call its address" } else { "in another system" }
            ),
        };
        return Err(Error::invalid("wrong_gate", message));
    };
    if !gate.wait.may_speak(&event.by) {
        let message = format!(
            "{} may not approve gate {}: it asks for {}; they say who they are, `edgewise gate approve {} --as {}`",
            event.by,
            gate.id,
            said::names(required_approvers),
            gate.id,
            required_approvers[0]
        );
        return Err(Error::denied("not_an_approver", message));
    }
    if gate.approvals.iter().any(|approval| approval.by == event.by) {
        let message = format!("{} has approved gate {} already: it takes different people", event.by, gate.id);
        return Err(Error::conflict("already_approved", message));
    }
    Ok(n)
}

pub(super) fn apply(work: &mut Work, turn: &mut Turn<'_>, event: &GateActed) {
    let Some(n) = work.gate_number(event.gate.as_str()) else { return };
    let at = turn.stamp.at;
    let gate = &mut work.gate_mut(n).gate;
    gate.approvals.push(Approval { by: event.by.clone(), at });
    let enough = gate.needed().is_some_and(|needed| gate.approvals.len() >= needed);
    turn.changed.gates.insert(event.gate.clone());
    turn.note(&event.gate, NoteKind::Approved { why: event.comment.clone() });
    if enough {
        let by = Some(event.by.clone());
        work.end_gate(n, GateEnded { satisfied: true, by, why: event.comment.clone(), at, evidence: None }, turn);
    }
}
