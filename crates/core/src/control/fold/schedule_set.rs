//! `ScheduleSet`: a schedule is made, changed or taken away.
//!
//! A schedule counts from now on: the cursor of a new one, of one whose rhythm changed and of one that goes on after a
//! pause is the instant of this event. Any other change leaves the cursor where it is, so that no tick is lost or
//! decided twice because somebody registered a flow again.

use crate::control::{Control, Key, ScheduleSet, Scheduled};
use crate::fold::{Ignored, Refusal, Stamp};
use crate::limits;
use crate::time::Time;
use std::collections::BTreeSet;

pub(super) fn check(control: &Control, event: &ScheduleSet) -> Result<(), Ignored> {
    let known = control.schedules.get(&event.name);
    match (&event.schedule, known) {
        (None, None) => Err(Ignored::Unknown),
        (None, Some(_)) => Ok(()),
        (Some(new), Some(known)) if *new == known.schedule => Err(Ignored::Duplicate),
        (Some(_), Some(_)) => Ok(()),
        (Some(_), None) if event.name.len() > limits::SCHEDULE_NAME_BYTES => Err(Ignored::Refused(Refusal::LONG_NAME)),
        (Some(_), None) if control.schedules.len() >= limits::SCHEDULES => {
            Err(Ignored::Refused(Refusal::MANY_SCHEDULES))
        }
        (Some(_), None) => Ok(()),
    }
}

pub(super) fn apply(control: &mut Control, stamp: Stamp, event: &ScheduleSet, changed: &mut BTreeSet<Key>) {
    changed.insert(Key::Schedule(event.name.clone()));
    let known = control.schedules.remove(&event.name);
    let Some(schedule) = event.schedule.clone() else { return };
    let start = match &schedule.backfill {
        Some(backfill) => Time(backfill.from.0.saturating_sub(1)),
        None => stamp.at,
    };
    let mut entry = known.unwrap_or_else(|| Scheduled {
        schedule: schedule.clone(),
        by: event.by.clone(),
        why: None,
        set_at: stamp.at,
        after: start,
        queue: Vec::new(),
        running: Vec::new(),
        last: None,
        started: 0,
        skipped: 0,
    });
    let old = &entry.schedule;
    let goes_on = old.paused && !schedule.paused && schedule.backfill.is_none();
    if old.when != schedule.when || old.backfill != schedule.backfill || goes_on {
        // Never back: a clock that stands behind the cursor must not make a tick that was decided due again.
        entry.after = if old.backfill == schedule.backfill { entry.after.max(start) } else { start };
        entry.queue.clear();
    }
    (entry.schedule, entry.by, entry.why, entry.set_at) = (schedule, event.by.clone(), event.why.clone(), stamp.at);
    control.schedules.insert(event.name.clone(), entry);
}
