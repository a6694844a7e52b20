//! The lines of an export, read back: items, dependencies and gates are made again as they were.

use super::draft::{Draft, bad_line};
use crate::facts::record::RECORD;
use crate::facts::spelled;
use edgewise_core::Result;
use edgewise_core::id::TokenHash;
use edgewise_core::time::Time;
use edgewise_core::work::{Item, WorkGate};
use serde_json::{Map, Value, json};

/// The long fields of an item, which stand among the others in a line.
const LONG: [&str; 3] = ["description", "acceptance", "metadata"];
/// The sorts of lines.
const SORTS: [&str; 5] = ["item", "gate", "run", "run_gate", "dependency"];
/// Who did what nobody is named for.
const SOMEBODY: &str = "elsewhere";

/// Whether a line is one of ours.
pub(super) fn is_ours(object: &Map<String, Value>) -> bool {
    object.contains_key(RECORD)
}

/// Reads lines of ours back.
pub(super) fn read(lines: &[(usize, Map<String, Value>)], draft: &mut Draft) -> Result<()> {
    for (number, object) in lines {
        match object.get(RECORD).and_then(Value::as_str) {
            Some("item") => {
                let item = read_item(*number, object)?;
                draft.name(item.id.as_str(), "ew")?;
                draft.whole.items.push(item);
            }
            Some("gate") => {
                let gate: WorkGate = parsed(*number, with_maker(object))?;
                draft.name(gate.id.as_str(), "ew")?;
                draft.whole.gates.push(gate);
            }
            Some("run") => draft.whole.runs.push(parsed(*number, object.clone())?),
            Some("run_gate") => draft.whole.run_gates.push(parsed(*number, object.clone())?),
            Some("dependency") => draft.whole.dependencies.push(parsed(*number, with_maker(object))?),
            _ => {
                let found = object.get(RECORD).cloned().unwrap_or_default();
                return Err(bad_line(*number, format!("{found} is no record: expected one of {}", SORTS.join(", "))));
            }
        }
    }
    Ok(())
}

/// What is not said is what `add` would have it be.
fn read_item(number: usize, object: &Map<String, Value>) -> Result<Item> {
    let mut object = with_maker(object);
    let plain = [("kind", json!("task")), ("type", json!("task")), ("priority", json!(3)), ("status", json!("open"))];
    for (key, value) in plain {
        object.entry(key).or_insert(value);
    }
    object.insert("updatedAt".to_owned(), json!(Time::NEVER));
    let long: Map<String, Value> = LONG.iter().filter_map(|key| object.remove_entry(*key)).collect();
    if !long.is_empty() {
        object.insert("details".to_owned(), long.into());
    }
    if let Some(Value::Object(claim)) = object.get_mut("claim") {
        claim.insert("token".to_owned(), json!(TokenHash(0)));
    }
    if object.get("status") == Some(&json!("closed")) {
        let closed = object.entry("closed").or_insert_with(|| json!({ "how": "done" }));
        if let Value::Object(closed) = closed {
            closed.entry("by").or_insert_with(|| json!(SOMEBODY));
            closed.entry("at").or_insert_with(|| json!(Time::NEVER));
        }
    }
    parsed(number, object)
}

/// Who made it and when, where the line does not say: an instant to come is taken for now.
fn with_maker(object: &Map<String, Value>) -> Map<String, Value> {
    let mut object = object.clone();
    object.entry("createdBy").or_insert_with(|| json!(SOMEBODY));
    object.entry("createdAt").or_insert_with(|| json!(Time::NEVER));
    object
}

fn parsed<T: serde::de::DeserializeOwned>(number: usize, mut object: Map<String, Value>) -> Result<T> {
    object.remove(RECORD);
    let mut value = Value::Object(object);
    spelled::counted(&mut value).map_err(|error| bad_line(number, error.message))?;
    serde_json::from_value(value).map_err(|error| bad_line(number, error))
}
