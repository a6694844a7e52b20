//! The fold of control events: one event, one file, each with a `check` and an `apply`.

mod flow_registered;
mod schedule_fired;
mod schedule_set;
mod setting_changed;

use super::{Control, ControlEvent, Key};
use crate::fold::{Ignored, Stamp};
use std::collections::BTreeSet;

/// Whether an event would count.
pub fn check(control: &Control, event: &ControlEvent) -> Result<(), Ignored> {
    match event {
        ControlEvent::FlowRegistered(event) => flow_registered::check(control, event),
        ControlEvent::ScheduleSet(event) => schedule_set::check(control, event),
        ControlEvent::ScheduleFired(event) => schedule_fired::check(control, event),
        ControlEvent::SettingChanged(event) => setting_changed::check(control, event),
        ControlEvent::Unknown(_) => Err(Ignored::Unknown),
    }
}

/// Folds one event. What changed is added to `changed`; an event that does not count changes nothing.
pub fn fold(
    control: &mut Control,
    stamp: Stamp,
    event: &ControlEvent,
    changed: &mut BTreeSet<Key>,
) -> Result<(), Ignored> {
    control.seq += 1;
    control.last = stamp.id;
    check(control, event)?;
    match event {
        ControlEvent::FlowRegistered(event) => flow_registered::apply(control, stamp, event, changed),
        ControlEvent::ScheduleSet(event) => schedule_set::apply(control, stamp, event, changed),
        ControlEvent::ScheduleFired(event) => schedule_fired::apply(control, stamp, event, changed),
        ControlEvent::SettingChanged(event) => setting_changed::apply(control, stamp, event, changed),
        ControlEvent::Unknown(_) => {}
    }
    Ok(())
}
