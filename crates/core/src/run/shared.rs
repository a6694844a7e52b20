//! Gates of a run that share a gate of the work graph: to the run that gate is a child like any other, awaited and let
//! go. Its id is evaluated from facts, so it is the same whenever it is asked for and is kept nowhere.

use super::Run;
use crate::event::{Failure, TaskIx};
use crate::gate::Wait;
use crate::plan::Work;
use crate::work::ItemId;
use serde_json::Value;

impl Run {
    /// The gate of the work graph that a task opens with; `None` of a task that shares none.
    pub fn shared_gate(&self, task: TaskIx) -> Result<Option<ItemId>, Failure> {
        let Work::Gate(gate) = &self.spec_of(task).work else { return Ok(None) };
        let Wait::Shared { gate } = &gate.wait else { return Ok(None) };
        let bad = |message: String| Failure::permanent("bad_gate", message);
        match &*self.evaluate(task, gate)? {
            Value::String(id) => ItemId::parse(id).map(Some).map_err(|error| bad(error.message)),
            other => {
                let found = crate::template::kind(other);
                Err(bad(format!("a shared gate is the id of a gate of the work graph, not {found}")))
            }
        }
    }

    /// Whether a task opens with a gate of the work graph.
    pub fn shares_gate(&self, task: TaskIx) -> bool {
        matches!(&self.spec_of(task).work, Work::Gate(gate) if matches!(gate.wait, Wait::Shared { .. }))
    }
}
