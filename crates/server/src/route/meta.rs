//! What is asked about the server itself.

use crate::app::App;
use crate::body::Json;
use crate::door::Visit;
use crate::metrics::Known;
use crate::openapi::document;
use crate::problem::Result;
use axum::extract::{Extension, State};
use edgewise_core::Error;
use serde_json::Value;

pub async fn healthz() -> &'static str {
    "ok\n"
}

/// Whether a commit could be made durable now: a full disk or an engine that ended is said here.
pub async fn readyz(State(app): State<App>) -> Result<&'static str> {
    if let Some(trouble) = app.engine().trouble().borrow().clone() {
        return Err(Error::unavailable("not_ready", trouble).into());
    }
    app.engine().counts().await?;
    Ok("ready\n")
}

pub async fn metrics(State(app): State<App>, visit: Option<Extension<Visit>>) -> Result<String> {
    let known = Known {
        counts: app.engine().counts().await?,
        pulse: app.engine().pulse().await?,
        door: visit.map(|visit| visit.door.counts()).unwrap_or_default(),
        streams: app.readers_of_streams(),
        unwritten: app.audit().failed(),
        spans: app.exported(),
        domain: app.engine().listeners().counts(),
        push: app.push().counts(app.now()),
    };
    Ok(app.metrics().text(&known))
}

pub async fn openapi() -> Json<Value> {
    Json(document())
}
