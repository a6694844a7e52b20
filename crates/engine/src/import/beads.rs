//! Beads JSONL: an issue a line, with its dependencies in it; priorities 0 to 4.

use super::draft::{Draft, bad_line, name, names, text, time};
use edgewise_core::Result;
use edgewise_core::work::{Add, Close, Depend, DependencyKind, Details, ItemKind, Phase, Status, TaskType, When};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// What is kept with an item although nothing here knows it.
const KEPT: [&str; 4] = ["design", "notes", "estimated_minutes", "comments"];
/// The priority of an issue that says none.
const PRIORITY: u64 = 2;

/// Reads all issues, then what binds them.
pub(super) fn read(lines: &[(usize, Map<String, Value>)], draft: &mut Draft) -> Result<()> {
    let alive = |object: &Map<String, Value>| text(object, "status") != Some("tombstone");
    for (line, object) in lines.iter().filter(|(_, object)| alive(object)) {
        issue(*line, object, draft)?;
    }
    let gone: BTreeSet<&str> =
        lines.iter().filter(|(_, object)| !alive(object)).filter_map(|(_, object)| text(object, "id")).collect();
    for (line, object) in lines.iter().filter(|(_, object)| alive(object)) {
        let all = object.get("dependencies").and_then(Value::as_array);
        for dependency in all.into_iter().flatten() {
            let on = dependency.get("depends_on_id").and_then(Value::as_str);
            if !on.is_some_and(|on| gone.contains(on)) {
                bind(*line, object, dependency, draft)?;
            }
        }
    }
    draft.fit("beadsType");
    Ok(())
}

fn issue(line: usize, object: &Map<String, Value>, draft: &mut Draft) -> Result<()> {
    let theirs = text(object, "id").ok_or_else(|| bad_line(line, "an issue without an `id`"))?;
    let title = text(object, "title").ok_or_else(|| bad_line(line, format!("{theirs} has no `title`")))?;
    let priority = object.get("priority").and_then(Value::as_u64).unwrap_or(PRIORITY);
    if priority > 4 {
        return Err(bad_line(line, format!("{theirs} has priority {priority}: Beads has 0 to 4")));
    }
    let id = draft.name(theirs, "bd")?;
    let mut tags = names(object, "labels", "name");
    let (kind, task_type) = kind(text(object, "issue_type").unwrap_or("task"), &mut tags);
    let (status, how) = status(text(object, "status").unwrap_or("open"));
    let mut metadata = Map::new();
    for key in KEPT {
        if let Some(value) = object.get(key).filter(|value| !value.is_null() && **value != json!("")) {
            metadata.insert(key.to_owned(), value.clone());
        }
    }
    let description = text(object, "description").unwrap_or_default().to_owned();
    let acceptance = text(object, "acceptance_criteria").unwrap_or_default().to_owned();
    draft.add(Add {
        title: title.to_owned(),
        id: Some(id.clone()),
        kind,
        phase: (kind == ItemKind::Plan).then_some(Phase::Active),
        priority: u8::try_from(priority + 1).ok(),
        task_type,
        assignee: text(object, "assignee").and_then(name),
        owner: text(object, "owner").and_then(name),
        tags,
        deadline: time(object, "due_at")?,
        scheduled_for: time(object, "defer_until")?,
        external_ref: text(object, "external_ref").or((theirs != id.as_str()).then_some(theirs)).map(str::to_owned),
        details: Details { description, acceptance, metadata },
        created_at: time(object, "created_at")?,
        created_by: text(object, "created_by").and_then(name),
        ..Add::default()
    });
    draft.status(&id, status, how, text(object, "close_reason").map(str::to_owned));
    Ok(())
}

/// Types that nothing here knows stay as a tag.
fn kind(theirs: &str, tags: &mut BTreeSet<edgewise_core::name::Name>) -> (ItemKind, TaskType) {
    match theirs {
        "bug" => (ItemKind::Task, TaskType::Bug),
        "feature" => (ItemKind::Task, TaskType::Feature),
        "chore" => (ItemKind::Task, TaskType::Chore),
        "task" => (ItemKind::Task, TaskType::Task),
        "epic" | "molecule" => (ItemKind::Plan, TaskType::Task),
        "message" => (ItemKind::Message, TaskType::Task),
        other => {
            tags.extend(name(other));
            (ItemKind::Task, TaskType::Task)
        }
    }
}

/// `blocked` is no status here: it is derived.
fn status(theirs: &str) -> (Status, Close) {
    let status = match theirs {
        "in_progress" | "hooked" => Status::InProgress,
        "deferred" => Status::Deferred,
        "closed" => Status::Closed,
        _ => Status::Open,
    };
    (status, Close::Done)
}

fn bind(line: usize, issue: &Map<String, Value>, dependency: &Value, draft: &mut Draft) -> Result<()> {
    let field = |key: &str| dependency.get(key).and_then(Value::as_str);
    let on = field("depends_on_id").ok_or_else(|| bad_line(line, "a dependency without `depends_on_id`"))?;
    let source = field("issue_id").or(text(issue, "id")).unwrap_or_default();
    let theirs = field("type").unwrap_or("blocks");
    let (kind, when) = match theirs {
        "blocks" => (DependencyKind::Blocks, When::Success),
        "conditional-blocks" => (DependencyKind::Blocks, When::Failure),
        "waits-for" => (DependencyKind::Blocks, When::Any),
        "related" | "relates-to" => (DependencyKind::RelatesTo, When::Success),
        "discovered-from" => (DependencyKind::CausedBy, When::Success),
        other => (DependencyKind::parse(other).unwrap_or(DependencyKind::RelatesTo), When::Success),
    };
    let mut metadata = said(dependency);
    if kind.name() != theirs {
        let all = metadata.get_or_insert_with(Map::new);
        all.insert("beadsType".to_owned(), theirs.into());
    }
    let metadata = metadata.map(Value::Object);
    let (id, on) = (draft.called(source), Some(draft.called(on)));
    draft.depend(Depend { id, on, kind: Some(kind), when, gate: None, metadata });
    Ok(())
}

/// What else a dependency says: an object, or the text of one.
fn said(dependency: &Value) -> Option<Map<String, Value>> {
    let object = match dependency.get("metadata")? {
        Value::Object(object) => object.clone(),
        Value::String(text) => serde_json::from_str(text).ok()?,
        _ => return None,
    };
    (!object.is_empty()).then_some(object)
}
