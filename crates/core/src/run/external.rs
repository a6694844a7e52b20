//! What a gate waits for in another system. Its name there is evaluated from facts, so it is the same whenever it is
//! asked for and is kept nowhere.

use super::Run;
use crate::event::{Failure, TaskIx};
use crate::gate::Wait;
use crate::limits;
use crate::name::Name;
use crate::plan::Work;
use serde_json::Value;

impl Run {
    /// The system and what it calls the thing there; `None` of a task that waits for nothing of the kind.
    pub fn external(&self, task: TaskIx) -> Result<Option<(&Name, String)>, Failure> {
        let Work::Gate(gate) = &self.spec_of(task).work else { return Ok(None) };
        let (system, id) = match &gate.wait {
            Wait::External { system, id } => (system, id),
            Wait::After(_) | Wait::Until(_) | Wait::Approval { .. } | Wait::Webhook | Wait::Shared { .. } => {
                return Ok(None);
            }
        };
        let bad = |message: String| Failure::permanent("bad_gate", message);
        let text = match &*self.evaluate(task, id)? {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            other => {
                let message =
                    format!("`id` of an external gate is a text or a number, not {}", crate::template::kind(other));
                return Err(bad(message));
            }
        };
        match text.len() {
            0 => Err(bad("`id` of an external gate is empty: nothing could be said of it".into())),
            long if long > limits::WORK_REFERENCE_BYTES => {
                let most = limits::WORK_REFERENCE_BYTES;
                Err(bad(format!("`id` of an external gate has at most {most} bytes, this one has {long}")))
            }
            _ => Ok(Some((system, text))),
        }
    }
}
