//! Flows: checked, registered, drawn.

use super::insight::{GraphQuery, drawn};
use crate::app::App;
use crate::auth::Principal;
use crate::body::Json;
use crate::page::Page;
use crate::params::{Path, Query};
use crate::problem::Result;
use axum::extract::{Extension, State};
use axum::response::Response;
use edgewise_client::wire::{FlowListed, FlowRegistered, FlowText, Flows, Registered};
use edgewise_core::flow::{Compiled, choose, compile_file, schema};
use edgewise_core::name::Name;
use edgewise_core::plan::Plan;
use edgewise_core::sketch::Sketch;
use edgewise_core::{Error, Result as Done};
use edgewise_engine::command::{Answer, Command, Register};
use edgewise_engine::facts::check::{Flow, Report};
use edgewise_engine::reader::Reader;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// How a text without a name is called.
const FILE: &str = "flow.yaml";

/// What a list of flows is asked with.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListQuery {
    after: Option<String>,
    limit: Option<usize>,
}

pub async fn list(State(app): State<App>, Query(asked): Query<ListQuery>) -> Result<Json<Flows>> {
    let page = Page::new(asked.after.as_deref(), asked.limit)?;
    let control = app.readers().look(Reader::control).await?;
    let (shown, next) = page.of(control.flows.into_iter().collect(), |(flow, _)| flow.to_string())?;
    let flows = shown.into_iter().map(|(flow, known)| FlowListed {
        flow: flow.to_string(),
        plan: known.plan.to_string(),
        version: known.version,
        by: known.by.to_string(),
        at: known.at.to_string(),
        webhook: known.hook.is_some(),
    });
    Ok(Json(Flows { flows: flows.collect(), next }))
}

/// The plan that new runs of a flow get.
async fn registered(app: &App, flow: &str) -> Done<Arc<Plan>> {
    let flow = Name::parse(flow)?;
    let plan = app.readers().look(move |reader| {
        let known = reader.control()?.flows.get(&flow).map(|known| known.plan);
        let missing = || Error::not_found("flow_not_found", format!("no flow is registered as {flow}"));
        reader.plan(known.ok_or_else(missing)?)
    });
    plan.await
}

pub async fn show(State(app): State<App>, Path(flow): Path<String>) -> Result<Json<Value>> {
    let mut shown = stored(&*registered(&app, &flow).await?)?;
    let known = app.readers().look(Reader::control).await?;
    let hook = Name::parse(&flow).ok().and_then(|flow| known.flows.get(&flow)?.hook.clone());
    shown["webhook"] = json!(hook);
    Ok(Json(shown))
}

pub async fn graph(
    State(app): State<App>,
    Path(flow): Path<String>,
    Query(asked): Query<GraphQuery>,
) -> Result<Response> {
    if asked.at.is_some() {
        let message = "a flow has no past: `at` looks back into a run";
        return Err(Error::invalid("flow_has_no_past", message).into());
    }
    Ok(drawn(&Sketch::of_plan(&*registered(&app, &flow).await?), &asked))
}

/// A plan as it is stored, with its hash.
fn stored(plan: &Plan) -> Done<Value> {
    let (hash, bytes) = plan.encode();
    let plan: Value = serde_json::from_slice(&bytes)
        .map_err(|error| Error::bug("unprintable", "a plan has no JSON form").with_source(error))?;
    Ok(json!({ "hash": hash, "plan": plan }))
}

fn compiled(text: &FlowText) -> Done<Vec<Compiled>> {
    compile_file(&text.source, text.file.as_deref().unwrap_or(FILE))
        .map_err(|problems| Error::invalid("bad_flow", problems.to_string()))
}

/// The flows of a text, or everything that is wrong with it.
pub async fn check(Json(text): Json<FlowText>) -> Json<Value> {
    let file = text.file.clone().unwrap_or_else(|| FILE.into());
    match compile_file(&text.source, &file) {
        Ok(flows) => {
            let warnings = flows.first().map(|one| one.warnings.clone()).unwrap_or_default();
            let found = flows.iter().map(|one| Flow::new(&one.plan)).collect();
            Json(json!(Report { ok: true, flows: found, ..Report::new(file, &warnings) }))
        }
        Err(problems) => Json(json!(Report::new(file, &problems))),
    }
}

/// The plan that a text is compiled to.
pub async fn plan(Json(text): Json<FlowText>) -> Result<Json<Value>> {
    let flow = choose(compiled(&text)?, text.file.as_deref().unwrap_or(FILE), None)?;
    Ok(Json(stored(&flow.plan)?))
}

pub async fn register(
    State(app): State<App>,
    Extension(who): Extension<Principal>,
    Json(text): Json<FlowText>,
) -> Result<Json<Registered>> {
    let mut flows = Vec::new();
    for Compiled { plan, children, schedules, hook, .. } in compiled(&text)? {
        let (flow, names) = (plan.flow.to_string(), schedules.keys().map(ToString::to_string).collect());
        let webhook = hook.is_some();
        let asked = Register { plan: Arc::new(plan), children, schedules, hook, by: who.name.clone() };
        let answer = app.engine().ask(Command::Register(asked)).await?;
        flows.push(FlowRegistered { flow, changed: !matches!(answer, Answer::Already), schedules: names, webhook });
    }
    Ok(Json(Registered { flows }))
}

/// The schema of flow files, for editors.
pub async fn schema_of_flows() -> Json<Value> {
    Json(schema())
}
