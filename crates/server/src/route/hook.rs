//! Gates that the world opens: by an address of their own, or by what they are called in another system.

use super::item::look;
use crate::app::App;
use crate::auth::Principal;
use crate::body::{Json, read_within};
use crate::hook::{PATH, SETTING, Secret, no_hook};
use crate::limits;
use crate::params::Path;
use crate::problem::Result;
use axum::extract::{Extension, Request, State};
use axum::http::HeaderMap;
use edgewise_client::wire;
use edgewise_core::control::SettingChanged;
use edgewise_core::name::Name;
use edgewise_core::time::{Millis, Time};
use edgewise_core::work::{GateWait, Op, Work, WorkGate};
use edgewise_core::{Error, Result as Done};
use edgewise_engine::command::Command;
use edgewise_engine::reader::Reader;
use serde_json::{Value, json};

/// Whose name stands beside what an address did.
const BY: &str = "webhook";
/// Names a delivery, so that a second one of it is known (Standard Webhooks).
const DELIVERY: &str = "webhook-id";
/// How long an address is good where nobody says.
const EXPIRES: Millis = Millis(30 * 86_400_000);

/// The address of a gate.
pub async fn address(
    State(app): State<App>,
    Extension(who): Extension<Principal>,
    Path(gate): Path<String>,
    Json(asked): Json<wire::HookRequest>,
) -> Result<Json<wire::Hook>> {
    let gate = look(&app, move |work, _| webhook_gate(work, &gate)).await?;
    let span = asked.expires.as_deref().map_or(Ok(EXPIRES), Millis::parse)?;
    let secret = secret(&app, who.name).await?;
    let expires = app.now().plus(span);
    let path = format!("{PATH}{}", secret.sign(app.home(), &gate, expires));
    Ok(Json(wire::Hook { gate, path, expires_at: expires.to_string() }))
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
    let change = SettingChanged { key: Name::parse(SETTING)?, value: Some(Secret::fresh()?.into()), by };
    app.engine().ask(Command::ChangeSetting(change)).await?;
    kept(app).await?.ok_or_else(|| Error::bug("no_secret", "a secret that was just kept is not there"))
}

async fn kept(app: &App) -> Done<Option<Secret>> {
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
    let secret = kept(&app).await?.ok_or_else(no_hook)?;
    let gate = secret.check(app.home(), &hook, app.now())?.to_owned();
    let body = read_within(request, limits::HOOK_BYTES).await?;
    let delivery = headers.get(DELIVERY).and_then(|id| id.to_str().ok()).map(str::to_owned);
    let evidence = json!({ "delivery": delivery, "body": kept_as(&body) });
    let op = Op::Deliver { id: gate.clone(), evidence };
    match app.engine().work(vec![op], Name::parse(BY)?, None).await {
        Ok(_) => Ok(Json(wire::Opened { gates: vec![gate], already: false })),
        Err(error) if error.code == "gate_ended" => again(&app, gate, delivery, error).await,
        Err(error) => Err(error.into()),
    }
}

/// JSON as it is, anything else as text.
fn kept_as(body: &[u8]) -> Value {
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
        return Ok(Json(wire::Opened { gates: vec![gate], already: true }));
    }
    Err(Error::conflict("hook_used", format!("this address was used, or its gate ended otherwise: {}", error.message))
        .into())
}

/// Another system says that something is so: the gates that wait for it open, all of them.
pub async fn report(
    State(app): State<App>,
    Extension(who): Extension<Principal>,
    Json(asked): Json<wire::ExternalReport>,
) -> Result<Json<wire::Opened>> {
    let wire::ExternalReport { external_system, external_id, evidence } = asked;
    let wanted = GateWait::External { external_system, external_id };
    let known = look(&app, move |work, _: Time| {
        let all = work.gates().filter(|gate| gate.wait == wanted);
        Ok(all.map(|gate| (gate.id.to_string(), gate.ended.is_some())).collect::<Vec<_>>())
    });
    let known = known.await?;
    if known.is_empty() {
        let message = "no gate waits for that: `GET /api/v1/gates` lists those that wait";
        return Err(Error::not_found("gate_not_found", message).into());
    }
    let closed: Vec<String> = known.iter().filter(|(_, ended)| !ended).map(|(id, _)| id.clone()).collect();
    if closed.is_empty() {
        return Ok(Json(wire::Opened { gates: known.into_iter().map(|(id, _)| id).collect(), already: true }));
    }
    let evidence = evidence.unwrap_or_default();
    let ops = closed.iter().map(|id| Op::Deliver { id: id.clone(), evidence: evidence.clone() }).collect();
    app.engine().work(ops, who.name, None).await?;
    Ok(Json(wire::Opened { gates: closed, already: false }))
}
