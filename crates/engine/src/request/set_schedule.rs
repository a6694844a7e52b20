//! Set a schedule: make, change or take it away. It counts from now on.

use super::check_text;
use crate::command::Answer;
use crate::desk::Desk;
use edgewise_core::control::{ControlEvent, ScheduleSet};
use edgewise_core::name::Name;
use edgewise_core::schedule::Schedule;
use edgewise_core::time::Time;
use edgewise_core::{Error, Result, limits};

pub(crate) fn set_schedule(desk: &mut Desk, set: &ScheduleSet) -> Result<Answer> {
    check_text(set.why.as_deref())?;
    let control = desk.newest_control()?;
    if let Some(schedule) = &set.schedule {
        if !control.flows.contains_key(&schedule.flow) {
            let message = format!("no flow is registered as {}; `edgewise register FILE` does it", schedule.flow);
            return Err(Error::not_found("flow_not_found", message));
        }
        check_schedule(desk.now, &set.name, schedule)?;
    }
    let verdict = desk.record_control(ControlEvent::ScheduleSet(set.clone()));
    super::answer(verdict, || format!("schedule {}", set.name))
}

/// Refuses what could never fire, and what would not fit into the keys of its runs.
pub(super) fn check_schedule(_now: Time, name: &Name, _schedule: &Schedule) -> Result<()> {
    if name.len() > limits::SCHEDULE_NAME_BYTES {
        let most = limits::SCHEDULE_NAME_BYTES;
        let message = format!("the name of a schedule has at most {most} bytes, this one has {}", name.len());
        return Err(Error::invalid("bad_name", message));
    }
    Ok(())
}
