//! Schedules: when flows begin by themselves.

use crate::app::App;
use crate::auth::Principal;
use crate::body::Json;
use crate::limits;
use crate::page::Page;
use crate::params::{Path, Query};
use crate::problem::Result;
use axum::extract::{Extension, State};
use edgewise_client::wire;
use edgewise_core::control::{Control, ScheduleSet, Scheduled};
use edgewise_core::name::Name;
use edgewise_core::schedule::{Backfill, Overlap, Schedule, When};
use edgewise_core::time::{Millis, Time};
use edgewise_core::{Error, Result as Done, input};
use edgewise_engine::command::{Answer, Command};
use edgewise_engine::facts::schedule::{coming, schedule as facts};
use edgewise_engine::reader::Reader;
use serde::Deserialize;
use serde_json::{Value, json};

/// What a list of schedules is asked with.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListQuery {
    flow: Option<String>,
    after: Option<String>,
    limit: Option<usize>,
}

pub async fn list(State(app): State<App>, Query(asked): Query<ListQuery>) -> Result<Json<wire::Schedules>> {
    let (page, now) = (Page::new(asked.after.as_deref(), asked.limit)?, app.now());
    let control = app.readers().look(Reader::control).await?;
    let fits = |known: &Scheduled| asked.flow.as_ref().is_none_or(|flow| known.schedule.flow.as_str() == flow);
    let all: Vec<(&Name, &Scheduled)> = control.schedules.iter().filter(|(_, known)| fits(known)).collect();
    let (shown, next) = page.of(all, |(name, _)| name.to_string())?;
    let schedules = shown.into_iter().map(|(name, known)| facts(name, known, now)).collect();
    Ok(Json(wire::Schedules { schedules, next }))
}

/// A schedule as it is now, with everything around it.
async fn known(app: &App, name: &str) -> Done<(Control, Name, Scheduled)> {
    let name = Name::parse(name)?;
    let control = app.readers().look(Reader::control).await?;
    let missing = || Error::not_found("schedule_not_found", format!("there is no schedule {name}"));
    let known = control.schedules.get(&name).cloned().ok_or_else(missing)?;
    Ok((control, name, known))
}

pub async fn show(State(app): State<App>, Path(name): Path<String>) -> Result<Json<Value>> {
    let (_, name, known) = known(&app, &name).await?;
    Ok(Json(facts(&name, &known, app.now())))
}

/// How many ticks.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NextQuery {
    limit: Option<usize>,
}

pub async fn next(
    State(app): State<App>,
    Path(name): Path<String>,
    Query(asked): Query<NextQuery>,
) -> Result<Json<wire::Ticks>> {
    let (_, _, known) = known(&app, &name).await?;
    let count = asked.limit.unwrap_or(5).clamp(1, limits::PAGE);
    let ticks = coming(&known, app.now())?.take(count).map(|tick| tick.to_string()).collect();
    Ok(Json(wire::Ticks { ticks }))
}

pub async fn set(
    State(app): State<App>,
    Extension(who): Extension<Principal>,
    Json(asked): Json<wire::SetSchedule>,
) -> Result<Json<wire::ScheduleTaken>> {
    let (name, why) = (Name::parse(&asked.name)?, asked.why.clone());
    let schedule = app.readers().look(move |reader| wanted(&asked, reader)).await?;
    change(&app, who, name, Some(schedule), why).await
}

