//! One attempt ended. It counts only if generation, attempt and token are the task's current ones.
//!
//! The same outcome said again is a duplicate and answered as the first time; anything else about an
//! attempt that is over is stale and changes nothing, however late it comes.

use super::dispatch_returned::is_current;
use super::{Fold, Ignored};
use crate::event::TaskFinished;
use crate::run::Run;
use crate::state::TaskState;
use serde_json::Value;

pub(super) fn check(run: &Run, event: &TaskFinished) -> Result<(), Ignored> {
    let task = run.task(event.task).ok_or(Ignored::Unknown)?;
    if !is_current(run, &event.attempt()) {
        return Err(Ignored::Stale);
    }
    if task.state == TaskState::InProgress {
        return Ok(());
    }
    let same = match &event.error {
        None => task.state == TaskState::Complete && *run.output(event.task) == output(event),
        Some(failure) => run.failure_of(event.task) == Some(failure),
    };
    Err(if same { Ignored::Duplicate } else { Ignored::Stale })
}

fn output(event: &TaskFinished) -> Value {
    // What is no JSON, or is too deep, was refused before it was written.
    event.output.as_ref().map(|raw| serde_json::from_str(raw.get()).unwrap_or_default()).unwrap_or_default()
}

pub(super) fn apply(fold: &mut Fold<'_>, event: &TaskFinished) {
    match &event.error {
        None => fold.succeed(event.task, output(event)),
        Some(failure) => fold.fail(event.task, failure.clone()),
    }
}
