//! Gates of runs that share one of the work graph: the gate knows who waits for it, and tells in the commit that ends it.
//!
//! ```text
//! task is ready          ──► work graph: GateAwaited
//! gate opens, or is not  ──► run: LinkResolved
//! task went on without   ──► work graph: GateLeft, run: LinkResolved
//! ```

use super::link::resolve;
use crate::desk::Desk;
use edgewise_core::event::{Failure, LinkRef};
use edgewise_core::id::RunId;
use edgewise_core::run::Outcome;
use edgewise_core::state::RunState;
use edgewise_core::work::{GateAwaited, GateWaiter, ItemId, WorkEvent, WorkGate};
use serde_json::{Value, json};

/// The gate of a task is told who waits for it, or has ended.
pub(super) fn wait_for(desk: &mut Desk, run: RunId, link: LinkRef) {
    if desk.newest_work().is_err() {
        desk.links.later.insert((run, link.task));
        return;
    }
    let Some(cached) = desk.runs.get(&run) else { return };
    let (child, named) = (cached.run.child(link), cached.run.shared_gate(link.task));
    let ended = match &named {
        Err(failure) => Some((RunState::Error, Err(failure.clone()))),
        Ok(None) => return,
        Ok(Some(id)) => match desk.work.state.gate(id.as_str()) {
            None => Some((RunState::Error, Err(unknown(id)))),
            Some(gate) => outcome(gate),
        },
    };
    match (ended, named) {
        (Some((state, outcome)), _) => {
            desk.rely_on(RunId::WORK);
            resolve(desk, run, link, child, state, outcome);
        }
        (None, Ok(Some(gate))) => {
            // A gate waits for nobody, so it does not matter to it which runs are around this one.
            let path = desk.runs.get(&run).map(|cached| cached.run.path(link.task)).unwrap_or_default();
            let waiter = GateWaiter { run, path, link };
            // One that is known to wait is refused here, and that is no harm.
            if desk.record_work(WorkEvent::GateAwaited(GateAwaited { gate, waiter })).is_ok() {
                desk.rely_on(run);
            }
        }
        (None, _) => {}
    }
}

/// A gate that a task does not wait for any more forgets it, and its run is told.
pub(super) fn let_go(desk: &mut Desk, run: RunId, (link, child): (LinkRef, RunId)) {
    if desk.newest_work().is_err() {
        desk.links.later.insert((run, edgewise_core::run::DISOWNED));
        return;
    }
    // Which one that is the graph knows: the task itself may be gone.
    if let Some((gate, waiter)) = desk.work.state.shared_gate(run, link) {
        let left = GateAwaited { gate: gate.id.clone(), waiter: waiter.clone() };
        // One that has just ended has nothing to forget.
        let _ = desk.record_work(WorkEvent::GateLeft(left));
    }
    desk.rely_on(RunId::WORK);
    resolve(desk, run, link, child, RunState::Cancelled, Ok(Value::Null));
}

/// Whether a gate is not there, has ended, or does not know who waits for it: then something should have moved.
pub(super) fn is_missing(desk: &mut Desk, run: RunId, link: LinkRef) -> bool {
    let Ok(work) = desk.work() else { return false };
    work.shared_gate(run, link).is_none_or(|(gate, _)| gate.ended.is_some())
}

fn unknown(id: &ItemId) -> Failure {
    let message =
        format!("there is no gate {id} in the work graph: make it (`edgewise gate create`), then rerun the task");
    Failure::permanent("gate_not_found", message)
}

/// What the end of a gate means to a task that shares it; `None` while it is closed.
fn outcome(gate: &WorkGate) -> Option<(RunState, Outcome)> {
    let ended = gate.ended.as_ref()?;
    if ended.satisfied {
        let output = json!({
            "gate": gate.id, "by": ended.by, "at": ended.at, "reason": ended.why, "evidence": ended.evidence,
        });
        return Some((RunState::Complete, Ok(output)));
    }
    let by = ended.by.as_ref().map_or_else(String::new, |by| format!(" by {by}"));
    let why = ended.why.as_ref().map_or_else(String::new, |why| format!(": {why}"));
    Some((RunState::Error, Err(Failure::permanent("rejected", format!("gate {} was rejected{by}{why}", gate.id)))))
}
