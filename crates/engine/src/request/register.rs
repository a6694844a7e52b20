//! Register: a flow is known by its name, and its declared schedules are those of its text.
//!
//! Everything is checked before anything is recorded: a registration is there as a whole or not at all.

use super::set_schedule::check_schedule;
use super::start::check_children;
use crate::command::{Answer, Register};
use crate::desk::Desk;
use edgewise_core::control::{Control, ControlEvent, FlowRegistered, ScheduleSet};
use edgewise_core::fold::Ignored;
use edgewise_core::name::Name;
use edgewise_core::schedule::Schedule;
use edgewise_core::time::Time;
use edgewise_core::{Error, Result, limits};

pub(crate) fn register(desk: &mut Desk, register: &Register) -> Result<Answer> {
    let now = desk.now;
    let children = check_children(desk, &register.plan, &register.children)?;
    let wanted = wanted(desk.newest_control()?, register, now)?;
    let (plan, bytes) = desk.encoded.of(&register.plan);
    let (flow, hook, by) = (register.plan.flow.clone(), register.hook.clone(), register.by.clone());
    let event = FlowRegistered { flow, plan, hook, by };
    let mut changed = record(desk, ControlEvent::FlowRegistered(event))?;
    if changed {
        desk.keep_plan(plan, &register.plan, || bytes.to_vec());
        for (hash, bytes, child) in children {
            desk.keep_plan(hash, child, || bytes);
        }
    }
    for (name, schedule) in wanted {
        let event = ScheduleSet { name, schedule, by: register.by.clone(), why: None };
        changed |= record(desk, ControlEvent::ScheduleSet(event))?;
    }
    Ok(if changed { Answer::Done } else { Answer::Already })
}

/// What each schedule of the flow's text comes to: those that are not in it any more go.
fn wanted(control: &Control, register: &Register, now: Time) -> Result<Vec<(Name, Option<Schedule>)>> {
    let flow = &register.plan.flow;
    let is_own = |schedule: &Schedule| schedule.declared && schedule.flow == *flow;
    let known = control.schedules.iter().filter(|(_, known)| is_own(&known.schedule));
    let gone = known.map(|(name, _)| name).filter(|name| !register.schedules.contains_key(*name));
    let mut wanted: Vec<(Name, Option<Schedule>)> = gone.map(|name| (name.clone(), None)).collect();
    for (name, schedule) in &register.schedules {
        let known = control.schedules.get(name).map(|known| &known.schedule);
        check_schedule(now, name, schedule, known)?;
        if !is_own(schedule) || known.is_some_and(|known| !is_own(known)) {
            let message = format!(
                "there is a schedule {name} already that is not of flow {flow}'s own text: `edgewise schedule remove \
                 {name}` takes it away"
            );
            return Err(Error::conflict("schedule_taken", message));
        }
        // A pause is an operator's, not the text's: it stays until somebody resumes it.
        let paused = known.is_some_and(|known| known.paused);
        wanted.push((name.clone(), Some(Schedule { paused, ..schedule.clone() })));
    }
    if control.schedules.len() + register.schedules.len() > limits::SCHEDULES {
        let message = format!("a workspace has at most {} schedules: remove some", limits::SCHEDULES);
        return Err(Error::limit("too_many_schedules", message));
    }
    Ok(wanted)
}

/// Whether it changed anything.
fn record(desk: &mut Desk, event: ControlEvent) -> Result<bool> {
    match desk.record_control(event) {
        Ok(()) => Ok(true),
        Err(Ignored::Duplicate) => Ok(false),
        Err(other) => Err(Error::bug("register_refused", format!("a registration refused itself: {other:?}"))),
    }
}
