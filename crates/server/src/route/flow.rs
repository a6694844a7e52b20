//! Registered flows.

use crate::app::App;
use crate::body::Json;
use crate::problem::Result;
use axum::extract::State;
use edgewise_client::wire::{FlowListed, Flows};
use edgewise_engine::reader::Reader;

pub async fn list(State(app): State<App>) -> Result<Json<Flows>> {
    let control = app.readers().look(Reader::control).await?;
    let flows = control.flows.into_iter().map(|(flow, known)| FlowListed {
        flow: flow.to_string(),
        plan: known.plan.to_string(),
        version: known.version,
        by: known.by.to_string(),
        at: known.at.to_string(),
    });
    Ok(Json(Flows { flows: flows.collect() }))
}
