//! Webhooks: made, listed, removed, and what they could not be told.

use super::domain::blocking;
use crate::app::App;
use crate::body::Json;
use crate::limits;
use crate::listed;
use crate::page::PageQuery;
use crate::params::{Path, Query};
use crate::problem::Result;
use axum::extract::State;
use edgewise_client::wire::{ActTaken, DeadLetters, ReplayRequest, Replayed, WebhookMade, WebhookRequest, Webhooks};
use edgewise_core::Error;
use edgewise_core::name::Name;
use edgewise_engine::entropy::Entropy;
use edgewise_engine::webhook::Hooks;
use serde::Deserialize;

async fn hooks(app: &App) -> Result<Hooks> {
    Ok(Hooks::new(app.shelf().await?))
}

pub async fn add(State(app): State<App>, Json(asked): Json<WebhookRequest>) -> Result<Json<WebhookMade>> {
    let namespace = Name::parse(&asked.namespace)?;
    let names = asked.names.iter().map(|name| Name::parse(name)).collect::<edgewise_core::Result<Vec<_>>>()?;
    let (hooks, now) = (hooks(&app).await?, app.now());
    let made = blocking(move || hooks.add((namespace, asked.url), names, &mut Entropy::from_system()?, now));
    let (hook, secret) = made.await?;
    Ok(Json(WebhookMade { id: hook.id, secret: secret.text() }))
}

pub async fn list(State(app): State<App>, Query(asked): Query<PageQuery>) -> Result<Json<Webhooks>> {
    let (hooks, page) = (hooks(&app).await?, asked.page()?);
    let (part, next) = page.of(blocking(move || hooks.list()).await?, |hook| hook.id.clone())?;
    Ok(Json(Webhooks { webhooks: part.into_iter().map(listed::webhook).collect(), next }))
}

pub async fn remove(State(app): State<App>, Path(id): Path<String>) -> Result<Json<ActTaken>> {
    let hooks = hooks(&app).await?;
    blocking(move || hooks.remove(&id)).await?;
    Ok(Json(ActTaken { already: false, reopened: None }))
}

pub async fn rotate(State(app): State<App>, Path(id): Path<String>) -> Result<Json<WebhookMade>> {
    let (hooks, now, known) = (hooks(&app).await?, app.now(), id.clone());
    let secret = blocking(move || hooks.rotate(&known, &mut Entropy::from_system()?, now)).await?;
    Ok(Json(WebhookMade { id, secret: secret.text() }))
}

/// Which dead letters. They go while they are looked at, the oldest first: so a page begins behind a place.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeadQuery {
    after: Option<u64>,
    limit: Option<usize>,
}

pub async fn dead(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(asked): Query<DeadQuery>,
) -> Result<Json<DeadLetters>> {
    let hooks = hooks(&app).await?;
    let limit = asked.limit.unwrap_or(limits::PAGE_DEFAULT).clamp(1, limits::PAGE);
    let mut dead = blocking(move || hooks.dead(&id)).await?;
    dead.retain(|letter| asked.after.is_none_or(|after| letter.place > after));
    let next = (dead.len() > limit).then(|| dead[limit - 1].place);
    dead.truncate(limit);
    Ok(Json(DeadLetters { dead: dead.into_iter().map(listed::dead_letter).collect(), next }))
}

pub async fn replay(
    State(app): State<App>,
    Path(id): Path<String>,
    Json(asked): Json<ReplayRequest>,
) -> Result<Json<Replayed>> {
    let range = match (asked.from, asked.to) {
        (None, None) => None,
        (Some(from), Some(to)) if from <= to => Some((from, to)),
        _ => {
            let message = "`from` and `to` are the first and the last place: send both, the smaller first, or neither";
            return Err(Error::invalid("bad_body", message).into());
        }
    };
    let (hooks, now) = (hooks(&app).await?, app.now());
    Ok(Json(listed::replayed(blocking(move || hooks.replay(&id, range, now)).await?)))
}
