//! Make a gate that items can wait for.

use super::stage::Stage;
use edgewise_core::Result;
use edgewise_core::gate::Approval;
use edgewise_core::name::Name;
use edgewise_core::time::Time;
use edgewise_core::work::{Done, GateEnded, GateMade, GateWait, GateWaiters, ItemId, WorkEvent, WorkGate};

pub(super) fn make_gate(
    stage: &mut Stage<'_>,
    id: &ItemId,
    wait: &GateWait,
    title: Option<String>,
    approvals: &[Name],
    name: Option<&str>,
) -> Result<Done> {
    stage.as_expected(id, None)?;
    let mut done = Done { id: Some(id.clone()), ..Done::default() };
    let event = match approvals {
        [] => made(id, wait, title, stage.by),
        people => {
            let by = (stage.by, stage.desk.now);
            WorkEvent::GateImported(Box::new(approved(WorkGate { title, ..plain(id, wait, by) }, people)))
        }
    };
    stage.record(&mut done, [event])?;
    stage.call(name, id)?;
    Ok(done)
}

/// A gate, made.
pub(super) fn made(id: &ItemId, wait: &GateWait, title: Option<String>, by: &Name) -> WorkEvent {
    WorkEvent::GateMade(GateMade { id: id.clone(), wait: wait.clone(), title, by: by.clone() })
}

fn plain(id: &ItemId, wait: &GateWait, (by, at): (&Name, Time)) -> WorkGate {
    WorkGate {
        id: id.clone(),
        wait: wait.clone(),
        title: None,
        approvals: Vec::new(),
        ended: None,
        tasks: GateWaiters::default(),
        created_by: by.clone(),
        created_at: at,
    }
}

/// With who said yes to it elsewhere: the last of them opened it, if they are enough.
fn approved(gate: WorkGate, people: &[Name]) -> WorkGate {
    let at = gate.created_at;
    let enough = gate.needed().is_some_and(|needed| people.len() >= needed);
    let last = people.last().cloned().filter(|_| enough);
    WorkGate {
        approvals: people.iter().map(|by| Approval { by: by.clone(), at }).collect(),
        ended: last.map(|by| GateEnded { satisfied: true, by: Some(by), why: None, at, evidence: None }),
        ..gate
    }
}
