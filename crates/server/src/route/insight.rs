//! What is asked about a run: its tasks, its history, where its time went, what would happen, pictures, logs.

use super::find;
use crate::app::App;
use crate::auth::Principal;
use crate::body::Json;
use crate::limits;
use crate::params::{Path, Query};
use crate::problem::Result;
use axum::extract::{Extension, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use edgewise_client::wire;
use edgewise_core::event::TaskIx;
use edgewise_core::history::Stream;
use edgewise_core::id::RunId;
use edgewise_core::name::Name;
use edgewise_core::run::Run;
use edgewise_core::sketch::Sketch;
use edgewise_core::time::Time;
use edgewise_core::timing::Timing;
use edgewise_core::what_if::{Fact, Supposition};
use edgewise_core::{Error, Result as Done};
use edgewise_engine::facts::history::transitions;
use edgewise_engine::facts::{TaskFacts, rfc3339};
use edgewise_engine::reader::{Past, Reader};
use edgewise_engine::runner::logs;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::Path as Folder;

/// Where the logs of commands are, in the data folder.
const LOGS: &str = "logs";

/// A run with everything it ever did, and the task that is meant.
fn with_task(reader: &mut Reader, run: RunId, path: &str) -> Done<(Run, TaskIx)> {
    let run = reader.run(run)?;
    let run = reader.whole(run)?;
    let missing = || Error::not_found("task_not_found", format!("run {} has no task `{path}`", run.id));
    let task = run.find(path).ok_or_else(missing)?;
    Ok((run, task))
}

pub async fn task(State(app): State<App>, Path((run, task)): Path<(String, String)>) -> Result<Json<Value>> {
    let run = find(&app, run).await?;
    let shown = app.readers().look(move |reader| {
        let (run, task) = with_task(reader, run, &task)?;
        let entries = reader.ledger(run.id)?;
        let stream = Stream { run: run.id, plan_hash: run.plan_hash, plan: &run.plan, entries: &entries };
        let mut shown = json!(TaskFacts::new(&run, task));
        shown["attempts"] = json!(edgewise_core::attempts::of(&stream, task));
        Ok(shown)
    });
    Ok(Json(shown.await?))
}

/// Which task, where one can be named.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskQuery {
    task: Option<String>,
    after: Option<u64>,
    limit: Option<usize>,
}

/// Transitions in the order of the ledger; a page ends with a whole event.
pub async fn history(
    State(app): State<App>,
    Path(run): Path<String>,
    Query(asked): Query<TaskQuery>,
) -> Result<Json<Value>> {
    let run = find(&app, run).await?;
    let limit = asked.limit.unwrap_or(limits::PAGE_DEFAULT).clamp(1, limits::PAGE);
    let told = app.readers().look(move |reader| {
        let (run, only) = match &asked.task {
            Some(path) => with_task(reader, run, path).map(|(run, task)| (run, Some(task)))?,
            None => {
                let run = reader.run(run)?;
                (reader.whole(run)?, None)
            }
        };
        let entries = reader.ledger(run.id)?;
        let stream = Stream { run: run.id, plan_hash: run.plan_hash, plan: &run.plan, entries: &entries };
        let mut moved = transitions(&run, &stream, only);
        moved.retain(|step| step.seq > asked.after.unwrap_or(0));
        let next = moved.get(limit - 1).map(|step| step.seq);
        let cut = next.map_or(moved.len(), |last| moved.partition_point(|step| step.seq <= last));
        let next = next.filter(|_| cut < moved.len());
        moved.truncate(cut);
        Ok(json!({ "history": moved, "next": next }))
    });
    Ok(Json(told.await?))
}

pub async fn timing(State(app): State<App>, Path(run): Path<String>) -> Result<Json<Value>> {
    let (run, now) = (find(&app, run).await?, app.now());
    let told = app.readers().look(move |reader| {
        let run = reader.run(run)?;
        let entries = reader.ledger(run.id)?;
        let stream = Stream { run: run.id, plan_hash: run.plan_hash, plan: &run.plan, entries: &entries };
        Ok(json!(Timing::of(&stream, now)))
    });
    Ok(Json(told.await?))
}

pub async fn what_if(
    State(app): State<App>,
    Extension(who): Extension<Principal>,
    Path(run): Path<String>,
    Json(asked): Json<wire::WhatIf>,
) -> Result<Json<Value>> {
    let (run, now) = (find(&app, run).await?, app.now());
    Ok(Json(app.readers().look(move |reader| foretell(reader, run, (now, who.name), &asked)).await?))
}

