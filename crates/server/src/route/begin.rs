//! Flows that are begun from outside: by an address of their own, for as long as their text says `on: webhook`.

use super::hook::{BY, DELIVERY, kept, kept_as, signed};
use super::run::traced;
use crate::app::App;
use crate::audit::Made;
use crate::auth::Principal;
use crate::body::{Json, read_within};
use crate::door::too_often;
use crate::hook::{Of, flow_in_address, flow_of_address, no_hook};
use crate::limits;
use crate::params::Path;
use crate::problem::Result;
use axum::extract::{Extension, Request, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use edgewise_client::wire;
use edgewise_core::control::Hook;
use edgewise_core::input;
use edgewise_core::name::Name;
use edgewise_core::{Error, Result as Done};
use edgewise_engine::command::Start;
use edgewise_engine::reader::Reader;
use ring::digest;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The address of a flow.
pub async fn address(
    State(app): State<App>,
    Extension(who): Extension<Principal>,
    Path(flow): Path<String>,
    Json(asked): Json<wire::HookRequest>,
) -> Result<Json<wire::FlowHook>> {
    let name = Name::parse(&flow)?;
    let named = name.clone();
    app.readers().look(move |reader| declared(reader, &named)).await?;
    let (path, expires_at) = signed(&app, who.name, (Of::Flow, &flow_in_address(&name)), &asked).await?;
    Ok(Json(wire::FlowHook { flow, path, expires_at }))
}

/// How a flow is begun from outside, if it is.
fn declared(reader: &mut Reader, flow: &Name) -> Done<Hook> {
    let Some(known) = reader.flow(flow)? else {
        let message = format!("no flow is registered as {flow}; `edgewise register FILE` does it");
        return Err(Error::not_found("flow_not_found", message));
    };
    known.hook.ok_or_else(|| {
        let message =
            format!("flow {flow} has no address: write `on: {{ webhook: {{}} }}` into it and register it again");
        Error::not_found("no_webhook", message)
    })
}

/// Somebody calls a flow's address: what they sent is the input of a run.
pub async fn deliver(
    State(app): State<App>,
    Path(hook): Path<String>,
    headers: HeaderMap,
    request: Request,
) -> Result<Response> {
    let secret = kept(&app).await?.ok_or_else(|| no_hook(Of::Flow))?;
    let flow = flow_of_address(secret.check(app.home(), Of::Flow, &hook, app.now())?)?;
    if let Err(wait) = app.starts().ask(flow.clone(), app.now()) {
        let message = format!("the address of flow {flow} is called too often: come again in {wait}");
        return Ok(too_often(message, wait));
    }
    let body = read_within(request, limits::START_BYTES).await?;
    let id = headers.get(DELIVERY).and_then(|id| id.to_str().ok());
    let key = id.map(|id| key(&flow, id));
    let mut start = app.readers().look(move |reader| prepare(reader, &flow, key, &body)).await?;
    traced(&headers, &mut start.labels);
    let (run, new) = app.engine().start_run(start).await?;
    let run = run.to_string();
    Ok((Extension(Made(run.clone())), Json(wire::Started { run, new })).into_response())
}

/// The same delivery to the same flow has the same key, and so begins nothing twice.
fn key(flow: &Name, id: &str) -> String {
    let digest = digest::digest(&digest::SHA256, format!("{flow}\n{id}").as_bytes());
    let hex: String = digest.as_ref()[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("webhook:{hex}")
}

/// Everything that can be wrong is found here, before anything is written.
fn prepare(reader: &mut Reader, flow: &Name, key: Option<String>, body: &[u8]) -> Done<Start> {
    let hook = declared(reader, flow)?;
    let known = reader.flow(flow)?.ok_or_else(|| no_hook(Of::Flow))?;
    let plan = reader.plan(known.plan)?;
    let given = given(&hook, body)?;
    let input = RawValue::from_string(input::complete(&plan.inputs, &given)?)
        .map_err(|error| Error::bug("unprintable", "the input has no JSON form").with_source(error))?;
    Ok(Start { plan, children: Vec::new(), input, by: Name::parse(BY)?, key, labels: BTreeMap::new() })
}

/// The inputs that a body stands for: its keys, or all of it under one name.
fn given(hook: &Hook, body: &[u8]) -> Done<Map<String, Value>> {
    if let Some(into) = &hook.into {
        let value = if body.is_empty() { Value::Null } else { kept_as(body) };
        return Ok(Map::from_iter([(into.to_string(), value)]));
    }
    match serde_json::from_slice(if body.is_empty() { b"{}" } else { body }) {
        Ok(Value::Object(given)) => Ok(given),
        Ok(_) => {
            let message =
                "the body must be a JSON object with the flow's inputs; `into` in the flow takes any body whole";
            Err(Error::invalid("bad_body", message))
        }
        Err(error) => Err(Error::invalid("bad_body", format!("the body is not JSON: {error}"))),
    }
}
