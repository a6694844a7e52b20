//! Quarry JSONL: elements and dependencies, an object a line, in one file or two.
//!
//! Newer files say `blockedId` and `blockerId`, older ones `sourceId` and `targetId`; in both the first one waits.

use super::draft::{Draft, bad_line, name, names, text, time};
use edgewise_core::Result;
use edgewise_core::name::Name;
use edgewise_core::work::{
    Act, Add, Close, Depend, DependencyKind, Details, GateWait, ItemKind, Op, Phase, Status, TaskType, When,
};
use serde_json::{Map, Value};

/// What is kept with an item although nothing here knows it.
const KEPT: [&str; 6] = ["complexity", "descriptionRef", "contentRef", "channelId", "attachments", "entityType"];

/// Whether a line is a dependency.
pub(super) fn is_dependency(object: &Map<String, Value>) -> bool {
    object.contains_key("blockedId") || object.contains_key("sourceId")
}

/// Reads all elements, then what binds them.
pub(super) fn read(lines: &[(usize, Map<String, Value>)], draft: &mut Draft) -> Result<()> {
    let gone = |object: &Map<String, Value>| {
        text(object, "status") == Some("tombstone") || object.get("deletedAt").is_some_and(|at| !at.is_null())
    };
    let mut deleted = std::collections::BTreeSet::new();
    for (line, object) in lines.iter().filter(|(_, object)| !is_dependency(object)) {
        if gone(object) {
            deleted.extend(text(object, "id"));
        } else {
            element(*line, object, draft)?;
        }
    }
    for (line, object) in lines.iter().filter(|(_, object)| is_dependency(object)) {
        let end = |newer: &str, older: &str| text(object, newer).or_else(|| text(object, older)).map(str::to_owned);
        let source = end("blockedId", "sourceId").ok_or_else(|| bad_line(*line, "a dependency without `blockedId`"))?;
        let target = end("blockerId", "targetId").ok_or_else(|| bad_line(*line, "a dependency without `blockerId`"))?;
        if !deleted.contains(source.as_str()) && !deleted.contains(target.as_str()) {
            bind(*line, object, (&source, &target), draft)?;
        }
    }
    draft.fit("quarryType");
    Ok(())
}

fn element(line: usize, object: &Map<String, Value>, draft: &mut Draft) -> Result<()> {
    let theirs = text(object, "id").ok_or_else(|| bad_line(line, "an element without an `id`"))?;
    let id = draft.name(theirs, "el")?;
    let kind = match text(object, "type").unwrap_or("task") {
        "task" => ItemKind::Task,
        "plan" => ItemKind::Plan,
        "message" => ItemKind::Message,
        "channel" => ItemKind::Channel,
        "entity" => ItemKind::Entity,
        other if other == instance_word() => ItemKind::Instance,
        _ => ItemKind::Document,
    };
    let title = text(object, "title").or(text(object, "name")).or(text(object, "content")).unwrap_or(theirs);
    let mut metadata = object.get("metadata").and_then(Value::as_object).cloned().unwrap_or_default();
    for key in KEPT {
        if let Some(value) = object.get(key).filter(|value| !value.is_null()) {
            metadata.entry(key).or_insert_with(|| value.clone());
        }
    }
    let description = text(object, "description").or(text(object, "content")).unwrap_or_default().to_owned();
    let acceptance = text(object, "acceptanceCriteria").unwrap_or_default().to_owned();
    let (status, how, phase) = place(kind, text(object, "status").unwrap_or("open"));
    draft.add(Add {
        title: title.lines().next().unwrap_or(theirs).to_owned(),
        id: Some(id.clone()),
        kind,
        phase,
        priority: object.get("priority").and_then(Value::as_u64).and_then(|n| u8::try_from(n).ok()),
        task_type: match text(object, "taskType") {
            Some("bug") => TaskType::Bug,
            Some("feature") => TaskType::Feature,
            Some("chore") => TaskType::Chore,
            _ => TaskType::Task,
        },
        assignee: text(object, "assignee").and_then(name),
        owner: text(object, "owner").and_then(name),
        tags: names(object, "tags", "name"),
        deadline: time(object, "deadline")?,
        scheduled_for: time(object, "scheduledFor")?,
        external_ref: text(object, "externalRef").or((theirs != id.as_str()).then_some(theirs)).map(str::to_owned),
        details: Details { description, acceptance, metadata },
        created_at: time(object, "createdAt")?,
        created_by: text(object, "createdBy").and_then(name),
        ..Add::default()
    });
    draft.status(&id, status, how, text(object, "closeReason").map(str::to_owned));
    Ok(())
}

/// Their word for what a template made, which is the name on the wire here too.
fn instance_word() -> String {
    serde_json::to_value(ItemKind::Instance).ok().and_then(|word| word.as_str().map(str::to_owned)).unwrap_or_default()
}

