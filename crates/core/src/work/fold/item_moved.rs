//! `ItemMoved`: an item has another parent, or none. One event, so that nobody sees it without either.

use super::dependency_added;
use crate::error::{Error, Result};
use crate::work::settle::Turn;
use crate::work::{ItemMoved, NoteKind, Work};

pub(super) fn check(work: &Work, event: &ItemMoved) -> Result<()> {
    let n = work.alive(&event.id)?;
    let parent = match &event.parent {
        Some(parent) => Some(dependency_added::parent(work, n, parent)?),
        None => None,
    };
    if parent == work.parent_of(n) {
        let place = event.parent.as_ref().map_or("at the top".to_owned(), |parent| format!("in {parent}"));
        return Err(Error::conflict("already_there", format!("{} is {place} already", event.id)));
    }
    work.check_cycle(&work.relink(n, parent).difference)
}

pub(super) fn apply(work: &mut Work, turn: &mut Turn<'_>, event: &ItemMoved) {
    let Some(n) = work.number(event.id.as_str()) else { return };
    let parent = event.parent.as_ref().and_then(|parent| work.number(parent.as_str()));
    let from = work.parent_of(n).map(|old| work.id(old).clone());
    work.slot_mut(n).item.updated_at = turn.stamp.at;
    turn.note(&event.id, NoteKind::Moved { from, to: event.parent.clone() });
    work.set_parent(n, parent, turn);
}
