//! `GateMade`: there is a gate. Whoever pointed to its id before waits for it from now on.

use super::said;
use crate::error::Result;
use crate::work::settle::Turn;
use crate::work::{GateMade, GateWaiters, NoteKind, Work, WorkGate};

pub(super) fn check(work: &Work, event: &GateMade) -> Result<()> {
    work.free(&event.id)?;
    event.wait.check()?;
    event.title.as_deref().map_or(Ok(()), said::title)
}

pub(super) fn apply(work: &mut Work, turn: &mut Turn<'_>, event: &GateMade) {
    work.insert_gate(WorkGate {
        id: event.id.clone(),
        wait: event.wait.clone(),
        title: event.title.clone(),
        approvals: Vec::new(),
        tasks: GateWaiters::default(),
        ended: None,
        created_by: event.by.clone(),
        created_at: turn.stamp.at,
    });
    turn.changed.gates.insert(event.id.clone());
    turn.note(&event.id, NoteKind::Created);
}
