//! Turns: how a ready task shares workers with others, with its key evaluated.

use edgewise_core::event::TaskIx;
use edgewise_core::rate::Rate;
use edgewise_core::rows::Turn;
use edgewise_core::run::Run;
use std::sync::Arc;

/// A bound on attempts with the same key.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Bound {
    pub key: Arc<str>,
    pub max: Option<u32>,
    pub rate: Option<Rate>,
}

impl Bound {
    pub fn of(turn: &Turn) -> Option<Self> {
        let limit = turn.limit.as_ref()?;
        Some(Self { key: limit.key.as_str().into(), max: limit.max, rate: limit.rate })
    }
}

/// The key that an attempt of a task holds while it is at work.
pub(crate) fn key_of(run: &Run, task: TaskIx) -> Option<Arc<str>> {
    // Evaluated when the task became ready, from facts: it cannot fail any more.
    run.limit_key(task).ok().flatten().map(Arc::from)
}
