//! Somebody wants a run. Its first event, and only that.

use super::{Fold, Ignored};
use crate::event::RunTriggered;
use crate::run::{About, Run, WHOLE_RUN};
use std::sync::Arc;

pub(super) fn check(run: &Run, event: &RunTriggered) -> Result<(), Ignored> {
    if run.about.is_some() {
        return Err(Ignored::Duplicate);
    }
    if event.plan == run.plan_hash { Ok(()) } else { Err(Ignored::Unknown) }
}

pub(super) fn apply(fold: &mut Fold<'_>, event: &RunTriggered) {
    fold.run.about = Some(About {
        flow: event.flow.clone(),
        rules: event.rules,
        // What is no JSON was refused before it was written.
        input: Arc::new(serde_json::from_str(event.input.get()).unwrap_or_default()),
        by: event.by.clone(),
        key: event.key.clone(),
        labels: event.labels.clone(),
        at: fold.stamp.at,
    });
    fold.changes.given.push(WHOLE_RUN);
}
