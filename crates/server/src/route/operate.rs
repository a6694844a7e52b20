//! What an operator reaches for: queues, old runs, tokens.

use crate::app::App;
use crate::auth::{Kept, PREFIX, Principal, UNREADABLE};
use crate::body::Json;
use crate::limits;
use crate::page::PageQuery;
use crate::params::{Path, Query};
use crate::problem::Result;
use axum::extract::{Extension, State};
use edgewise_client::wire;
use edgewise_core::control::{Setting, SettingChanged};
use edgewise_core::id::{RunId, Token};
use edgewise_core::name::Name;
use edgewise_core::rate::Rate;
use edgewise_core::state::RunState;
use edgewise_core::time::{Millis, Time};
use edgewise_core::{Error, Result as Done};
use edgewise_engine::command::{Answer, Command, SetQueue};
use edgewise_engine::entropy::Entropy;
use edgewise_engine::query;
use edgewise_engine::queues::{QueueChange, QueueSettings};
use edgewise_engine::reader::Reader;
use edgewise_engine::retention::{KEEP_KEYS, Removing, Retention};
use edgewise_store::RunFilter;
use serde_json::{Value, json};

/// Changes a setting, or takes it away.
async fn set(app: &App, who: &Principal, key: &str, value: Option<Value>) -> Done<bool> {
    let change = SettingChanged { key: Name::parse(key)?, value, by: who.name.clone(), why: None };
    let answer = app.engine().ask(Command::ChangeSetting(change)).await?;
    Ok(!matches!(answer, Answer::Already))
}

/// Queues and limits: what is used, what waits, and who holds what.
pub async fn queues(State(app): State<App>) -> Result<Json<Value>> {
    let given = app.queues();
    Ok(Json(json!(app.readers().look(move |reader| reader.shares(&given)).await?)))
}

/// A setting of the workspace: it holds for every engine, and after a restart.
pub async fn set_queue(
    State(app): State<App>,
    Extension(who): Extension<Principal>,
    Path(queue): Path<String>,
    Json(asked): Json<wire::SetQueue>,
) -> Result<Json<wire::ActTaken>> {
    let rate = asked.rate.as_deref().map(Rate::parse).transpose()?;
    let to = QueueSettings { slots: asked.slots, rate, paused: asked.paused };
    change_queue(&app, who, &queue, (Some(to.into()), asked.why)).await
}

pub async fn pause_queue(
    State(app): State<App>,
    Extension(who): Extension<Principal>,
    Path(queue): Path<String>,
    Json(asked): Json<wire::ItemAct>,
) -> Result<Json<wire::ActTaken>> {
    let change = QueueChange { paused: Some(true), ..QueueChange::default() };
    change_queue(&app, who, &queue, (Some(change), asked.why)).await
}

pub async fn resume_queue(
    State(app): State<App>,
    Extension(who): Extension<Principal>,
    Path(queue): Path<String>,
    Json(asked): Json<wire::ItemAct>,
) -> Result<Json<wire::ActTaken>> {
    let change = QueueChange { paused: Some(false), ..QueueChange::default() };
    change_queue(&app, who, &queue, (Some(change), asked.why)).await
}

pub async fn unset_queue(
    State(app): State<App>,
    Extension(who): Extension<Principal>,
    Path(queue): Path<String>,
    Json(asked): Json<wire::ItemAct>,
) -> Result<Json<wire::ActTaken>> {
    change_queue(&app, who, &queue, (None, asked.why)).await
}

async fn change_queue(
    app: &App,
    who: Principal,
    queue: &str,
    (change, why): (Option<QueueChange>, Option<String>),
) -> Result<Json<wire::ActTaken>> {
    let asked = SetQueue { queue: Name::parse(queue)?, change, by: who.name, why };
    let answer = app.engine().ask(Command::SetQueue(asked)).await?;
    Ok(Json(wire::ActTaken { already: matches!(answer, Answer::Already), reopened: None }))
}

