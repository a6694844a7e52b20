//! The child of a task ended. It counts if the task waits for just this attempt; if the task went on without it, it
//! is only known to be over. One that was to go on and is not there any more is replaced.

use super::{Fold, Ignored};
use crate::event::{Failure, LinkResolved};
use crate::run::Run;
use serde_json::Value;

pub(super) fn check(run: &Run, event: &LinkResolved) -> Result<(), Ignored> {
    if run.disowned.contains_key(&event.link) {
        return Ok(());
    }
    run.task(event.link.task).ok_or(Ignored::Unknown)?;
    let gone = event.error.as_ref().is_some_and(Failure::is_of_gone_sub_run);
    if gone && !run.adopted.contains_key(&event.link.task) {
        // It is replaced already.
        return Err(Ignored::Duplicate);
    }
    if run.awaited(event.link.task) == Some(event.link) { Ok(()) } else { Err(Ignored::Stale) }
}

pub(super) fn apply(fold: &mut Fold<'_>, event: &LinkResolved) {
    if fold.run.disowned.remove(&event.link).is_some() {
        return;
    }
    if event.error.as_ref().is_some_and(Failure::is_of_gone_sub_run) {
        fold.run.adopted.remove(&event.link.task);
        return fold.want_child(event.link.task);
    }
    fold.child_ended(event.link.task);
    match &event.error {
        None => {
            // What is no JSON, or is too deep, was refused before it was written.
            let output = event.output.as_ref().map(|raw| serde_json::from_str(raw.get()).unwrap_or_default());
            fold.succeed(event.link.task, output.unwrap_or(Value::Null));
        }
        Some(failure) => fold.fail(event.link.task, failure.clone()),
    }
}
