//! `ItemAdded`: there is an item. Whoever pointed to its id before it was there waits for it from now on.

use super::said;
use crate::error::{Error, Result};
use crate::limits;
use crate::work::settle::Turn;
use crate::work::{Fields, Item, ItemAdded, ItemId, ItemKind, NoteKind, Phase, Status, Work};

pub(super) fn check(work: &Work, event: &ItemAdded) -> Result<()> {
    new(work, &event.id, event.kind, &event.fields, event.phase)?;
    match &event.waiter {
        Some(waiter) => work.check_runs(waiter),
        None => Ok(()),
    }
}

/// Whether there may be another item, and this one.
pub(super) fn new(work: &Work, id: &ItemId, kind: ItemKind, said: &Fields, phase: Option<Phase>) -> Result<()> {
    work.free(id)?;
    if work.items.len() >= limits::WORK_ITEMS {
        let message = format!("a workspace has at most {} items", limits::WORK_ITEMS);
        return Err(Error::limit("too_many_items", message));
    }
    fields(kind, said)?;
    phase.map_or(Ok(()), |phase| super::item_changed::phase(kind, phase))
}

fn fields(kind: ItemKind, fields: &Fields) -> Result<()> {
    said::title(&fields.title)?;
    said::priority(fields.priority)?;
    said::tags(fields.tags.len())?;
    if let Some(reference) = &fields.external_ref {
        said::text("an external reference", reference, limits::WORK_REFERENCE_BYTES)?;
    }
    if fields.ephemeral.is_some() && kind != ItemKind::Instance {
        let message = "only an instance is ephemeral, with everything in it: put the item into one";
        return Err(Error::invalid("not_an_instance", message));
    }
    let Some(details) = &fields.details else { return Ok(()) };
    said::text("a description", &details.description, limits::WORK_TEXT_BYTES)?;
    said::text("an acceptance", &details.acceptance, limits::WORK_TEXT_BYTES)?;
    said::metadata(&details.metadata)
}

pub(super) fn apply(work: &mut Work, turn: &mut Turn<'_>, event: &ItemAdded) {
    let at = turn.stamp.at;
    let begins = match event.kind {
        ItemKind::Plan => Some(Phase::Active),
        ItemKind::Instance => Some(Phase::Pending),
        _ => None,
    };
    work.insert_item(Item {
        id: event.id.clone(),
        kind: event.kind,
        fields: event.fields.clone(),
        status: Status::Open,
        phase: event.phase.or(begins),
        created_by: event.by.clone(),
        created_at: event.created_at.map_or(at, |made| made.min(at)),
        updated_at: at,
        closed: None,
        claim: None,
        waiter: event.waiter.clone(),
    });
    turn.note(&event.id, NoteKind::Created);
}
