//! `ScheduleFired`: a tick was decided. Once: its instant is behind the cursor from here on.

use crate::control::{Control, Decided, Key, Outcome, ScheduleFired, Skip};
use crate::fold::{Ignored, Refusal, Stamp};
use crate::limits;
use crate::schedule::Overlap;
use std::collections::BTreeSet;

pub(super) fn check(control: &Control, event: &ScheduleFired) -> Result<(), Ignored> {
    let Some(entry) = control.schedules.get(&event.name) else { return Err(Ignored::Unknown) };
    let waited = entry.queue.contains(&event.due);
    match &event.outcome {
        _ if event.due <= entry.after && !waited => Err(Ignored::Duplicate),
        Outcome::Queued if waited => Err(Ignored::Duplicate),
        Outcome::Queued if entry.queue.len() >= limits::QUEUED_TICKS => Err(Ignored::Refused(Refusal::MANY_TICKS)),
        _ => Ok(()),
    }
}

pub(super) fn apply(control: &mut Control, stamp: Stamp, event: &ScheduleFired, changed: &mut BTreeSet<Key>) {
    let Some(entry) = control.schedules.get_mut(&event.name) else { return };
    changed.insert(Key::Schedule(event.name.clone()));
    entry.after = entry.after.max(event.due);
    entry.queue.retain(|due| *due != event.due);
    entry.running.retain(|run| !event.over.contains(run));
    match &event.outcome {
        Outcome::Started(run) => {
            entry.started += 1;
            // Who allows any number of runs at once asks nobody whether one has ended.
            if entry.schedule.overlap != Overlap::Allow || entry.schedule.backfill.is_some() {
                entry.running.push(*run);
            }
        }
        Outcome::Queued => entry.queue.push(event.due),
        Outcome::Skipped(Skip::Missed(ticks)) => entry.skipped += ticks,
        Outcome::Skipped(_) => entry.skipped += 1,
    }
    entry.last = Some(Decided { due: event.due, at: stamp.at, outcome: event.outcome.clone() });
}
