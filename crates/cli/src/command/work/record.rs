//! The lines of an export, read back: items, dependencies and gates are made again.

use super::import::draft::{Draft, bad_line};
use super::spelled;
use crate::problem::Result;
use edgewise_core::work::{Act, Add, Close, Depend, DependencyKind, GateWait, ItemId, Op, Status, When};
use edgewise_engine::facts::record::RECORD;
use serde::Deserialize;
use serde_json::{Map, Value};

/// Whether a line is one of ours.
pub(crate) fn is_ours(object: &Map<String, Value>) -> bool {
    object.contains_key(RECORD)
}

/// Where an item is, beside what `add` takes.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Place {
    status: Status,
    #[serde(default)]
    closed: Option<Closed>,
}

#[derive(Deserialize)]
struct Closed {
    how: Close,
    #[serde(default)]
    why: Option<String>,
}

#[derive(Deserialize)]
struct Bond {
    #[serde(rename = "sourceId")]
    source: String,
    #[serde(rename = "targetId")]
    target: String,
    #[serde(rename = "type")]
    kind: DependencyKind,
    #[serde(default)]
    when: When,
    #[serde(default)]
    metadata: Option<Value>,
}

#[derive(Deserialize)]
struct Gate {
    id: ItemId,
    #[serde(flatten)]
    wait: GateWait,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    ended: Option<Ended>,
}

#[derive(Deserialize)]
struct Ended {
    satisfied: bool,
    #[serde(default)]
    why: Option<String>,
}

/// Reads lines of ours back.
pub(crate) fn read(lines: &[(usize, Map<String, Value>)], draft: &mut Draft) -> Result<()> {
    let of = |sort: &'static str| lines.iter().filter(move |(_, object)| object.get(RECORD) == Some(&sort.into()));
    let known = |object: &Map<String, Value>| {
        ["item", "dependency", "gate"].iter().any(|sort| object.get(RECORD) == Some(&(*sort).into()))
    };
    if let Some((number, object)) = lines.iter().find(|(_, object)| !known(object)) {
        let what = format!(
            "{} is no record: expected item, dependency or gate",
            object.get(RECORD).cloned().unwrap_or_default()
        );
        return Err(bad_line(*number, what));
    }
    of("item").try_for_each(|(number, object)| add(*number, object, draft))?;
    of("gate").try_for_each(|(number, object)| make(*number, object, draft))?;
    for (number, object) in of("dependency") {
        let one: Bond = parsed(*number, object)?;
        let (id, on) = (one.source, Some(one.target));
        draft.depend(Depend { id, on, kind: one.kind, when: one.when, gate: None, metadata: one.metadata });
    }
    Ok(())
}

fn add(number: usize, object: &Map<String, Value>, draft: &mut Draft) -> Result<()> {
    let place: Place = parsed(number, object)?;
    if place.status == Status::Tombstone {
        return Ok(());
    }
    let mut rest = object.clone();
    ["status", "closed"].iter().for_each(|key| drop(rest.remove(*key)));
    let mut add: Add = parsed(number, &rest)?;
    let id = add.id.clone().ok_or_else(|| bad_line(number, "an item without an `id`"))?;
    draft.name(id.as_str(), "ew")?;
    // Set last: while its children are closed one by one it would close by itself.
    if std::mem::take(&mut add.auto_complete) {
        let change = Box::new(edgewise_core::work::Change { auto_complete: Some(true), ..Default::default() });
        draft.later_still(Op::Update { id: id.to_string(), change });
    }
    draft.add(add);
    let (how, why) = place.closed.map_or((Close::Done, None), |closed| (closed.how, closed.why));
    draft.status(&id, place.status, how, why);
    Ok(())
}

fn make(number: usize, object: &Map<String, Value>, draft: &mut Draft) -> Result<()> {
    let gate: Gate = parsed(number, object)?;
    let approval = matches!(gate.wait, GateWait::Approval { .. });
    if approval && gate.ended.as_ref().is_some_and(|ended| ended.satisfied) {
        // Nobody can say yes for others: a gate that is open is left out, with who waited for it.
        draft.leave_out(gate.id.as_str());
        draft.notes.insert(format!("gate {} was approved before: it is left out", gate.id));
        return Ok(());
    }
    draft.gate_called(&gate.id, gate.wait, gate.title)?;
    if approval && gate.ended.is_some() {
        draft.notes.insert(format!("gate {} was rejected before: it asks again", gate.id));
        return Ok(());
    }
    if let Some(ended) = gate.ended {
        let act = Act { id: gate.id.to_string(), why: ended.why };
        draft.later(if ended.satisfied { Op::Satisfy(act) } else { Op::Reject(act) });
    }
    Ok(())
}

fn parsed<T: serde::de::DeserializeOwned>(number: usize, object: &Map<String, Value>) -> Result<T> {
    let mut object = object.clone();
    object.remove(RECORD);
    let mut value = Value::Object(object);
    spelled::counted(&mut value).map_err(|error| bad_line(number, error.message))?;
    serde_json::from_value(value).map_err(|error| bad_line(number, error))
}