/// Where an element is. Those of tasks are statuses, those of plans and instances phases.
fn place(kind: ItemKind, theirs: &str) -> (Status, Close, Option<Phase>) {
    let phase = match theirs {
        "draft" => Some(Phase::Draft),
        "active" => Some(Phase::Active),
        "pending" => Some(Phase::Pending),
        "running" => Some(Phase::Running),
        "completed" => Some(Phase::Completed),
        "failed" => Some(Phase::Failed),
        "cancelled" => Some(Phase::Cancelled),
        _ => None,
    }
    .filter(|_| matches!(kind, ItemKind::Plan | ItemKind::Instance));
    match (phase, theirs) {
        (Some(Phase::Completed), _) => (Status::Closed, Close::Done, None),
        (Some(Phase::Failed), _) => (Status::Closed, Close::Failed, None),
        (Some(Phase::Cancelled), _) => (Status::Closed, Close::Cancelled, None),
        (Some(phase), _) => (Status::Open, Close::Done, Some(phase)),
        (None, "in_progress") => (Status::InProgress, Close::Done, None),
        (None, "deferred") => (Status::Deferred, Close::Done, None),
        (None, "backlog") => (Status::Backlog, Close::Done, None),
        (None, "review") => (Status::Review, Close::Done, None),
        (None, "closed") => (Status::Closed, Close::Done, None),
        (None, _) => (Status::Open, Close::Done, None),
    }
}

fn bind(line: usize, object: &Map<String, Value>, ends: (&str, &str), draft: &mut Draft) -> Result<()> {
    let theirs = text(object, "type").unwrap_or_default();
    let kind = DependencyKind::parse(theirs).map_err(|error| bad_line(line, error.message))?;
    let metadata = object.get("metadata").filter(|value| value.as_object().is_some_and(|map| !map.is_empty())).cloned();
    let (id, mut on) = (draft.called(ends.0), draft.called(ends.1));
    let is_gate = metadata.as_ref().is_some_and(|value| value.get("gateType").is_some());
    if kind == DependencyKind::Awaits && is_gate {
        let metadata = metadata.clone().unwrap_or_default();
        let wait = gate(line, &metadata)?;
        let approvals = approvals(&wait, &metadata, draft);
        let from_outside = matches!(wait, GateWait::External { .. } | GateWait::Webhook);
        on = draft.gate(wait, approvals);
        if from_outside && metadata.get("satisfied").and_then(Value::as_bool) == Some(true) {
            let why = Some("satisfied before it was brought in".to_owned());
            draft.later(Op::Satisfy(Act { id: on.clone(), why }));
        }
        draft.depend(Depend { id, on: Some(on), kind: Some(kind), when: When::Success, gate: None, metadata: None });
        return Ok(());
    }
    draft.depend(Depend { id, on: Some(on), kind: Some(kind), when: When::Success, gate: None, metadata });
    Ok(())
}

/// Who has said yes, as far as they are asked here.
fn approvals(wait: &GateWait, metadata: &Value, draft: &mut Draft) -> Vec<Name> {
    let given = metadata.as_object().map(|object| names(object, "currentApprovers", "id")).unwrap_or_default();
    let (good, other): (Vec<Name>, Vec<Name>) =
        given.into_iter().partition(|who| wait.needed().is_some() && wait.may_speak(who));
    if !other.is_empty() {
        let who: Vec<&str> = other.iter().map(Name::as_str).collect();
        draft.notes.insert(format!("approvals by {} are left out: the gate does not ask them", who.join(", ")));
    }
    good
}

fn gate(line: usize, metadata: &Value) -> Result<GateWait> {
    let missing = |key: &str| bad_line(line, format!("the gate has no `{key}`"));
    let text = |key: &str| metadata.get(key).and_then(Value::as_str);
    Ok(match text("gateType").unwrap_or_default() {
        "timer" => {
            let at = text("waitUntil").ok_or_else(|| missing("waitUntil"))?;
            GateWait::Timer { wait_until: edgewise_core::time::Time::parse(at)? }
        }
        "approval" => GateWait::Approval {
            required_approvers: metadata
                .as_object()
                .map(|object| names(object, "requiredApprovers", "id").into_iter().collect())
                .unwrap_or_default(),
            approval_count: metadata.get("approvalCount").and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok()),
        },
        "external" => GateWait::External {
            external_system: text("externalSystem").ok_or_else(|| missing("externalSystem"))?.to_owned(),
            external_id: text("externalId").ok_or_else(|| missing("externalId"))?.to_owned(),
        },
        "webhook" => GateWait::Webhook,
        other => {
            return Err(bad_line(
                line,
                format!("{other:?} is no type of gate: it is one of timer, approval, external, webhook"),
            ));
        }
    })
}
