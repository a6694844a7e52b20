//! What a gate waited for outside is so. What came with it is the gate's output. It speaks of one generation: what was
//! meant for an earlier one says nothing to the gate that asks again.

use super::approval_given::{gate_of, is_closed};
use super::{Fold, Ignored, Refusal};
use crate::event::GateSatisfied;
use crate::gate::Opens;
use crate::run::Run;
use serde_json::Value;

pub(super) fn check(run: &Run, event: &GateSatisfied) -> Result<(), Ignored> {
    let (gate, task) = gate_of(run, event.task, event.generation)?;
    match gate.wait.opens() {
        Opens::Outside => is_closed(task),
        Opens::Shared => Err(Ignored::Refused(Refusal::SHARED)),
        Opens::People => Err(Ignored::Refused(Refusal::ASKS_PEOPLE)),
        Opens::Itself => Err(Ignored::Refused(Refusal::OPENS_ITSELF)),
    }
}

pub(super) fn apply(fold: &mut Fold<'_>, event: &GateSatisfied) {
    let output: Option<Value> = event.output.as_ref().and_then(|output| serde_json::from_str(output.get()).ok());
    fold.succeed(event.task, output.unwrap_or_default());
}
