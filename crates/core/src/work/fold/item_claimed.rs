//! `ItemClaimed`: an item is somebody's for a while. It must be ready, and nobody else's, whoever asks: two programs
//! under one name are two claimants.

use crate::error::{Error, Result};
use crate::time::Time;
use crate::work::settle::Turn;
use crate::work::{Claimed, ItemClaimed, NoteKind, Standing, Status, Work};

pub(super) fn check(work: &Work, at: Time, event: &ItemClaimed) -> Result<()> {
    let n = work.alive(&event.id)?;
    let id = &event.id;
    let refuse = |code, message| Err(Error::conflict(code, message));
    match work.facts(n).standing(at) {
        Standing::Ready | Standing::Ephemeral(_) => {}
        Standing::Claimed(by, until) => {
            return refuse(
                "item_claimed",
                format!("{by} has {id} until {until}: take another one, `edgewise ready` lists them"),
            );
        }
        Standing::Blocked => {
            return refuse(
                "item_blocked",
                format!("{id} is blocked: `edgewise why {id}` tells by what and what can be done"),
            );
        }
        Standing::Over => return refuse("item_closed", format!("{id} is over: there is nothing left to do")),
        Standing::NotWork => return refuse("not_work", format!("{id} is nothing to be done: it cannot be claimed")),
        Standing::Scheduled(_) | Standing::Draft(_) | Standing::Aside => {
            return refuse("not_ready", format!("{id} is not ready: `edgewise why {id}` tells why"));
        }
    }
    if event.until <= at {
        return Err(Error::invalid(
            "bad_lease",
            format!("a claim on {id} until {} would be over already", event.until),
        ));
    }
    Ok(())
}

pub(super) fn apply(work: &mut Work, turn: &mut Turn<'_>, event: &ItemClaimed) {
    let Some(n) = work.number(event.id.as_str()) else { return };
    // An old claim that ran out and was not released yet.
    let old = work.drop_claim(n);
    let item = &mut work.slot_mut(n).item;
    if let Some(old) = old {
        item.fields.assignee = old.before;
    }
    let before = item.fields.assignee.replace(event.by.clone());
    item.claim = Some(Claimed { by: event.by.clone(), token: event.token, until: event.until, before });
    item.updated_at = turn.stamp.at;
    work.claims.insert((event.until, n));
    work.set_status(n, Status::InProgress);
    work.begin_instances(n, turn);
    turn.note(&event.id, NoteKind::Claimed { until: event.until });
}
