//! Set a schedule: make, change or take it away. It counts from now on.

use super::check_text;
use crate::command::Answer;
use crate::desk::Desk;
use edgewise_core::control::{ControlEvent, ScheduleSet};
use edgewise_core::name::Name;
use edgewise_core::schedule::{Schedule, When};
use edgewise_core::time::Time;
use edgewise_core::{Error, Result, limits};

pub(crate) fn set_schedule(desk: &mut Desk, set: &ScheduleSet) -> Result<Answer> {
    check_text(set.why.as_deref())?;
    let now = desk.now;
    let control = desk.newest_control()?;
    if let Some(schedule) = &set.schedule {
        if !control.flows.contains_key(&schedule.flow) {
            let message = format!("no flow is registered as {}; `edgewise register FILE` does it", schedule.flow);
            return Err(Error::not_found("flow_not_found", message));
        }
        let known = control.schedules.get(&set.name).map(|known| &known.schedule);
        check_schedule(now, &set.name, schedule, known)?;
    }
    let verdict = desk.record_control(ControlEvent::ScheduleSet(set.clone()));
    super::answer(verdict, || format!("schedule {}", set.name))
}

/// Refuses what could never tick, and what would not fit into the keys of its runs. An instant that has passed
/// since it was set is no reason to refuse a pause, or the same text again.
pub(super) fn check_schedule(now: Time, name: &Name, schedule: &Schedule, known: Option<&Schedule>) -> Result<()> {
    if name.len() > limits::SCHEDULE_NAME_BYTES {
        let most = limits::SCHEDULE_NAME_BYTES;
        let message = format!("the name of a schedule has at most {most} bytes, this one has {}", name.len());
        return Err(Error::invalid("bad_name", message));
    }
    let same = known.is_some_and(|known| known.when == schedule.when);
    schedule.check(if same && matches!(schedule.when, When::At(_)) { Time::NEVER } else { now })
}
