//! `ItemReopened`: an item is not over after all. Whoever waits for it waits again; no cycle can come of it, since
//! satisfied dependencies count when cycles are looked for.

use super::{item_changed, said};
use crate::error::{Error, Result};
use crate::work::settle::Turn;
use crate::work::{ItemAct, ItemKind, NoteKind, Phase, Status, Work};

pub(super) fn check(work: &Work, event: &ItemAct) -> Result<()> {
    let item = &work.slot(work.alive(&event.id)?).item;
    item_changed::mutable(item)?;
    said::why(event.why.as_ref())?;
    if item.status != Status::Closed {
        let message = format!("{} is {}, not closed: there is nothing to open again", item.id, item.status.name());
        return Err(Error::conflict("not_closed", message));
    }
    Ok(())
}

pub(super) fn apply(work: &mut Work, turn: &mut Turn<'_>, event: &ItemAct) {
    let Some(n) = work.number(event.id.as_str()) else { return };
    let item = &mut work.slot_mut(n).item;
    item.closed = None;
    item.updated_at = turn.stamp.at;
    item.phase = match item.kind {
        ItemKind::Plan => Some(Phase::Active),
        ItemKind::Instance => Some(Phase::Running),
        _ => None,
    };
    work.set_status(n, Status::Open);
    turn.note(&event.id, NoteKind::Reopened { why: event.why.clone() });
}
