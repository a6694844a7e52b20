//! Gates that the world opens: by an address of their own, or by what they are called in another system.

use super::find;
use super::item::look;
use crate::app::App;
use crate::auth::Principal;
use crate::body::{Json, read_within};
use crate::hook::{Of, RunGate, Secret, no_hook};
use crate::limits;
use crate::params::Path;
use crate::problem::Result;
use axum::extract::{Extension, Request, State};
use axum::http::HeaderMap;
use edgewise_client::wire;
use edgewise_core::control::{HOOK_SECRET, SettingChanged};
use edgewise_core::fold::is_refusal;
use edgewise_core::name::Name;
use edgewise_core::time::{Millis, Time};
use edgewise_core::work::{GateWait, Op, Work, WorkGate};
use edgewise_core::{Error, Kind, Result as Done};
use edgewise_engine::command::{Command, GateAct, Satisfy};
use edgewise_engine::facts::gate::{ClosedGate, begun, opened_by};
use edgewise_engine::reader::Reader;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// Whose name stands beside what an address did.
pub(super) const BY: &str = "webhook";
/// Names a delivery, so that a second one of it is known (Standard Webhooks).
pub(super) const DELIVERY: &str = "webhook-id";

/// The address of a gate.
pub async fn address(
    State(app): State<App>,
    Extension(who): Extension<Principal>,
    Path(gate): Path<String>,
    Json(asked): Json<wire::HookRequest>,
) -> Result<Json<wire::Hook>> {
    let gate = look(&app, move |work, _| webhook_gate(work, &gate)).await?;
    let (path, expires_at) = signed(&app, who.name, (Of::Gate, &gate), &asked).await?;
    Ok(Json(wire::Hook { gate, path, expires_at }))
}

/// The address of a gate of a run, in the generation that it has now.
pub async fn address_of_run(
    State(app): State<App>,
    Extension(who): Extension<Principal>,
    Path((run, task)): Path<(String, String)>,
    Json(asked): Json<wire::HookRequest>,
) -> Result<Json<wire::Hook>> {
    let run = find(&app, run).await?;
    let gate = format!("{run}/{task}");
    let of_run = app.readers().look(move |reader| RunGate::of(&reader.run(run)?, &task)).await?;
    let (path, expires_at) = signed(&app, who.name, (Of::Gate, &of_run.to_string()), &asked).await?;
    Ok(Json(wire::Hook { gate, path, expires_at }))
}

/// A path from the server's root, and until when it is good.
pub(super) async fn signed(
    app: &App,
    by: Name,
    (of, named): (Of, &str),
    asked: &wire::HookRequest,
) -> Done<(String, String)> {
    let span = asked.expires.as_deref().map_or(Ok(of.good_for()), Millis::parse)?;
    let expires = app.now().plus(span);
    let path = secret(app, by).await?.path(app.home(), (of, named), expires);
    Ok((format!("{}{path}", app.prefix()), expires.to_string()))
}

fn webhook_gate(work: &Work, text: &str) -> Done<String> {
    let id = work.resolve(text)?;
    match work.gate(id.as_str()) {
        Some(WorkGate { wait: GateWait::Webhook, .. }) => Ok(id.to_string()),
        Some(gate) => {
            let message = format!("gate {id} is of the type {}: only a webhook gate has an address", gate.wait.name());
            Err(Error::invalid("wrong_gate", message))
        }
        None => Err(Error::not_found("gate_not_found", format!("{id} is an item, not a gate"))),
    }
}

/// The workspace's secret; made when the first address is asked for, by one at a time.
async fn secret(app: &App, by: Name) -> Done<Secret> {
    let _turn = app.hooks().lock().await;
    if let Some(secret) = kept(app).await? {
        return Ok(secret);
    }
    let change = SettingChanged { key: Name::parse(HOOK_SECRET)?, value: Some(Secret::fresh()?.into()), by, why: None };
    app.engine().ask(Command::ChangeSetting(change)).await?;
    kept(app).await?.ok_or_else(|| Error::bug("no_secret", "a secret that was just kept is not there"))
}

