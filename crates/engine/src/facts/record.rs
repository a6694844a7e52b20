//! The lines of an export: items, dependencies and gates, with everything that an import needs to make them again.
//!
//! The same graph is always the same text: lines in the order of their ids, instants spelled, nothing derived. Claims
//! and approvals are left out: a token or a yes that was given in one place is not one in another.

use super::spelled;
use super::work::object;
use edgewise_core::Result;
use edgewise_core::work::{Dependency, Item, Status, Work, WorkGate};
use serde_json::{Map, Value};

/// Where the sort of a line stands.
pub const RECORD: &str = "record";
/// What belongs to this folder alone.
const LEFT_OUT: [&str; 4] = ["claim", "updatedAt", "waiter", "approvals"];
/// Who did it and when, which an import does itself.
const ITS_OWN: [&str; 4] = ["at", "by", "createdAt", "createdBy"];

/// All lines of a graph. What is deleted is not there any more.
pub fn lines(work: &Work) -> Result<Vec<String>> {
    let items: Vec<&Item> = work.items().filter(|item| item.status != Status::Tombstone).collect();
    let mut bonds: Vec<&Dependency> = items
        .iter()
        .flat_map(|item| work.dependencies_of(item.id.as_str()).into_iter().filter(|one| one.source == item.id))
        .collect();
    bonds.sort_by(|a, b| (&a.source, &a.target, a.kind).cmp(&(&b.source, &b.target, b.kind)));
    // Items and gates come by their ids.
    items.into_iter().map(item).chain(work.gates().map(gate)).chain(bonds.into_iter().map(dependency)).collect()
}

fn item(item: &Item) -> Result<String> {
    let mut object = object(item)?;
    if let Some(Value::Object(details)) = object.remove("details") {
        object.extend(details);
    }
    if let Some(Value::Object(closed)) = object.get_mut("closed") {
        ITS_OWN.iter().for_each(|key| drop(closed.remove(*key)));
    }
    Ok(line("item", object))
}

fn dependency(dependency: &Dependency) -> Result<String> {
    let mut object = object(dependency)?;
    ITS_OWN.iter().for_each(|key| drop(object.remove(*key)));
    Ok(line("dependency", object))
}

fn gate(gate: &WorkGate) -> Result<String> {
    let mut object = object(gate)?;
    ITS_OWN.iter().for_each(|key| drop(object.remove(*key)));
    if let Some(Value::Object(ended)) = object.get_mut("ended") {
        ITS_OWN.iter().for_each(|key| drop(ended.remove(*key)));
    }
    Ok(line("gate", object))
}

fn line(sort: &str, mut object: Map<String, Value>) -> String {
    LEFT_OUT.iter().for_each(|key| drop(object.remove(*key)));
    object.insert(RECORD.to_owned(), sort.into());
    let mut value = Value::Object(object);
    spelled::spelled(&mut value);
    value.to_string()
}
