//! The lines of an export: items, dependencies and gates, with everything that an import needs to make them again.
//!
//! The same graph is always the same text: lines in the order of their ids, instants spelled, nothing derived. Who
//! closed, approved and has what is said with it; the token of a claim is not, since it was shown to one person.

use super::spelled;
use super::work::object;
use edgewise_core::Result;
use edgewise_core::id::RunId;
use edgewise_core::work::{Dependency, Item, RunEnded, RunGateEnded, Status, Work, WorkGate};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Where the sort of a line stands.
pub const RECORD: &str = "record";
/// What belongs to this folder alone: when a row last changed, and the runs here that wait for an item or a gate.
const LEFT_OUT: [&str; 3] = ["updatedAt", "waiter", "tasks"];

/// All lines of a graph. What is deleted is not there any more.
pub fn lines(work: &Work) -> Result<Vec<String>> {
    let mut items: Vec<&Item> = work.items().filter(|item| item.status != Status::Tombstone).collect();
    items.sort_by(|a, b| a.id.cmp(&b.id));
    let mut gates: Vec<&WorkGate> = work.gates().collect();
    gates.sort_by(|a, b| a.id.cmp(&b.id));
    let mut bonds: Vec<&Dependency> = items
        .iter()
        .flat_map(|item| work.dependencies_of(item.id.as_str()).into_iter().filter(|one| one.source == item.id))
        .collect();
    bonds.sort_by(|a, b| (&a.source, &a.target, a.kind).cmp(&(&b.source, &b.target, b.kind)));
    let runs: BTreeSet<RunId> = bonds.iter().filter_map(|bond| bond.target.as_run()).collect();
    let ended = runs.into_iter().filter_map(|run| Some(RunEnded { run, state: Some(work.run_end(run)?) }));
    let asked: BTreeSet<(RunId, &str)> = bonds.iter().filter_map(|bond| bond.target.as_task()).collect();
    let asked = asked.into_iter().filter_map(|(run, path)| {
        Some(RunGateEnded { run, task: path.to_owned(), end: Some(work.run_gate_end(run, path)?) })
    });
    let items = items.into_iter().map(item);
    let gates = gates.into_iter().map(|gate| Ok(line("gate", object(gate)?)));
    // Something waits for a run that has ended.
    let ended = ended.map(|ended| Ok(line("run", object(&ended)?)));
    let asked = asked.map(|ended| Ok(line("run_gate", object(&ended)?)));
    let bonds = bonds.into_iter().map(|bond| Ok(line("dependency", object(bond)?)));
    items.chain(gates).chain(ended).chain(asked).chain(bonds).collect()
}

fn item(item: &Item) -> Result<String> {
    let mut object = object(item)?;
    if let Some(Value::Object(details)) = object.remove("details") {
        object.extend(details);
    }
    if let Some(Value::Object(claim)) = object.get_mut("claim") {
        claim.remove("token");
    }
    Ok(line("item", object))
}

fn line(sort: &str, mut object: Map<String, Value>) -> String {
    LEFT_OUT.iter().for_each(|key| drop(object.remove(*key)));
    object.insert(RECORD.to_owned(), sort.into());
    let mut value = Value::Object(object);
    spelled::spelled(&mut value);
    value.to_string()
}