/// What was asked for, checked against the flow: better now than at night.
fn wanted(asked: &wire::SetSchedule, reader: &mut Reader) -> Done<Schedule> {
    let when = match (&asked.cron, &asked.every, &asked.at) {
        (Some(text), None, None) => {
            When::Cron { text: text.clone(), zone: asked.zone.clone().unwrap_or_else(|| "UTC".into()) }
        }
        (None, Some(span), None) => {
            let from = asked.from.as_deref().map(Time::parse).transpose()?.unwrap_or_default();
            When::Every { span: Millis::parse(span)?, from }
        }
        (None, None, Some(at)) => When::At(Time::parse(at)?),
        _ => return Err(Error::invalid("bad_body", "say one of `cron`, `every` and `at`")),
    };
    let overlap: Overlap = match &asked.overlap {
        None => Overlap::default(),
        Some(word) => serde_json::from_value(json!(word))
            .map_err(|_| Error::invalid("bad_body", "`overlap` is `skip`, `queue`, `cancel` or `allow`"))?,
    };
    let flow = Name::parse(&asked.flow)?;
    let control = reader.control()?;
    let Some(registered) = control.flows.get(&flow) else {
        return Err(Error::not_found("flow_not_found", format!("no flow is registered as {flow}")));
    };
    let plan = reader.plan(registered.plan)?;
    let mut whole = asked.input.clone();
    if plan.inputs.iter().any(|declared| declared.name.as_str() == "scheduled_at") {
        whole.entry("scheduled_at").or_insert_with(|| Time::NEVER.to_string().into());
    }
    input::complete(&plan.inputs, &whole)?;
    let paused = Name::parse(&asked.name)
        .ok()
        .and_then(|name| control.schedules.get(&name))
        .is_some_and(|known| known.schedule.paused);
    let jitter = asked.jitter.as_deref().map(Millis::parse).transpose()?.unwrap_or(Millis(0));
    let (input, catch_up) = (asked.input.clone(), asked.catch_up);
    Ok(Schedule { jitter, overlap, catch_up, input, paused, ..Schedule::new(flow, when) })
}

macro_rules! on_schedule {
    ($($name:ident $change:expr),* $(,)?) => {$(
        pub async fn $name(
            State(app): State<App>,
            Extension(who): Extension<Principal>,
            Path(name): Path<String>,
            Json(asked): Json<wire::ItemAct>,
        ) -> Result<Json<wire::ScheduleTaken>> {
            let (_, name, known) = known(&app, &name).await?;
            let become_so: fn(Schedule) -> Option<Schedule> = $change;
            change(&app, who, name, become_so(known.schedule), asked.why).await
        }
    )*};
}

on_schedule!(
    pause | schedule | Some(Schedule { paused: true, ..schedule }),
    resume | schedule | Some(Schedule { paused: false, ..schedule }),
    remove | _ | None,
);

pub async fn backfill(
    State(app): State<App>,
    Extension(who): Extension<Principal>,
    Path(name): Path<String>,
    Json(asked): Json<wire::BackfillSchedule>,
) -> Result<Json<wire::ScheduleTaken>> {
    let (control, of, known) = known(&app, &name).await?;
    let until = asked.until.as_deref().map_or(Ok(app.now()), Time::parse)?;
    let (from, at_once) = (Time::parse(&asked.from)?, asked.at_once.unwrap_or(1));
    let own = free_name(&of, &control)?;
    let schedule = Schedule {
        backfill: Some(Backfill { of, from, until, at_once, again: asked.again }),
        // How many at once is said by the backfill itself.
        overlap: Overlap::Allow,
        jitter: Millis(0),
        paused: false,
        declared: false,
        ..known.schedule
    };
    change(&app, who, own, Some(schedule), asked.why).await
}

/// `nightly/backfill-1`, or the first that is free.
fn free_name(of: &Name, control: &Control) -> Done<Name> {
    let mut n = 1;
    loop {
        let name = Name::parse(&format!("{of}/backfill-{n}"))?;
        if !control.schedules.contains_key(&name) {
            return Ok(name);
        }
        n += 1;
    }
}

async fn change(
    app: &App,
    who: Principal,
    name: Name,
    schedule: Option<Schedule>,
    why: Option<String>,
) -> Result<Json<wire::ScheduleTaken>> {
    let set = ScheduleSet { name: name.clone(), schedule, by: who.name, why };
    let answer = app.engine().ask(Command::SetSchedule(set)).await?;
    Ok(Json(wire::ScheduleTaken { schedule: name.to_string(), changed: !matches!(answer, Answer::Already) }))
}
