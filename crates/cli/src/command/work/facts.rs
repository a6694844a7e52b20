//! An item as programs read it: the specification's names, with everything that is derived beside what was said.

use super::board::Board;
use super::look::{blocker, status_word};
use super::spelled;
use crate::problem::{Problem, Result};
use edgewise_core::Kind;
use edgewise_core::work::{Standing, WorkGate};
use edgewise_engine::work::ItemView;
use serde_json::{Map, Value, json};

/// All of an item. `status` is what is shown: `blocked` while something is in its way.
pub(crate) fn item(view: &ItemView) -> Result<Value> {
    let (item, standing) = (&view.item, &view.standing);
    let mut object = object(item)?;
    if let Some(Value::Object(details)) = object.remove("details") {
        object.extend(details);
    }
    if let Some(claim) = object.get_mut("claim").and_then(Value::as_object_mut) {
        claim.remove("token");
    }
    let reasons: Vec<String> = view.blockers.iter().map(blocker).collect();
    let reasons = if reasons.is_empty() { Value::Null } else { reasons.join(", ").into() };
    for (key, value) in [
        ("status", view.shown.clone().into()),
        ("baseStatus", status_word(item.status).into()),
        ("standing", word(standing).into()),
        ("ready", (*standing == Standing::Ready).into()),
        ("effectivePriority", view.effective_priority.into()),
        ("blockedBy", json!(view.blockers)),
        ("blockReason", reasons),
    ] {
        object.insert(key.to_owned(), value);
    }
    object.extend(view.parent.as_ref().map(|parent| ("parent".to_owned(), json!(parent))));
    let mut value = Value::Object(object);
    spelled::spelled(&mut value);
    Ok(value)
}

/// A gate with what the specification calls its metadata.
pub(crate) fn gate(board: &Board, gate: &WorkGate) -> Result<Value> {
    let mut object = object(gate)?;
    let satisfied = gate.ended.as_ref().is_some_and(|ended| ended.satisfied);
    object.insert("satisfied".to_owned(), satisfied.into());
    if let Some(ended) = gate.ended.as_ref().filter(|ended| ended.satisfied) {
        object.insert("satisfiedAt".to_owned(), ended.at.0.into());
        object.insert("satisfiedBy".to_owned(), json!(ended.by));
    }
    let approvers: Vec<_> = gate.approvals.iter().map(|approval| &approval.by).collect();
    object.insert("currentApprovers".to_owned(), json!(approvers));
    let waiters: Vec<_> = board.needed_by(gate.id.as_str()).into_iter().map(|one| one.source.clone()).collect();
    object.insert("waiters".to_owned(), json!(waiters));
    let mut value = Value::Object(object);
    spelled::spelled(&mut value);
    Ok(value)
}

/// Any value that is an object.
pub(crate) fn object(value: &impl serde::Serialize) -> Result<Map<String, Value>> {
    match serde_json::to_value(value) {
        Ok(Value::Object(object)) => Ok(object),
        other => Err(Problem::new(Kind::Bug, "unprintable", "a value has no JSON form").why(format!("{other:?}"))),
    }
}

/// A standing in one word.
pub(crate) fn word(standing: &Standing) -> &'static str {
    match standing {
        Standing::Ready => "ready",
        Standing::Blocked => "blocked",
        Standing::Claimed(..) => "claimed",
        Standing::Scheduled(_) => "scheduled",
        Standing::Draft(_) => "draft",
        Standing::Ephemeral(_) => "ephemeral",
        Standing::Aside => "aside",
        Standing::Over => "over",
        Standing::NotWork => "not_work",
    }
}