/// Takes runs away that are long over, some at a time.
pub async fn retain(State(app): State<App>, Json(asked): Json<wire::Retain>) -> Result<Json<wire::Retained>> {
    let now = app.now();
    let rules = rules(&asked, now)?;
    let keep_keys = rules.keep_keys;
    let old = app.readers().look(move |reader| old(&rules, now, reader)).await?;
    let more = old.len() > limits::RETAIN;
    let runs: Vec<RunId> = old.into_iter().take(limits::RETAIN).collect();
    let names = |runs: &[RunId]| runs.iter().map(ToString::to_string).collect();
    if asked.dry_run || runs.is_empty() {
        return Ok(Json(wire::Retained { gone: names(&runs), kept: Vec::new(), more }));
    }
    match app.engine().ask(Command::Remove(Removing { runs: runs.clone(), keep_keys })).await? {
        Answer::Removed { kept, more: left } => {
            let gone: Vec<RunId> = runs.into_iter().filter(|run| !kept.iter().any(|kept| kept.run == *run)).collect();
            let kept = kept.iter().map(|kept| json!({ "run": kept.run, "code": kept.code, "message": kept.message }));
            Ok(Json(wire::Retained { gone: names(&gone), kept: kept.collect(), more: more || left }))
        }
        other => Err(Error::bug("unexpected_answer", format!("the engine answered {other:?}")).into()),
    }
}

/// Failures are kept for whoever looks into them, unless the search names them.
fn rules(asked: &wire::Retain, now: Time) -> Done<Retention> {
    let mut filter = query::parse(asked.q.as_deref().unwrap_or_default(), now)?;
    if filter.states.is_empty() {
        filter.states = vec![RunState::Complete, RunState::Cancelled, RunState::ResolvedManually];
    }
    let keep_keys = asked.keys.as_deref().map_or(Ok(KEEP_KEYS), Millis::parse)?;
    let filter = RunFilter { limit: 0, ..filter };
    Ok(Retention { older_than: Millis::parse(&asked.older_than)?, filter, keep_keys })
}

fn old(rules: &Retention, now: Time, reader: &mut Reader) -> Done<Vec<RunId>> {
    if !rules.is_possible() {
        return Ok(Vec::new());
    }
    let cutoff = rules.cutoff(now);
    let mut rows = reader.runs(&rules.candidates(now, limits::RETAIN * 10))?;
    rows.retain(|row| row.completed_at <= cutoff);
    Ok(rows.into_iter().map(|row| row.id).collect())
}

/// The tokens there are, without their secrets.
pub async fn tokens(State(app): State<App>, Query(asked): Query<PageQuery>) -> Result<Json<wire::TokenList>> {
    let tokens = known(&app).await?.into_iter().map(|(name, kept)| listed(&name, kept.as_ref(), None));
    let (tokens, next) = asked.page()?.of(tokens.collect(), |token| token.name.clone())?;
    Ok(Json(wire::TokenList { tokens, next }))
}

pub async fn create_token(
    State(app): State<App>,
    Extension(who): Extension<Principal>,
    Json(asked): Json<wire::CreateToken>,
) -> Result<Json<wire::TokenListed>> {
    let name = Name::parse(&asked.name)?;
    let role = serde_json::from_value(json!(asked.role))
        .map_err(|_| Error::invalid("bad_role", "`role` is `viewer`, `operator`, `worker`, `approver` or `admin`"))?;
    let expires = asked.expires.as_deref().map(Millis::parse).transpose()?.map(|span| app.now().plus(span));
    let (kept, text) = Kept::new(&name, Token(Entropy::from_system()?.bits()), role, expires);
    set(&app, &who, &format!("{PREFIX}{name}"), Some(json!(kept))).await?;
    Ok(Json(listed(&name, Some(&kept), Some(text))))
}

pub async fn revoke_token(
    State(app): State<App>,
    Extension(who): Extension<Principal>,
    Path(name): Path<String>,
) -> Result<Json<wire::ActTaken>> {
    let name = Name::parse(&name)?;
    if !known(&app).await?.iter().any(|(known, _)| *known == name) {
        return Err(Error::not_found("token_not_found", format!("{name} has no token")).into());
    }
    let changed = set(&app, &who, &format!("{PREFIX}{name}"), None).await?;
    Ok(Json(wire::ActTaken { already: !changed, reopened: None }))
}

/// The tokens there are. One whose setting says something else than a token's does lets nobody in, and can be revoked.
async fn known(app: &App) -> Done<Vec<(Name, Option<Kept>)>> {
    let settings = app.readers().look(Reader::control).await?.settings;
    let token = |(key, setting): (Name, Setting)| {
        let name = Name::parse(key.strip_prefix(PREFIX)?).ok()?;
        Some((name, serde_json::from_value(setting.value).ok()))
    };
    Ok(settings.into_iter().filter_map(token).collect())
}

fn listed(name: &Name, kept: Option<&Kept>, token: Option<String>) -> wire::TokenListed {
    let role = kept.map_or_else(|| UNREADABLE.to_owned(), |kept| format!("{:?}", kept.role).to_lowercase());
    let expires_at = kept.and_then(|kept| kept.expires).map(|at| at.to_string());
    wire::TokenListed { name: name.to_string(), role, expires_at, token }
}
