//! An operator supplies a task's output.

use super::Fold;
use super::task_resolved_manually::make_open;
use crate::event::TaskCompletedManually;
use crate::id::TokenHash;
use crate::state::{Move, TaskState};
use serde_json::Value;
use std::sync::Arc;

pub(super) fn apply(fold: &mut Fold<'_>, event: &TaskCompletedManually) {
    make_open(fold, &event.act);
    let output: Value = serde_json::from_str(event.output.get()).unwrap_or_default();
    // A spread's null is kept too: it is not the list that its items came to.
    if !output.is_null() || fold.run.composites.contains_key(&event.act.task) {
        fold.run.outputs.insert(event.act.task, Arc::new(output));
    }
    fold.finish(event.act.task, Move::CompletedByOperator, TaskState::Complete);
    // No worker made this output: one that reports the same is late, and was not heard.
    fold.task_mut(event.act.task).token = TokenHash::default();
}
