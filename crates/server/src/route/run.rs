//! Runs: starting them, listing them, looking at them, waiting for them.

use super::find;
use crate::app::App;
use crate::audit::Made;
use crate::auth::Principal;
use crate::body::Json;
use crate::idempotency::OwnKey;
use crate::limits;
use crate::page::{Page, paged};
use crate::params::{Path, Query};
use crate::problem::Result;
use axum::extract::{Extension, State};
use axum::http::HeaderMap;
use edgewise_client::wire;
use edgewise_core::flow::{choose, compile_file};
use edgewise_core::id::RunId;
use edgewise_core::input;
use edgewise_core::name::Name;
use edgewise_core::plan::{Identity, Plan};
use edgewise_core::state::Phase;
use edgewise_core::time::Time;
use edgewise_core::trace::{self, Context};
use edgewise_core::{Error, Result as Done};
use edgewise_engine::command::Start;
use edgewise_engine::facts::{Cursor, Listed, RunFacts};
use edgewise_engine::query;
use edgewise_engine::reader::{Past, Reader};
use edgewise_store::RunFilter;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

pub async fn start(
    State(app): State<App>,
    Extension(who): Extension<Principal>,
    OwnKey(own): OwnKey,
    headers: HeaderMap,
    Json(mut asked): Json<wire::Start>,
) -> Result<(Extension<Made>, Json<wire::Started>)> {
    traced(&headers, &mut asked.labels);
    let start = named_by(own, prepared(&app, asked, who.name).await?);
    let (run, new) = app.engine().start_run(start).await?;
    let run = run.to_string();
    Ok((Extension(Made(run.clone())), Json(wire::Started { run, new })))
}

/// Puts a run into the trace of whoever starts it, unless it is in another.
pub(super) fn traced(headers: &HeaderMap, labels: &mut BTreeMap<String, String>) {
    let trace = headers.get(trace::LABEL).and_then(|value| value.to_str().ok()).and_then(Context::parse);
    if let Some(trace) = trace {
        labels.entry(trace::LABEL.into()).or_insert_with(|| trace.to_string());
    }
}

/// A start without a key of its own has that of its request, so that it happens once also where the answer is
/// forgotten. Runs that are told apart by what they are given are so under any key.
pub(super) fn named_by(request: Option<String>, start: Start) -> Start {
    let own = request.filter(|_| start.plan.naming.identity == Identity::AlwaysUnique);
    Start { key: start.key.or(own), ..start }
}

/// Everything that can be wrong is found here, before anything is written.
async fn prepared(app: &App, asked: wire::Start, by: Name) -> Done<Start> {
    let (flow, seq) = (asked.flow.as_deref().filter(|_| asked.source.is_none()), app.engine().control_seq());
    let Some(name) = flow.map(Name::parse).transpose()? else {
        return app.readers().look(move |reader| prepare(asked, by, reader)).await;
    };
    if let Some(plan) = app.flows().plan(seq, &name) {
        return given(plan, Vec::new(), asked, by);
    }
    let start = app.readers().look(move |reader| prepare(asked, by, reader)).await?;
    app.flows().keep(seq, name, Arc::clone(&start.plan));
    Ok(start)
}

fn prepare(asked: wire::Start, by: Name, reader: &mut Reader) -> Done<Start> {
    let (plan, children) = match &asked.source {
        Some(text) => compiled(text, asked.file.as_deref(), asked.flow.as_deref())?,
        None => (registered(asked.flow.as_deref(), reader)?, Vec::new()),
    };
    given(plan, children, asked, by)
}

/// A run of a plan with what it is given.
fn given(plan: Arc<Plan>, children: Vec<Arc<Plan>>, asked: wire::Start, by: Name) -> Done<Start> {
    let wire::Start { input, key, labels, .. } = asked;
    let given = match input {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(given)) => given,
        Some(other) => {
            let message = format!("`input` must be an object with the flow's inputs, this is {other}");
            return Err(Error::invalid("bad_input", message));
        }
    };
    let input = RawValue::from_string(input::complete(&plan.inputs, &given)?)
        .map_err(|error| Error::bug("unprintable", "the input has no JSON form").with_source(error))?;
    Ok(Start { plan, children, input, by, key, labels })
}

fn compiled(text: &str, file: Option<&str>, name: Option<&str>) -> Done<(Arc<Plan>, Vec<Arc<Plan>>)> {
    let file = file.unwrap_or("flow.yaml");
    let flows = compile_file(text, file).map_err(|problems| Error::invalid("bad_flow", problems.to_string()))?;
    let compiled = choose(flows, file, name)?;
    Ok((Arc::new(compiled.plan), compiled.children))
}

fn registered(name: Option<&str>, reader: &mut Reader) -> Done<Arc<Plan>> {
    let Some(name) = name else {
        let message = "send `flow` with the name of a registered flow, or `source` with the text of one";
        return Err(Error::invalid("no_flow", message));
    };
    let name = Name::parse(name)?;
    let Some(plan) = reader.flow(&name)?.map(|known| known.plan) else {
        let message = format!("no flow is registered as {name}; `edgewise register FILE` does it");
        return Err(Error::not_found("flow_not_found", message));
    };
    reader.plan(plan)
}

/// What a list of runs can be asked with.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListQuery {
    q: Option<String>,
    all: Option<bool>,
    after: Option<String>,
    limit: Option<usize>,
}

