//! Gates, of runs and of items: what waits for people and the world, and what they need to know.

use super::find;
use super::item::look;
use crate::app::App;
use crate::body::Json;
use crate::conditional;
use crate::page::Page;
use crate::params::{Path, Query};
use crate::problem::Result;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use edgewise_client::wire;
use edgewise_core::time::Time;
use edgewise_core::{Error, Kind, Result as Done};
use edgewise_engine::facts::gate::{ClosedGate, begun, with_evidence};
use edgewise_engine::facts::work as facts;
use edgewise_engine::reader::Reader;
use edgewise_engine::work::GateView;
use serde::Deserialize;
use serde_json::{Value, json};

/// What a list of gates is asked with.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListQuery {
    all: Option<bool>,
    after: Option<String>,
    limit: Option<usize>,
}

/// Where a gate stands among all: those of runs first, of the run that began first, in the order of its tasks; then those
/// of items by their ids.
type Place = (bool, Time, String, u32);
type Placed = (Place, Value);

pub async fn list(State(app): State<App>, Query(asked): Query<ListQuery>) -> Result<Json<wire::Gates>> {
    let page = Page::new(asked.after.as_deref(), asked.limit)?;
    let mut gates: Vec<Placed> = app.readers().look(of_runs).await?;
    let ended = asked.all == Some(true);
    gates.extend(look(&app, move |work, _| of_items(work, ended)).await?);
    gates.sort_by(|(a, _), (b, _)| a.cmp(b));
    let (gates, next) = page.of(gates, |(place, _)| place.clone())?;
    Ok(Json(wire::Gates { gates: gates.into_iter().map(|(_, gate)| gate).collect(), next }))
}

fn of_runs(reader: &mut Reader) -> Done<Vec<Placed>> {
    let mut found = Vec::new();
    for run in begun(reader)? {
        match reader.run(run) {
            Ok(run) => found.extend(ClosedGate::of_run(&run).iter().map(|gate| {
                let begun = run.about.as_ref().map_or(Time(0), |about| about.at);
                let task = run.find(&gate.task).map_or(0, |task| task.0);
                ((false, begun, run.id.to_string(), task), json!(gate))
            })),
            // One damaged run does not hide what waits in the others.
            Err(error) if error.kind == Kind::Corrupt => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

fn of_items(work: &edgewise_core::work::Work, ended: bool) -> Done<Vec<Placed>> {
    let gates = work.gates().filter(|gate| ended || gate.ended.is_none());
    let placed = gates.map(|gate| {
        let place = (true, Time(0), gate.id.to_string(), 0);
        Ok((place, facts::gate(&GateView::of(work, gate))?))
    });
    placed.collect()
}

pub async fn show(State(app): State<App>, Path(gate): Path<String>, headers: HeaderMap) -> Result<Response> {
    let (version, shown) = look(&app, move |work, _| {
        let id = work.resolve(&gate)?;
        let Some(gate) = work.gate(id.as_str()) else {
            let message = format!("{id} is an item, not a gate: GET /api/v1/items/{id} shows it");
            return Err(Error::not_found("gate_not_found", message));
        };
        let view = GateView::of(work, gate);
        Ok((view.version(), facts::gate(&view)?))
    })
    .await?;
    Ok(conditional::answer(&headers, &version, shown)?)
}

/// Which tasks' outputs are shown with a gate.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvidenceQuery {
    tasks: Option<String>,
}

/// A gate of a run, with what somebody must know to decide.
pub async fn of_run(
    State(app): State<App>,
    Path((run, task)): Path<(String, String)>,
    Query(asked): Query<EvidenceQuery>,
) -> Result<Json<Value>> {
    let run = find(&app, run).await?;
    let named: Vec<String> =
        asked.tasks.iter().flat_map(|tasks| tasks.split(',')).map(|task| task.trim().to_owned()).collect();
    Ok(Json(app.readers().look(move |reader| with_evidence(reader, run, &task, &named)).await?))
}