pub(super) async fn kept(app: &App) -> Done<Option<Secret>> {
    let control = app.readers().look(Reader::control).await?;
    Secret::of(&control.settings)
}

/// Somebody calls a gate's address. What they sent is kept with the gate.
pub async fn deliver(
    State(app): State<App>,
    Path(hook): Path<String>,
    headers: HeaderMap,
    request: Request,
) -> Result<Json<wire::Opened>> {
    let secret = kept(&app).await?.ok_or_else(|| no_hook(Of::Gate))?;
    let gate = secret.check(app.home(), Of::Gate, &hook, app.now())?.to_owned();
    let body = read_within(request, limits::HOOK_BYTES).await?;
    let delivery = headers.get(DELIVERY).and_then(|id| id.to_str().ok()).map(str::to_owned);
    if let Some(gate) = RunGate::parse(&gate) {
        return deliver_to_run(&app, gate, delivery, &body).await;
    }
    let evidence = json!({ "delivery": delivery, "body": kept_as(&body) });
    let op = Op::Deliver { id: gate.clone(), evidence };
    match app.engine().work(vec![op], Name::parse(BY)?, None).await {
        Ok(_) => Ok(Json(opened(vec![gate]))),
        Err(error) if error.code == "gate_ended" => again(&app, gate, delivery, error).await,
        Err(error) => Err(error.into()),
    }
}

/// What was sent becomes the output of a run's gate.
async fn deliver_to_run(app: &App, gate: RunGate, delivery: Option<String>, body: &[u8]) -> Result<Json<wire::Opened>> {
    let RunGate { run, task, generation } = gate;
    let path = app.readers().look(move |reader| {
        let run = reader.run(run)?;
        run.task(task).map(|_| run.path(task)).ok_or_else(|| no_hook(Of::Gate))
    });
    let path = path.await?;
    let gates = vec![format!("{run}/{path}")];
    let act = GateAct { run, task: path, by: Name::parse(BY)?, comment: None };
    let output = if body.is_empty() { None } else { raw(&kept_as(body))? };
    let satisfy = Satisfy { act, generation: Some(generation), delivery: delivery.clone(), output };
    let error = match app.engine().ask(Command::Satisfy(satisfy)).await {
        Ok(_) => return Ok(Json(opened(gates))),
        Err(error) if is_over(&error) => error,
        Err(error) => return Err(error.into()),
    };
    let same = match delivery {
        Some(delivery) => {
            app.readers().look(move |reader| opened_by(reader, run, (task, generation), &delivery)).await?
        }
        None => false,
    };
    if same {
        return Ok(Json(already(gates)));
    }
    Err(used(&error).into())
}

fn opened(gates: Vec<String>) -> wire::Opened {
    wire::Opened { gates, ..wire::Opened::default() }
}

fn already(gates: Vec<String>) -> wire::Opened {
    wire::Opened { already: true, ..opened(gates) }
}

/// Whether a gate is not, or not any more, to be opened by an address.
fn is_over(error: &Error) -> bool {
    error.code == "stale" || (is_refusal(error.code) && error.code != "run_frozen")
}

/// A value as it is kept in the ledger.
pub(super) fn raw(value: &Value) -> Done<Option<Box<RawValue>>> {
    let text = RawValue::from_string(value.to_string());
    text.map(Some).map_err(|error| Error::bug("unprintable", "what came has no JSON form").with_source(error))
}

fn used(error: &Error) -> Error {
    Error::conflict("hook_used", format!("this address was used, or its gate ended otherwise: {}", error.message))
}

/// JSON as it is, anything else as text.
pub(super) fn kept_as(body: &[u8]) -> Value {
    serde_json::from_slice(body).unwrap_or_else(|_| String::from_utf8_lossy(body).into_owned().into())
}

