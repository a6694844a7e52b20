//! `gh issue list --json …`: an array of issues. Issue 12 becomes `gh-12`.

use super::draft::{Draft, bad_line, name, names, text, time};
use edgewise_core::Result;
use edgewise_core::work::{Add, Close, Details, Status, TaskType};
use serde_json::{Map, Value};

/// What is kept with an item although nothing here knows it.
const KEPT: [&str; 2] = ["milestone", "comments"];

/// Reads all issues.
pub(super) fn read(lines: &[(usize, Map<String, Value>)], draft: &mut Draft) -> Result<()> {
    lines.iter().try_for_each(|(line, object)| issue(*line, object, draft))
}

fn issue(line: usize, object: &Map<String, Value>, draft: &mut Draft) -> Result<()> {
    let number = object.get("number").and_then(Value::as_u64);
    let number =
        number.ok_or_else(|| bad_line(line, "an issue without `number`: ask gh for it with --json number,title,…"))?;
    let title = text(object, "title").ok_or_else(|| bad_line(line, format!("issue {number} has no `title`")))?;
    let id = draft.name(&format!("gh-{number}"), "gh")?;
    let tags = names(object, "labels", "name");
    let has = |words: &[&str]| tags.iter().any(|tag| words.iter().any(|word| tag.as_str().eq_ignore_ascii_case(word)));
    let task_type = match () {
        () if has(&["bug", "type/bug", "kind/bug"]) => TaskType::Bug,
        () if has(&["enhancement", "feature", "type/feature", "kind/feature"]) => TaskType::Feature,
        () if has(&["chore", "maintenance", "dependencies"]) => TaskType::Chore,
        () => TaskType::Task,
    };
    let urgent =
        ["p0", "p1", "p2", "p3", "p4"].iter().position(|word| has(&[word])).and_then(|n| u8::try_from(n + 1).ok());
    let mut metadata = Map::new();
    for key in KEPT {
        if let Some(value) = object.get(key).filter(|value| !value.is_null()) {
            metadata.insert(key.to_owned(), value.clone());
        }
    }
    let due = object.get("milestone").and_then(Value::as_object);
    let assignees = object.get("assignees").and_then(Value::as_array).into_iter().flatten();
    let assignee = assignees.filter_map(|one| one.get("login").and_then(Value::as_str)).find_map(name);
    let description = text(object, "body").unwrap_or_default().to_owned();
    draft.add(Add {
        title: title.to_owned(),
        id: Some(id.clone()),
        priority: urgent,
        task_type,
        assignee,
        deadline: due.map(|milestone| time(milestone, "dueOn")).transpose()?.flatten(),
        external_ref: text(object, "url").map(str::to_owned),
        details: Details { description, metadata, ..Details::default() },
        tags,
        created_at: time(object, "createdAt")?,
        created_by: object.get("author").and_then(|author| author.get("login")).and_then(Value::as_str).and_then(name),
        ..Add::default()
    });
    if text(object, "state").is_some_and(|state| state.eq_ignore_ascii_case("closed")) {
        let reason = text(object, "stateReason").map(str::to_ascii_lowercase);
        let how = match reason.as_deref() {
            Some("not_planned" | "duplicate") => Close::Cancelled,
            _ => Close::Done,
        };
        draft.status(&id, Status::Closed, how, None);
    }
    Ok(())
}
