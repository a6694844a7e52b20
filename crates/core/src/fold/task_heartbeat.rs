//! Progress of an attempt worth keeping. The lease itself is a row and moves without an event.

use super::dispatch_returned::is_current;
use super::{Fold, Ignored};
use crate::event::TaskHeartbeat;
use crate::run::Run;
use crate::state::TaskState;

pub(super) fn check(run: &Run, event: &TaskHeartbeat) -> Result<(), Ignored> {
    let task = run.task(event.attempt.task).ok_or(Ignored::Unknown)?;
    if is_current(run, &event.attempt) && task.state == TaskState::InProgress { Ok(()) } else { Err(Ignored::Stale) }
}

/// Kept in the history; nothing of the run depends on it.
pub(super) fn apply(_: &mut Fold<'_>, _: &TaskHeartbeat) {}
