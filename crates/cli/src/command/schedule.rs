//! `edgewise schedule`: when flows begin by themselves.

mod show;

pub(super) use show::{list, next, show};

use super::Context;
use crate::args::{ScheduleAct, ScheduleBackfill, ScheduleSet as SetArgs};
use crate::exit::Exit;
use crate::place::{Place, runtime};
use crate::problem::{Problem, Result};
use crate::view::View;
use edgewise_core::control::{Control, ScheduleSet, Scheduled};
use edgewise_core::input;
use edgewise_core::name::Name;
use edgewise_core::schedule::{Backfill, Overlap, Schedule, When};
use edgewise_core::suggest::{nearest, shown};
use edgewise_core::time::{Millis, Time};
use edgewise_core::{Error, Kind};
use edgewise_engine::engine::wall_clock;
use edgewise_engine::folder::Ask;
use serde_json::{Map, Value, json};

pub(super) fn set(args: &SetArgs, context: &mut Context<'_>) -> Result<Exit> {
    let when = match (&args.cron, args.every, args.at) {
        (Some(text), _, _) => {
            When::Cron { text: text.clone(), zone: args.zone.clone().unwrap_or_else(|| "UTC".to_owned()) }
        }
        (_, Some(span), _) => When::Every { span, from: args.from.unwrap_or_default() },
        (_, _, Some(time)) => When::At(time),
        _ => return Err(Problem::new(Kind::Invalid, "usage", "say one of --cron, --every and --at")),
    };
    let mut view = View::open(context.config)?;
    let control = view.reader.control()?;
    let known = control.schedules.get(&args.act.name);
    let input = inputs(args, &control, &mut view)?;
    let schedule = Schedule {
        jitter: args.jitter.unwrap_or(Millis(0)),
        overlap: args.overlap.into(),
        catch_up: args.catch_up,
        input,
        paused: known.is_some_and(|known| known.schedule.paused),
        ..Schedule::new(args.flow.clone(), when)
    };
    act(&args.act, Some(schedule), ("set", "is set so already"), context)
}

/// What was typed, read as what the registered flow declares, and checked: better now than at night.
fn inputs(args: &SetArgs, control: &Control, view: &mut View) -> Result<Map<String, Value>> {
    let Some(flow) = control.flows.get(&args.flow) else {
        let near = nearest(&args.flow, control.flows.keys().map(Name::as_str));
        let help = near.map_or("`edgewise register FILE` registers one".into(), |near| format!("did you mean {near}?"));
        let what = format!("no flow is registered as {}", args.flow);
        return Err(Problem::new(Kind::NotFound, "flow_not_found", what).next(help));
    };
    let plan = view.reader.plan(flow.plan)?;
    let given = super::inputs::read(&args.input, &plan.inputs)?;
    let mut whole = given.clone();
    if plan.inputs.iter().any(|declared| declared.name.as_str() == "scheduled_at") {
        whole.entry("scheduled_at").or_insert_with(|| Value::from(Time::NEVER.to_string()));
    }
    input::complete(&plan.inputs, &whole)?;
    Ok(given)
}

pub(super) fn pause(args: &ScheduleAct, context: &mut Context<'_>) -> Result<Exit> {
    let (_, known) = find(&args.name, context)?;
    let schedule = Schedule { paused: true, ..known.schedule };
    act(args, Some(schedule), ("paused", "was paused already"), context)
}

pub(super) fn resume(args: &ScheduleAct, context: &mut Context<'_>) -> Result<Exit> {
    let (_, known) = find(&args.name, context)?;
    let schedule = Schedule { paused: false, ..known.schedule };
    act(args, Some(schedule), ("resumed", "was not paused"), context)
}

pub(super) fn remove(args: &ScheduleAct, context: &mut Context<'_>) -> Result<Exit> {
    find(&args.name, context)?;
    act(args, None, ("removed", "was removed already"), context)
}

pub(super) fn backfill(args: &ScheduleBackfill, context: &mut Context<'_>) -> Result<Exit> {
    let (control, known) = find(&args.act.name, context)?;
    let until = args.until.unwrap_or_else(wall_clock);
    let range =
        Backfill { of: args.act.name.clone(), from: args.from, until, at_once: args.at_once, again: args.again };
    let schedule = Schedule {
        backfill: Some(range),
        // How many at once is said by the backfill itself.
        overlap: Overlap::Allow,
        jitter: Millis(0),
        paused: false,
        declared: false,
        ..known.schedule
    };
    let name = free_name(&args.act.name, &control)?;
    let own = ScheduleAct { name, why: args.act.why.clone() };
    act(&own, Some(schedule), ("began", "is at work already"), context)
}

/// `nightly/backfill-1`, or the first that is free.
fn free_name(of: &Name, control: &Control) -> Result<Name> {
    let mut n = 1;
    loop {
        let name = Name::parse(&format!("{of}/backfill-{n}"))?;
        if !control.schedules.contains_key(&name) {
            return Ok(name);
        }
        n += 1;
    }
}

/// A schedule as it is now, with everything around it.
fn find(name: &Name, context: &Context<'_>) -> Result<(Control, Scheduled)> {
    let control = View::open(context.config)?.reader.control()?;
    match control.schedules.get(name).cloned() {
        Some(known) => Ok((control, known)),
        None => {
            let near = nearest(name, control.schedules.keys().map(Name::as_str));
            let help =
                near.map_or("`edgewise schedule list` lists them".into(), |near| format!("did you mean {near}?"));
            let what = format!("there is no schedule {}", shown(name));
            Err(Problem::new(Kind::NotFound, "schedule_not_found", what).next(help))
        }
    }
}

fn act(
    args: &ScheduleAct,
    schedule: Option<Schedule>,
    (done, already): (&str, &str),
    context: &mut Context<'_>,
) -> Result<Exit> {
    let place = Place::of(context.config);
    let needs_engine = schedule.as_ref().is_some_and(|schedule| !schedule.paused);
    let by = context.config.who.value.clone();
    let set = ScheduleSet { name: args.name.clone(), schedule, by, why: args.why.clone() };
    let (changed, alone) = record(&place, Ask::SetSchedule(set))?;
    let name = &args.name;
    let line = if changed { format!("{done} schedule {name}") } else { format!("schedule {name} {already}") };
    context.printer.one(name.to_string(), &[line], &json!({ "schedule": name, "changed": changed }))?;
    if alone && needs_engine {
        hint(context);
    }
    Ok(Exit::Ok)
}

/// Whether it was new, and whether this process had to record it itself.
pub(super) fn record(place: &Place, ask: Ask) -> Result<(bool, bool)> {
    runtime()?.block_on(async {
        let mut door = place.record().await?;
        let done = door.act(ask).await;
        let alone = door.engine().is_some();
        door.close().await?;
        Ok((done.map_err(|error: Error| Problem::from(error))?, alone))
    })
}

/// What must be there for a tick to become a run.
pub(super) fn hint(context: &mut Context<'_>) {
    context
        .printer
        .say("no engine is at work here, so no tick becomes a run: `edgewise engine` is one until it is stopped");
}