/// The same delivery a second time is answered as the first one; a used address opens nothing more.
async fn again(app: &App, gate: String, delivery: Option<String>, error: Error) -> Result<Json<wire::Opened>> {
    let id = gate.clone();
    let first = look(app, move |work, _| {
        let ended = work.gate(&id).and_then(|gate| gate.ended.clone());
        Ok(ended.filter(|ended| ended.satisfied).and_then(|ended| ended.evidence))
    });
    let same = first.await?.is_some_and(|first| delivery.is_some() && first["delivery"] == json!(delivery));
    if same {
        return Ok(Json(already(vec![gate])));
    }
    Err(used(&error).into())
}

/// Another system says that something is so: the gates that wait for it open, all of them.
pub async fn report(
    State(app): State<App>,
    Extension(who): Extension<Principal>,
    Json(asked): Json<wire::ExternalReport>,
) -> Result<Json<wire::Opened>> {
    let wire::ExternalReport { external_system, external_id, evidence } = asked;
    let evidence = evidence.unwrap_or_default();
    let of_runs = tell_runs(&app, &who.name, (&external_system, &external_id), &evidence).await?;
    let wanted = GateWait::External { external_system, external_id };
    let known = look(&app, move |work, _: Time| {
        let all = work.gates().filter(|gate| gate.wait == wanted);
        Ok(all.map(|gate| (gate.id.to_string(), gate.ended.is_some())).collect::<Vec<_>>())
    });
    let known = known.await?;
    let closed: Vec<String> = known.iter().filter(|(_, ended)| !ended).map(|(id, _)| id.clone()).collect();
    if !closed.is_empty() {
        let ops = closed.iter().map(|id| Op::Deliver { id: id.clone(), evidence: evidence.clone() }).collect();
        app.engine().work(ops, who.name, None).await?;
    }
    let Told { opened: gates, frozen, why } = of_runs;
    let gates: Vec<String> = gates.into_iter().chain(closed).collect();
    match (gates.is_empty(), why, known.is_empty()) {
        (false, ..) => Ok(Json(wire::Opened { gates, already: false, frozen })),
        (true, Some(why), _) => Err(why.into()),
        (true, None, false) => Ok(Json(already(known.into_iter().map(|(id, _)| id).collect()))),
        (true, None, true) => {
            let message = "no gate waits for that: `GET /api/v1/gates` lists those that wait";
            Err(Error::not_found("gate_not_found", message).into())
        }
    }
}

/// What came of telling runs: gates that are open now, and those that stay closed because their run is frozen.
#[derive(Default)]
struct Told {
    opened: Vec<String>,
    frozen: Vec<String>,
    /// What the first frozen one said.
    why: Option<Error>,
}

/// Opens the gates of runs that wait for it. A run that is frozen does not keep the others closed.
async fn tell_runs(app: &App, by: &Name, (system, id): (&str, &str), evidence: &Value) -> Done<Told> {
    let (system, id) = (system.to_owned(), id.to_owned());
    let waiting =
        app.readers().look(move |reader| {
            let mut waiting = Vec::new();
            for run in begun(reader)? {
                let run = match reader.run(run) {
                    Ok(run) => run,
                    // One damaged run does not keep the others closed.
                    Err(error) if error.kind == Kind::Corrupt => continue,
                    Err(error) => return Err(error),
                };
                waiting.extend(ClosedGate::of_run(&run).into_iter().filter(|gate| {
                    gate.external.as_ref().is_some_and(|at| at.system.as_str() == system && at.id == id)
                }));
            }
            Ok(waiting)
        });
    let output = if evidence.is_null() { None } else { raw(evidence)? };
    let mut told = Told::default();
    for ClosedGate { run, task, generation, .. } in waiting.await? {
        let name = format!("{run}/{task}");
        let act = GateAct { run, task, by: by.clone(), comment: None };
        let satisfy = Satisfy { act, generation: Some(generation), delivery: None, output: output.clone() };
        match app.engine().ask(Command::Satisfy(satisfy)).await {
            Ok(_) => told.opened.push(name),
            // It ended while the others were looked for.
            Err(error) if is_over(&error) => {}
            Err(error) if error.code == "run_frozen" => {
                told.frozen.push(name);
                told.why.get_or_insert(error);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(told)
}
