//! `ItemReleased`: an item is nobody's any more, given back or because the claim ran out. Whose it was to do before
//! has it to do again, so that others find it.

use super::claim_extended;
use crate::error::{Error, Result};
use crate::time::Time;
use crate::work::settle::Turn;
use crate::work::{ItemReleased, NoteKind, Status, Work};

pub(super) fn check(work: &Work, at: Time, event: &ItemReleased) -> Result<()> {
    let n = claim_extended::token(work, &event.id, event.token)?;
    match (&event.by, &work.slot(n).item.claim) {
        (None, Some(claim)) if claim.until > at => {
            let message = format!("the claim on {} is good until {}: it has not run out", event.id, claim.until);
            Err(Error::conflict("too_early", message))
        }
        _ => Ok(()),
    }
}

pub(super) fn apply(work: &mut Work, turn: &mut Turn<'_>, event: &ItemReleased) {
    let Some(n) = work.number(event.id.as_str()) else { return };
    let Some(claim) = work.drop_claim(n) else { return };
    let item = &mut work.slot_mut(n).item;
    if item.fields.assignee.as_ref() == Some(&claim.by) {
        item.fields.assignee = claim.before;
    }
    item.updated_at = turn.stamp.at;
    if item.status == Status::InProgress {
        work.set_status(n, Status::Open);
    }
    turn.note(&event.id, NoteKind::Released { from: claim.by });
}
