//! `GateImported`: there is a gate as it was elsewhere, with who has said yes to it and how it ended.

use super::said;
use crate::error::{Error, Result};
use crate::work::settle::Turn;
use crate::work::{NoteKind, Work, WorkGate};
use std::collections::BTreeSet;

pub(super) fn check(work: &Work, gate: &WorkGate) -> Result<()> {
    let bad = |what: &str| Err(Error::invalid("bad_gate", format!("gate {} {what}", gate.id)));
    work.free(&gate.id)?;
    gate.wait.check()?;
    gate.title.as_deref().map_or(Ok(()), said::title)?;
    if !gate.tasks.is_empty() {
        return bad("is waited for by runs elsewhere: leave its tasks out");
    }
    said::why(gate.ended.as_ref().and_then(|ended| ended.why.as_ref()))?;
    let satisfied = gate.ended.as_ref().is_some_and(|ended| ended.satisfied);
    let Some(needed) = gate.needed() else {
        return if gate.approvals.is_empty() { Ok(()) } else { bad("is not opened by people, and some approved it") };
    };
    let people: BTreeSet<_> = gate.approvals.iter().map(|approval| &approval.by).collect();
    if people.len() < gate.approvals.len() {
        return bad("was approved twice by somebody: it takes different people");
    }
    if !people.iter().all(|who| gate.wait.may_speak(who)) {
        return bad("was approved by somebody who is not asked");
    }
    match (people.len() >= needed, satisfied) {
        (true, false) => bad("has all the approvals it needs and is not open"),
        (false, true) => bad("is open without the approvals that it needs"),
        _ => Ok(()),
    }
}

pub(super) fn apply(work: &mut Work, turn: &mut Turn<'_>, gate: &WorkGate) {
    let at = turn.stamp.at;
    let mut gate = gate.clone();
    gate.created_at = gate.created_at.min(at);
    let ended = gate.ended.iter_mut().map(|ended| &mut ended.at);
    gate.approvals.iter_mut().map(|approval| &mut approval.at).chain(ended).for_each(|then| *then = at.min(*then));
    turn.changed.gates.insert(gate.id.clone());
    turn.note(&gate.id, NoteKind::Created);
    work.insert_gate(gate);
}
