//! `ItemImported`: there is an item as it was elsewhere: open, closed by somebody, or claimed. Who has it has it here
//! too, until the same instant; what is kept of the token is of one that nobody was shown.

use super::{item_added, said};
use crate::error::{Error, Result};
use crate::work::settle::{Turn, ended_phase};
use crate::work::{Item, NoteKind, Status, Work};

pub(super) fn check(work: &Work, item: &Item) -> Result<()> {
    let bad = |what: &str| Err(Error::invalid("bad_item", format!("{} {what}", item.id)));
    let over = item.closed.is_some();
    // The phase of what is closed follows from how it was.
    item_added::new(work, &item.id, item.kind, &item.fields, item.phase.filter(|_| !over))?;
    if item.status == Status::Tombstone {
        return bad("was deleted: what is deleted is not imported");
    }
    if over != (item.status == Status::Closed) {
        return bad("says how it was closed exactly if its status is closed");
    }
    if item.claim.is_some() && (over || !item.kind.is_work()) {
        return bad("is over or nothing to be done: nobody can have it");
    }
    if item.waiter.is_some() {
        return bad("was made by a run elsewhere: leave its waiter out");
    }
    said::why(item.closed.as_ref().and_then(|closed| closed.why.as_ref()))
}

pub(super) fn apply(work: &mut Work, turn: &mut Turn<'_>, item: &Item) {
    let at = turn.stamp.at;
    let mut item = item.clone();
    item.created_at = item.created_at.min(at);
    item.updated_at = item.updated_at.min(at);
    if let Some(closed) = &mut item.closed {
        closed.at = closed.at.min(at);
        item.phase = ended_phase(item.kind, closed.how);
    }
    turn.note(&item.id, NoteKind::Created);
    work.insert_item(item);
}
