//! Acts on one item or one gate that only say which one and why.

use super::stage::Stage;
use edgewise_core::work::{
    Act, Done, GateActed, GateRejected, GateSatisfied, GateWait, ItemAct, ItemId, ReopenOp, Status, WorkEvent,
};
use edgewise_core::{Error, Result};
use serde_json::Value;

/// Opens an item again; not within something that is closed, unless it is forced: nobody would look for it there.
pub(super) fn reopen(stage: &mut Stage<'_>, asked: &ReopenOp) -> Result<Done> {
    let item = stage.item(&asked.id)?;
    let (id, closed) = (item.id.clone(), item.status == Status::Closed);
    let parent = stage.work().parent(id.as_str()).and_then(|parent| stage.work().item(parent.as_str()));
    if let Some(parent) = parent.filter(|parent| closed && !asked.force && parent.status == Status::Closed) {
        let parent = &parent.id;
        let message = format!(
            "{id} is in {parent}, which is closed: `edgewise reopen {parent}` first, or `--force` opens {id} and leaves {parent} closed"
        );
        return Err(Error::conflict("parent_closed", message));
    }
    on_item(stage, &Act { id: asked.id.clone(), why: asked.why.clone() }, WorkEvent::ItemReopened)
}

/// Takes an item away; how many dependencies went with it is said.
pub(super) fn delete(stage: &mut Stage<'_>, act: &Act) -> Result<Done> {
    let id = stage.item(&act.id)?.id.clone();
    let ties = stage.work().dependencies_of(id.as_str()).len() + stage.work().dependents_of(id.as_str()).len();
    let done = on_item(stage, act, WorkEvent::ItemDeleted)?;
    Ok(Done { removed: ties as u32, ..done })
}

pub(super) fn approve(stage: &mut Stage<'_>, act: &Act) -> Result<Done> {
    let gate = gate(stage, act)?;
    let event = GateActed { gate: gate.clone(), by: stage.by.clone(), comment: act.why.clone() };
    on_gate(stage, gate, WorkEvent::GateApproved(event))
}

pub(super) fn withdraw(stage: &mut Stage<'_>, act: &Act) -> Result<Done> {
    let gate = gate(stage, act)?;
    let event = GateActed { gate: gate.clone(), by: stage.by.clone(), comment: act.why.clone() };
    on_gate(stage, gate, WorkEvent::GateWithdrawn(event))
}

pub(super) fn satisfy(stage: &mut Stage<'_>, act: &Act) -> Result<Done> {
    let gate = gate(stage, act)?;
    let event = GateSatisfied { gate: gate.clone(), by: Some(stage.by.clone()), why: act.why.clone(), evidence: None };
    on_gate(stage, gate, WorkEvent::GateSatisfied(event))
}

pub(super) fn reject(stage: &mut Stage<'_>, act: &Act) -> Result<Done> {
    let gate = gate(stage, act)?;
    let event = GateRejected { gate: gate.clone(), by: stage.by.clone(), why: act.why.clone() };
    on_gate(stage, gate, WorkEvent::GateRejected(event))
}

fn on_item(stage: &mut Stage<'_>, act: &Act, event: impl FnOnce(ItemAct) -> WorkEvent) -> Result<Done> {
    let id = stage.item(&act.id)?.id.clone();
    let mut done = Done { id: Some(id.clone()), ..Done::default() };
    stage.record(&mut done, [event(ItemAct { id, by: stage.by.clone(), why: act.why.clone() })])?;
    Ok(done)
}

fn on_gate(stage: &mut Stage<'_>, gate: ItemId, event: WorkEvent) -> Result<Done> {
    let mut done = Done { id: Some(gate), ..Done::default() };
    stage.record(&mut done, [event])?;
    Ok(done)
}

/// Opens a gate that waits for another system: for nobody here, and not for an instant.
pub(super) fn deliver(stage: &mut Stage<'_>, id: &str, evidence: &Value) -> Result<Done> {
    let gate = gate(stage, &Act { id: id.to_owned(), why: None })?;
    if let Some(wait @ (GateWait::Timer { .. } | GateWait::Approval { .. })) =
        stage.work().gate(gate.as_str()).map(|known| &known.wait)
    {
        let message = format!("gate {gate} is of the type {}: nothing from outside opens it", wait.name());
        return Err(Error::denied("wrong_gate", message));
    }
    let (by, evidence) = (Some(stage.by.clone()), Some(evidence.clone()));
    let event = GateSatisfied { gate: gate.clone(), by, why: None, evidence };
    on_gate(stage, gate, WorkEvent::GateSatisfied(event))
}

fn gate(stage: &Stage<'_>, act: &Act) -> Result<ItemId> {
    let id = stage.find(&act.id)?;
    if stage.work().gate(id.as_str()).is_none() {
        let message = format!("{id} is not a gate; `edgewise gate list` lists them");
        return Err(Error::not_found("gate_not_found", message));
    }
    Ok(id)
}
