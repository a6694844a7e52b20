//! Push workers: made, listed, let rest, taken away. Calling them is elsewhere: `crate::push`.

use super::domain::blocking;
use crate::app::App;
use crate::audit::Made;
use crate::body::Json;
use crate::params::Path;
use crate::problem::Result;
use axum::extract::{Extension, State};
use edgewise_client::wire::{ActTaken, AddWorker, WorkerListed, WorkerSecret, Workers};
use edgewise_core::name::Name;
use edgewise_core::time::Millis;
use edgewise_engine::entropy::Entropy;
use edgewise_engine::push::{PushWorker, PushWorkers, Wanted};

async fn workers(app: &App) -> Result<PushWorkers> {
    Ok(PushWorkers::new(app.shelf().await?))
}

fn names(texts: &[String]) -> edgewise_core::Result<Vec<Name>> {
    texts.iter().map(|text| Name::parse(text)).collect()
}

/// What is kept of a worker, and how it is reached.
async fn listed(app: &App, worker: PushWorker) -> Result<WorkerListed> {
    let seen = app.push().of(&worker.name);
    let until = seen.held_off(app.now()).and(seen.until);
    let held = app.engine().held(&worker.claims_as().into()).await?;
    let texts = |names: Vec<Name>| names.iter().map(Name::to_string).collect();
    Ok(WorkerListed {
        name: worker.name.to_string(),
        url: worker.url,
        actions: texts(worker.actions),
        queues: worker.queues.map(texts),
        slots: worker.slots,
        lease_ms: worker.lease.0,
        timeout_ms: worker.patience.0,
        off: worker.off,
        made_at: worker.at.to_string(),
        at_work: u32::try_from(held).unwrap_or(u32::MAX),
        calling: seen.calling,
        failures: seen.failures,
        trouble: seen.why,
        held_off_until: until.map(|until| until.to_string()),
    })
}

pub async fn add(
    State(app): State<App>,
    Json(asked): Json<AddWorker>,
) -> Result<(Extension<Made>, Json<WorkerSecret>)> {
    let wanted = Wanted {
        name: Name::parse(&asked.name)?,
        actions: names(&asked.actions)?,
        queues: asked.queues.as_deref().map(names).transpose()?,
        url: asked.url,
        slots: asked.slots,
        lease: asked.lease_ms.map(Millis),
        patience: asked.timeout_ms.map(Millis),
    };
    let (workers, now) = (workers(&app).await?, app.now());
    let (worker, secret) = blocking(move || workers.add(wanted, &mut Entropy::from_system()?, now)).await?;
    app.push().changed();
    let name = worker.name.to_string();
    Ok((Extension(Made(name.clone())), Json(WorkerSecret { name, secret: secret.text() })))
}

pub async fn list(State(app): State<App>) -> Result<Json<Workers>> {
    let mut all = Vec::new();
    for worker in workers(&app).await?.listed().await? {
        all.push(listed(&app, worker).await?);
    }
    Ok(Json(Workers { workers: all }))
}

pub async fn show(State(app): State<App>, Path(name): Path<String>) -> Result<Json<WorkerListed>> {
    let found = workers(&app).await?.found(Name::parse(&name)?).await?;
    Ok(Json(listed(&app, found).await?))
}

pub async fn remove(State(app): State<App>, Path(name): Path<String>) -> Result<Json<ActTaken>> {
    let (workers, name) = (workers(&app).await?, Name::parse(&name)?);
    blocking(move || workers.remove(&name)).await?;
    taken(&app, true)
}

pub async fn pause(State(app): State<App>, Path(name): Path<String>) -> Result<Json<ActTaken>> {
    let (workers, name) = (workers(&app).await?, Name::parse(&name)?);
    let new = blocking(move || workers.pause(&name, "paused")).await?;
    taken(&app, new)
}

pub async fn resume(State(app): State<App>, Path(name): Path<String>) -> Result<Json<ActTaken>> {
    let (workers, name) = (workers(&app).await?, Name::parse(&name)?);
    let known = name.clone();
    let new = blocking(move || workers.resume(&name)).await?;
    // Whoever resumes it knows that it is there: nobody waits for a hold-off.
    app.push().good(&known);
    app.push().stir();
    taken(&app, new)
}

pub async fn rotate(State(app): State<App>, Path(name): Path<String>) -> Result<Json<WorkerSecret>> {
    let (workers, name, now) = (workers(&app).await?, Name::parse(&name)?, app.now());
    let known = name.to_string();
    let secret = blocking(move || workers.rotate(&name, &mut Entropy::from_system()?, now)).await?;
    app.push().changed();
    Ok(Json(WorkerSecret { name: known, secret: secret.text() }))
}

fn taken(app: &App, new: bool) -> Result<Json<ActTaken>> {
    app.push().changed();
    Ok(Json(ActTaken { already: !new, reopened: None }))
}
