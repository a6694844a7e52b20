//! An event as programs see it: with its envelope, and the path of its task beside the number.

use super::rfc3339;
use crate::desk::Home;
use edgewise_core::event::{Event, TaskIx, VERSION};
use edgewise_core::fold::{Changes, fold};
use edgewise_core::history::Entry;
use edgewise_core::id::{EventId, RunId};
use edgewise_core::name::Name;
use edgewise_core::run::Run;
use edgewise_core::{Error, Result};
use serde::Serialize;
use serde_json::{Map, Value};
use std::sync::Arc;

/// An event with all that its record says once for several.
#[derive(Debug, Serialize)]
pub struct EventFacts<'a> {
    event_id: EventId,
    tenant: Name,
    workspace: Name,
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
    /// The path of its task, if it is about one.
    #[serde(skip)]
    pub path: Option<String>,
}

/// Tells the events of one run, from the first on: what an event means depends on those before it.
pub struct Teller {
    /// The run after the last event that was told.
    pub run: Run,
    home: Home,
    changes: Changes,
}

impl Teller {
    /// Over a run that nothing is folded into yet.
    pub fn new(run: Run, home: Home) -> Self {
        Self { run, home, changes: Changes::default() }
    }

    /// Folds the next event, and tells it.
    pub fn tell<'a>(&mut self, entry: &'a Entry) -> Result<EventFacts<'a>> {
        let cause = cause(&self.run, &entry.event);
        self.changes.clear();
        fold(&mut self.run, entry.stamp, &entry.event, &mut self.changes);
        let path = entry.event.task().and_then(|task| path(&self.run, task));
        Ok(EventFacts {
            event_id: entry.stamp.id,
            tenant: self.home.tenant.clone(),
            workspace: self.home.workspace.clone(),
            stream: format!("run/{}", self.run.id),
            seq: entry.seq,
            time: rfc3339(entry.stamp.at),
            kind: entry.event.name(),
            version: VERSION,
            source: &entry.source,
            correlation_id: self.run.id,
            causation_id: cause,
            payload: payload(&entry.event, path.as_deref())?,
            path,
        })
    }
}

/// What an event followed from: the one that brought its task to where this one found it.
fn cause(before: &Run, event: &Event) -> Option<EventId> {
    let id = match event {
        Event::PlanCreated(_) => before.last,
        other => before.task(other.task()?)?.version,
    };
    (id.0 != 0).then_some(id)
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
    let value = serde_json::to_value(event)
        .map_err(|error| Error::bug("unprintable", "an event has no JSON form").with_source(error))?;
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
