//! An item as programs read it: the specification's names, with everything that is derived beside what was said.

use super::spelled;
use crate::work::{GateView, ItemView};
use edgewise_core::state::Phase;
use edgewise_core::time::Time;
use edgewise_core::work::{Blocker, Close, Item, ItemId, ItemKind, Obstacle, Standing, Status, Work};
use edgewise_core::{Error, Result};
use serde_json::{Map, Value, json};

/// All of an item. `status` is what is shown: `blocked` while something is in its way.
pub fn item(view: &ItemView) -> Result<Value> {
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
        ("baseStatus", item.status.name().into()),
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

/// An item as it is shown by itself: with what it is bound to.
pub fn whole(work: &Work, now: Time, of: &Item) -> Result<Value> {
    let view = ItemView::whole(work, now, of);
    let mut bonds = json!({
        "children": work.children(of.id.as_str()),
        "dependencies": view.dependencies,
        "dependents": view.dependents,
    });
    spelled::spelled(&mut bonds);
    let mut value = item(&view)?;
    if let (Value::Object(value), Value::Object(bonds)) = (&mut value, bonds) {
        value.extend(bonds);
        if of.kind == ItemKind::Message {
            let thread: Vec<&ItemId> = work.thread(of.id.as_str()).iter().map(|message| &message.id).collect();
            value.insert("thread".to_owned(), json!(thread));
        }
    }
    Ok(value)
}

/// A gate with what the specification calls its metadata.
pub fn gate(view: &GateView) -> Result<Value> {
    let gate = &view.gate;
    let mut object = object(gate)?;
    let satisfied = gate.ended.as_ref().is_some_and(|ended| ended.satisfied);
    object.insert("satisfied".to_owned(), satisfied.into());
    if let Some(ended) = gate.ended.as_ref().filter(|ended| ended.satisfied) {
        object.insert("satisfiedAt".to_owned(), ended.at.0.into());
        object.insert("satisfiedBy".to_owned(), json!(ended.by));
    }
    let approvers: Vec<_> = gate.approvals.iter().map(|approval| &approval.by).collect();
    object.insert("currentApprovers".to_owned(), json!(approvers));
    object.insert("waiters".to_owned(), json!(view.waiters));
    if !gate.tasks.is_empty() {
        let tasks = gate.tasks.iter().map(|task| format!("{}/{}", task.run, task.path));
        object.insert("tasks".to_owned(), tasks.collect());
    }
    let mut value = Value::Object(object);
    spelled::spelled(&mut value);
    Ok(value)
}

/// Any value that is an object.
pub fn object(value: &impl serde::Serialize) -> Result<Map<String, Value>> {
    match serde_json::to_value(value) {
        Ok(Value::Object(object)) => Ok(object),
        other => Err(Error::bug("unprintable", format!("a value has no JSON form: {other:?}"))),
    }
}

/// A standing in one word.
pub fn word(standing: &Standing) -> &'static str {
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

/// One thing in the way, in words.
pub fn blocker(blocker: &Blocker) -> String {
    let what = match blocker.reason {
        Obstacle::Open => blocker.by.to_string(),
        Obstacle::Gate => format!("gate {}", blocker.by),
        Obstacle::Run => format!("run {}", blocker.by),
        Obstacle::Unresolved => format!("{} (nobody here knows it)", blocker.by),
        Obstacle::Unsatisfiable => format!("{} (it ended another way)", blocker.by),
    };
    match &blocker.through {
        Some(around) => format!("{what} through {around}"),
        None => what,
    }
}

/// What people see of an item, in the words that runs are seen in.
pub fn seen(item: &Item, standing: &Standing) -> Phase {
    match standing {
        Standing::Over => match item.closed.as_ref().map(|closed| closed.how) {
            Some(Close::Done) => Phase::Succeeded,
            Some(Close::Failed) => Phase::Failed,
            Some(Close::Cancelled) | None => Phase::Cancelled,
        },
        Standing::Blocked => Phase::Blocked,
        Standing::Claimed(..) => Phase::Running,
        Standing::Scheduled(_) => Phase::Waiting,
        Standing::Ready | Standing::Ephemeral(_) if item.status == Status::InProgress => Phase::Running,
        Standing::Ready | Standing::Ephemeral(_) => Phase::Ready,
        Standing::Draft(_) | Standing::Aside | Standing::NotWork => Phase::Skipped,
    }
}
