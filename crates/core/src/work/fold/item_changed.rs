//! `ItemChanged`: something of an item is different. What the change leaves out stays as it is.

use super::said;
use crate::error::{Error, Result};
use crate::limits;
use crate::work::settle::Turn;
use crate::work::waits::Node;
use crate::work::{Change, Item, ItemChanged, ItemKind, NoteKind, Phase, Status, Work};
use serde_json::Value;

pub(super) fn check(work: &Work, event: &ItemChanged) -> Result<()> {
    let n = work.alive(&event.id)?;
    let item = &work.slot(n).item;
    let change = &event.change;
    mutable(item)?;
    if *change == Change::default() {
        return Err(Error::invalid("nothing_to_change", format!("nothing of {} was said to be different", item.id)));
    }
    if let Some(title) = &change.title {
        said::title(title)?;
    }
    if let Some(priority) = change.priority {
        said::priority(priority)?;
    }
    if let Some(to) = change.status {
        status(item, to)?;
    }
    if let Some(to) = change.phase {
        phase(item.kind, to)?;
        if item.status == Status::Closed {
            return Err(closed(item));
        }
    }
    let kept = item.fields.tags.union(&change.tag).filter(|tag| !change.untag.contains(*tag)).count();
    said::tags(kept)?;
    if let Some(Some(reference)) = &change.external_ref {
        said::text("an external reference", reference, limits::WORK_REFERENCE_BYTES)?;
    }
    for (what, text) in [("a description", &change.description), ("an acceptance", &change.acceptance)] {
        text.as_ref().map_or(Ok(()), |text| said::text(what, text, limits::WORK_TEXT_BYTES))?;
    }
    if change.metadata.is_empty() { Ok(()) } else { said::metadata(&merged(item, change)) }
}

/// A message was said once and is never changed.
pub(super) fn mutable(item: &Item) -> Result<()> {
    if item.kind == ItemKind::Message {
        let message = format!("{} is a message, and messages are never changed: write another one", item.id);
        return Err(Error::conflict("message_immutable", message));
    }
    Ok(())
}

fn closed(item: &Item) -> Error {
    let message = format!("{} is closed: open it again first, with `edgewise reopen {}`", item.id, item.id);
    Error::conflict("item_closed", message)
}

fn status(item: &Item, to: Status) -> Result<()> {
    if to.is_over() {
        let message = "an item is closed with `edgewise close`, not by setting its status";
        return Err(Error::invalid("bad_status", message));
    }
    if item.status.is_over() { Err(closed(item)) } else { Ok(()) }
}

/// Whether a phase can be set: those that end a plan or an instance come of closing it.
pub(super) fn phase(kind: ItemKind, phase: Phase) -> Result<()> {
    let may: &[Phase] = match kind {
        ItemKind::Plan => &[Phase::Draft, Phase::Active],
        ItemKind::Instance => &[Phase::Pending, Phase::Running],
        _ => &[],
    };
    if may.contains(&phase) {
        return Ok(());
    }
    let message = match may {
        [] => "only a plan and an instance have a phase".to_owned(),
        _ => format!("the phase {phase:?} cannot be set here: expected one of {may:?}; the others come of closing it"),
    };
    Err(Error::invalid("bad_phase", message))
}

/// The metadata with the change in it; null takes a key away.
fn merged(item: &Item, change: &Change) -> serde_json::Map<String, Value> {
    let mut all = item.fields.details.as_ref().map(|details| details.metadata.clone()).unwrap_or_default();
    for (key, value) in &change.metadata {
        match value {
            Value::Null => drop(all.remove(key)),
            value => drop(all.insert(key.clone(), value.clone())),
        }
    }
    all
}

pub(super) fn apply(work: &mut Work, turn: &mut Turn<'_>, event: &ItemChanged) {
    let Some(n) = work.number(event.id.as_str()) else { return };
    let change = &event.change;
    let item = &mut work.slot_mut(n).item;
    let kept_metadata = (!change.metadata.is_empty()).then(|| merged(item, change));
    item.updated_at = turn.stamp.at;
    item.phase = change.phase.or(item.phase);
    set_fields(item, change, &kept_metadata);
    let status = change.status.unwrap_or(item.status);
    work.set_status(n, status);
    if change.status == Some(Status::InProgress) {
        work.begin_instances(n, turn);
    }
    work.pending.nodes.push(Node::may(n));
    turn.note(&event.id, NoteKind::Changed { fields: named(change) });
}

fn set_fields(item: &mut Item, change: &Change, metadata: &Option<serde_json::Map<String, Value>>) {
    let fields = &mut item.fields;
    set(&mut fields.title, &change.title);
    set(&mut fields.priority, &change.priority);
    set(&mut fields.task_type, &change.task_type);
    set(&mut fields.assignee, &change.assignee);
    set(&mut fields.owner, &change.owner);
    set(&mut fields.deadline, &change.deadline);
    set(&mut fields.scheduled_for, &change.scheduled_for);
    set(&mut fields.external_ref, &change.external_ref);
    set(&mut fields.auto_complete, &change.auto_complete);
    fields.tags.extend(change.tag.iter().cloned());
    fields.tags.retain(|tag| !change.untag.contains(tag));
    if change.description.is_some() || change.acceptance.is_some() || metadata.is_some() {
        let details = fields.details.get_or_insert_default();
        set(&mut details.description, &change.description);
        set(&mut details.acceptance, &change.acceptance);
        set(&mut details.metadata, metadata);
        if **details == crate::work::Details::default() {
            fields.details = None;
        }
    }
}

fn set<T: Clone>(field: &mut T, to: &Option<T>) {
    if let Some(to) = to {
        field.clone_from(to);
    }
}

/// The wire names of what a change says.
fn named(change: &Change) -> Vec<String> {
    match serde_json::to_value(change) {
        Ok(Value::Object(fields)) => fields.into_iter().map(|(name, _)| name).collect(),
        _ => Vec::new(),
    }
}
