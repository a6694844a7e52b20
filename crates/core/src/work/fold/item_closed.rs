//! `ItemClosed`: an item is over. Not while something is in its way, children of it are open, or somebody else has
//! it, unless it is forced; and a token that is shown must be the claim's.

use super::{item_changed, said};
use crate::error::{Error, Result};
use crate::time::Time;
use crate::work::settle::Turn;
use crate::work::{Closed, ItemClosed, NoteKind, Status, Work};

pub(super) fn check(work: &Work, at: Time, event: &ItemClosed) -> Result<()> {
    let n = work.alive(&event.id)?;
    let slot = work.slot(n);
    let id = &event.id;
    item_changed::mutable(&slot.item)?;
    said::why(event.why.as_ref())?;
    if slot.item.status == Status::Closed {
        return Err(Error::conflict("already_closed", format!("{id} is closed already")));
    }
    token(work, n, at, event)?;
    if event.force {
        return Ok(());
    }
    if slot.blocked() {
        let by: Vec<String> = work.blockers_of(n).iter().map(|blocker| blocker.by.to_string()).collect();
        let message = format!(
            "{id} is blocked by {}: `edgewise why {id}` tells what can be done; `--force` closes it all the same",
            listed(&by)
        );
        return Err(Error::conflict("item_blocked", message));
    }
    if slot.open_children > 0 {
        let mut open: Vec<String> = work
            .children_of(n)
            .filter(|child| !work.slot(*child).over())
            .map(|child| work.id(child).to_string())
            .collect();
        open.sort();
        let count = if open.len() == 1 { "an open child".to_owned() } else { format!("{} open children", open.len()) };
        let message = format!(
            "{id} has {count}: {}; close what is open first, or `--force` closes it and leaves that open",
            listed(&open)
        );
        return Err(Error::conflict("open_children", message));
    }
    Ok(())
}

fn token(work: &Work, n: u32, at: Time, event: &ItemClosed) -> Result<()> {
    let id = &event.id;
    match (event.token, &work.slot(n).item.claim) {
        (Some(token), Some(claim)) if token == claim.token => Ok(()),
        (Some(_), _) => {
            let message = format!(
                "the token is not that of a claim on {id}: the claim ran out or was given back, and somebody else may have it; claim it again"
            );
            Err(Error::stale("stale_token", message))
        }
        (None, Some(claim)) if claim.until > at && claim.by != event.by && !event.force => {
            let message = format!(
                "{} has {id} until {}: ask them (`edgewise close {id} --as {}`), or wait until then",
                claim.by, claim.until, claim.by
            );
            Err(Error::conflict("item_claimed", message))
        }
        (None, _) => Ok(()),
    }
}

/// A few names, and how many more.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 5;
    let shown = names[..names.len().min(SHOWN)].join(", ");
    if names.len() > SHOWN { format!("{shown} and {} more", names.len() - SHOWN) } else { shown }
}

pub(super) fn apply(work: &mut Work, turn: &mut Turn<'_>, event: &ItemClosed) {
    let Some(n) = work.number(event.id.as_str()) else { return };
    let ItemClosed { how, force, by, why, .. } = event.clone();
    turn.note(&event.id, NoteKind::Closed { how, force, why: why.clone() });
    work.begin_instances(n, turn);
    work.close(n, Closed { how, why, by, at: turn.stamp.at });
}
