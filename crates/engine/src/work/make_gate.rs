//! Make a gate that items can wait for.

use super::stage::Stage;
use edgewise_core::Result;
use edgewise_core::name::Name;
use edgewise_core::work::{Done, GateMade, GateWait, ItemId, WorkEvent};

pub(super) fn make_gate(
    stage: &mut Stage<'_>,
    wait: &GateWait,
    title: Option<String>,
    id: Option<&ItemId>,
    name: Option<&str>,
) -> Result<Done> {
    let id = id.cloned().unwrap_or_else(|| stage.fresh_id());
    let mut done = Done { id: Some(id.clone()), ..Done::default() };
    let event = made(&id, wait, title, stage.by);
    stage.record(&mut done, [event])?;
    stage.call(name, &id)?;
    Ok(done)
}

/// A gate, made.
pub(super) fn made(id: &ItemId, wait: &GateWait, title: Option<String>, by: &Name) -> WorkEvent {
    WorkEvent::GateMade(GateMade { id: id.clone(), wait: wait.clone(), title, by: by.clone() })
}