pub async fn list(State(app): State<App>, Query(asked): Query<ListQuery>) -> Result<Json<wire::Runs>> {
    let now = app.now();
    Ok(Json(app.readers().look(move |reader| page(&asked, now, reader)).await?))
}

fn page(asked: &ListQuery, now: Time, reader: &mut Reader) -> Done<wire::Runs> {
    let limit = asked.limit.unwrap_or(limits::PAGE_DEFAULT).clamp(1, limits::PAGE);
    let mut filter = query::parse(asked.q.as_deref().unwrap_or_default(), now)?;
    filter.after = asked.after.as_deref().map(Cursor::parse).transpose()?.map(|Cursor(at, run)| (at, run));
    // One more tells whether there is a next page.
    let filter = RunFilter { limit: limit + 1, ..filter };
    let mut rows = if asked.all == Some(true) { reader.runs(&filter)? } else { reader.roots(&filter)? };
    let more = rows.len() > limit;
    rows.truncate(limit);
    let mut runs = Vec::with_capacity(rows.len());
    for row in &rows {
        runs.push(value(&Listed::new(row, reader.frozen(row.id)?))?);
    }
    let next = rows.last().filter(|_| more).map(|row| Cursor(row.triggered_at, row.id).to_string());
    Ok(wire::Runs { runs, next })
}

/// When in a run's past.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShowQuery {
    at: Option<String>,
    after: Option<String>,
    limit: Option<usize>,
}

impl ShowQuery {
    /// Which of the tasks; `None` for all of them, as programs of one run mean it.
    fn page(&self) -> Done<Option<Page>> {
        let asked = self.after.is_some() || self.limit.is_some();
        asked.then(|| Page::new(self.after.as_deref(), self.limit)).transpose()
    }
}

pub async fn show(
    State(app): State<App>,
    Path(run): Path<String>,
    Query(asked): Query<ShowQuery>,
) -> Result<Json<Value>> {
    let (run, page) = (find(&app, run).await?, asked.page()?);
    let shown = app.readers().look(move |reader| match asked.at {
        // Whether it is frozen is so now, not then.
        Some(at) => value(&RunFacts::new(&reader.as_of(run, Past::parse(&at)?)?, None, true)),
        None => {
            let frozen = reader.frozen(run)?;
            value(&RunFacts::new(&reader.run(run)?, frozen, true))
        }
    });
    let mut shown = shown.await?;
    if let Some(page) = page {
        paged(&mut shown, "tasks", |all| page.behind(all, |task| task["path"].as_str().unwrap_or_default()))?;
    }
    Ok(Json(shown))
}

/// Which task of a run.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WhyQuery {
    task: Option<String>,
}

pub async fn why(
    State(app): State<App>,
    Path(run): Path<String>,
    Query(asked): Query<WhyQuery>,
) -> Result<Json<Value>> {
    let run = find(&app, run).await?;
    let (set, now) = (app.queues(), app.now());
    let told = app.readers().look(move |reader| {
        let (mark, run) = (reader.frozen(run)?, reader.run(run)?);
        let (run, task) = match &asked.task {
            Some(path) => reader.with_task(run, path).map(|(run, task)| (run, Some(task)))?,
            None => (run, None),
        };
        let explained = reader.explain(run, task, &set, now)?;
        let mut told = value(&explained)?;
        told["engine"] = true.into();
        if let Some(path) = asked.task {
            told["task"] = path.into();
        }
        if let Some(reason) = mark.or_else(|| explained.run.freeze_mark()) {
            told["frozen"] = reason.into();
        }
        Ok(told)
    });
    Ok(Json(told.await?))
}

/// How long somebody waits for the end of a run.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndQuery {
    wait_ms: Option<u64>,
}

pub async fn end(
    State(app): State<App>,
    Path(run): Path<String>,
    Query(asked): Query<EndQuery>,
) -> Result<Json<wire::Ended>> {
    let run = find(&app, run).await?;
    let patience = Duration::from_millis(asked.wait_ms.unwrap_or(0)).min(limits::WAIT);
    let ended = if patience.is_zero() {
        let row = app.readers().look(move |reader| reader.row(run)).await?;
        let missing = || Error::not_found("run_not_found", format!("there is no run {run}"));
        row.ok_or_else(missing)?.state.is_done()
    } else {
        // The engine answers at once where there is nothing to wait for: the run is over, or not there.
        match tokio::time::timeout(patience, app.engine().wait(run)).await {
            Ok(state) => state.map(|_| true)?,
            Err(_) => false,
        }
    };
    if !ended {
        return Ok(Json(wire::Ended { run: run.to_string(), state: None, output: None }));
    }
    Ok(Json(app.readers().look(move |reader| last(run, reader)).await?))
}

fn last(run: RunId, reader: &mut Reader) -> Done<wire::Ended> {
    let run = reader.run(run)?;
    let output = (run.state.phase() == Phase::Succeeded).then(|| run.final_output().ok()).flatten();
    Ok(wire::Ended { run: run.id.to_string(), state: Some(format!("{:?}", run.state)), output })
}

fn value(facts: &impl serde::Serialize) -> Done<Value> {
    serde_json::to_value(facts)
        .map_err(|error| Error::bug("unprintable", "an answer has no JSON form").with_source(error))
}
