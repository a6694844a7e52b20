//! `edgewise events`: the ledger of a run, expanded. Events are stored as numbers; here they have paths and envelopes.

mod details;

use super::Context;
use crate::args::Events;
use crate::clock::{Clock, rfc3339};
use crate::exit::Exit;
use crate::output::Row;
use crate::problem::{Problem, Result};
use crate::style::Ink;
use crate::table::Cell;
use crate::view::{View, unfolded};
use edgewise_core::Kind;
use edgewise_core::event::{Event, TaskIx, VERSION};
use edgewise_core::fold::{Changes, fold};
use edgewise_core::history::Entry;
use edgewise_core::id::{EventId, RunId};
use edgewise_core::name::Name;
use edgewise_core::run::Run;
use edgewise_engine::Home;
use edgewise_engine::engine::wall_clock;
use serde::Serialize;
use serde_json::{Map, Value};
use std::sync::Arc;

const HEADER: [&str; 5] = ["seq", "time", "event", "task", "details"];

/// An event with all that its record says once for several.
#[derive(Serialize)]
struct Envelope<'a> {
    event_id: EventId,
    tenant: &'a Name,
    workspace: &'a Name,
    stream: String,
    seq: u64,
    time: Option<String>,
    #[serde(rename = "type")]
    kind: &'a str,
    version: u32,
    source: &'a Arc<str>,
    correlation_id: RunId,
    causation_id: Option<EventId>,
    payload: Value,
}

pub(super) fn perform(args: &Events, context: &mut Context<'_>) -> Result<Exit> {
    let mut view = View::open(context.config)?;
    let now = view.run(&args.run)?;
    let (now, only) = match &args.task {
        Some(path) => view.with_task(now, path).map(|(run, task)| (run, Some(task)))?,
        None => (now, None),
    };
    let (mut run, home) = (unfolded(&now), view.home.clone());
    let clock = Clock::local(wall_clock());
    let mut changes = Changes::default();
    let mut listing = context.printer.listing(&HEADER);
    view.entries(now.id, |entry| {
        let cause = cause(&run, &entry.event);
        changes.clear();
        fold(&mut run, entry.stamp, &entry.event, &mut changes);
        if only.is_some_and(|only| entry.event.task() != Some(only)) {
            return Ok(());
        }
        listing.push(row(&run, &entry, cause, &home, &clock)?)
    })?;
    listing.end()?;
    Ok(Exit::Ok)
}

/// What an event followed from: the one that brought its task to where this one found it.
fn cause(before: &Run, event: &Event) -> Option<EventId> {
    let id = match event {
        Event::PlanCreated(_) => before.last,
        other => before.task(other.task()?)?.version,
    };
    (id.0 != 0).then_some(id)
}

fn row(run: &Run, entry: &Entry, cause: Option<EventId>, home: &Home, clock: &Clock) -> Result<Row> {
    let path = entry.event.task().and_then(|task| path(run, task));
    let envelope = envelope(run, entry, cause, home, path.as_deref())?;
    let (details, ink) = details::of(run, &entry.event);
    let cells = vec![
        Cell::new(entry.seq.to_string(), Ink::Dim),
        Cell::from(clock.exact(entry.stamp.at)),
        Cell::from(entry.event.name()),
        Cell::new(path.as_deref().unwrap_or_default(), Ink::Bold),
        Cell::new(details, ink),
    ];
    Row::new(entry.stamp.id.to_string(), cells, &envelope)
}

/// Shows every event of a run as programs see it, in order.
pub(super) fn each(view: &mut View, now: &Run, mut see: impl FnMut(String) -> Result<()>) -> Result<()> {
    let (mut run, home) = (unfolded(now), view.home.clone());
    let mut changes = Changes::default();
    view.entries(now.id, |entry| {
        let cause = cause(&run, &entry.event);
        changes.clear();
        fold(&mut run, entry.stamp, &entry.event, &mut changes);
        let path = entry.event.task().and_then(|task| path(&run, task));
        let value = serde_json::to_string(&envelope(&run, &entry, cause, &home, path.as_deref())?);
        see(value.map_err(|error| unprintable(&error))?)
    })
}

fn envelope<'a>(
    run: &Run,
    entry: &'a Entry,
    cause: Option<EventId>,
    home: &'a Home,
    path: Option<&str>,
) -> Result<Envelope<'a>> {
    Ok(Envelope {
        event_id: entry.stamp.id,
        tenant: &home.tenant,
        workspace: &home.workspace,
        stream: format!("run/{}", run.id),
        seq: entry.seq,
        time: rfc3339(entry.stamp.at),
        kind: entry.event.name(),
        version: VERSION,
        source: &entry.source,
        correlation_id: run.id,
        causation_id: cause,
        payload: payload(&entry.event, path)?,
    })
}

fn unprintable(error: &serde_json::Error) -> Problem {
    Problem::new(Kind::Bug, "unprintable", "an event has no JSON form").why(error.to_string())
}

/// Events may speak of tasks that do not exist; these have no path.
fn path(run: &Run, task: TaskIx) -> Option<String> {
    run.task(task).map(|_| run.path(task))
}

/// The event's own fields under their full names, with the path beside the number.
fn payload(event: &Event, path: Option<&str>) -> Result<Value> {
    if let Event::Unknown(_) = event {
        return Ok(Value::Null);
    }
    let value = serde_json::to_value(event).map_err(|error| unprintable(&error))?;
    let Value::Object(outer) = value else { return Ok(value) };
    let Some((_, Value::Object(fields))) = outer.into_iter().next() else { return Ok(Value::Null) };
    let mut full = Map::new();
    for (key, value) in fields {
        let name = match key.as_str() {
            "t" => "task",
            "g" => "generation",
            "a" => "attempt",
            "k" => "token",
            "w" => "worker",
            other => other,
        };
        full.insert(name.to_owned(), value);
    }
    if event.task().is_some() {
        full.entry("generation").or_insert_with(|| 1.into());
        full.insert("path".into(), path.into());
    }
    Ok(Value::Object(full))
}