fn foretell(reader: &mut Reader, run: RunId, (now, who): (Time, Name), asked: &wire::WhatIf) -> Done<Value> {
    let facts = asked.facts.iter().map(|fact| Fact::parse(fact)).collect::<Done<Vec<_>>>()?;
    let run = reader.run(run)?;
    if let Some(reason) = reader.frozen(run.id)? {
        let message = format!("run {} is frozen, so nothing can happen to it: {reason}", run.id);
        return Err(Error::conflict("run_frozen", message));
    }
    let id = run.id;
    let mut supposition = Supposition::of(run, now, who);
    facts.iter().try_for_each(|fact| supposition.suppose(fact))?;
    if asked.to_end {
        supposition.rest_goes_well()?;
    }
    let mut told = json!(supposition.end());
    told["run"] = json!(id);
    told["facts"] = json!(asked.facts);
    told["to_end"] = json!(asked.to_end);
    Ok(told)
}

/// How something is drawn.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub struct GraphQuery {
    #[serde(default)]
    form: Form,
    /// As it was then; only a run has a past.
    pub(super) at: Option<String>,
}

#[derive(Deserialize, Default, Clone, Copy)]
#[serde(rename_all = "snake_case")]
enum Form {
    #[default]
    Json,
    Svg,
    Dot,
    Mermaid,
}

pub async fn graph(
    State(app): State<App>,
    Path(run): Path<String>,
    Query(asked): Query<GraphQuery>,
) -> Result<Response> {
    let run = find(&app, run).await?;
    let at = asked.at.as_deref().map(Past::parse).transpose()?;
    let sketch = app.readers().look(move |reader| match at {
        Some(at) => Ok(Sketch::of_run(&reader.as_of(run, at)?)),
        None => Ok(Sketch::of_run(&reader.run(run)?)),
    });
    Ok(drawn(&sketch.await?, &asked))
}

/// A picture, in the form that was asked for.
pub(super) fn drawn(sketch: &Sketch, asked: &GraphQuery) -> Response {
    let (kind, text) = match asked.form {
        Form::Json => return Json(json!(sketch.to_drawing())).into_response(),
        Form::Svg => ("image/svg+xml", sketch.to_svg()),
        Form::Dot => ("text/vnd.graphviz", sketch.to_dot()),
        Form::Mermaid => ("text/plain; charset=utf-8", sketch.to_mermaid()),
    };
    // A picture that is opened by itself runs nothing, whatever names are in it.
    let policy = (header::CONTENT_SECURITY_POLICY, "default-src 'none'; style-src 'unsafe-inline'; sandbox");
    ([(header::CONTENT_TYPE, kind), policy], text).into_response()
}

/// Which log.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogQuery {
    task: Option<String>,
    attempt: Option<u16>,
    after: Option<u64>,
}

/// The attempts that have a log; with a task, what its last attempt wrote, a page at a time.
pub async fn logs(
    State(app): State<App>,
    Path(run): Path<String>,
    Query(asked): Query<LogQuery>,
) -> Result<Json<Value>> {
    let run = find(&app, run).await?;
    let dir = app.dir().join(LOGS);
    Ok(Json(app.readers().look(move |reader| written(reader, run, &dir, &asked)).await?))
}

fn written(reader: &mut Reader, run: RunId, dir: &Folder, asked: &LogQuery) -> Done<Value> {
    let unreadable = |error| Error::unavailable("log_unreadable", "the log cannot be read").with_source(error);
    let found = logs::attempts(dir, run).map_err(unreadable)?;
    let Some(path) = &asked.task else {
        let run = reader.run(run)?;
        let run = reader.whole(run)?;
        let known = found.into_iter().filter(|log| run.task(log.task).is_some());
        let logs = known
            .map(|log| json!({ "task": run.path(log.task), "generation": log.generation, "attempt": log.attempt }));
        return Ok(json!({ "logs": logs.collect::<Vec<_>>() }));
    };
    let (run, task) = with_task(reader, run, path)?;
    let wanted = |log: &&logs::Attempt| log.task == task && asked.attempt.is_none_or(|attempt| log.attempt == attempt);
    let Some(log) = found.iter().filter(wanted).max_by_key(|log| (log.generation, log.attempt)) else {
        let message = format!("`{path}` has written nothing here: only commands have logs");
        return Err(Error::not_found("no_such_log", message));
    };
    let file = logs::log_path(dir, run.id, log.task, log.generation, log.attempt);
    let page = logs::read(&file, asked.after.unwrap_or(0)).map_err(unreadable)?;
    let lines = page.lines.iter().map(|line| {
        let stream = format!("{:?}", line.stream).to_lowercase();
        json!({ "time": rfc3339(line.at), "stream": stream, "text": line.text })
    });
    let lines: Vec<Value> = lines.collect();
    Ok(json!({ "generation": log.generation, "attempt": log.attempt, "lines": lines, "next": page.next }))
}
