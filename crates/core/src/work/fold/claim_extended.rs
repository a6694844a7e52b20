//! `ClaimExtended`: an item stays somebody's for longer. A heartbeat: history does not mention it.

use crate::error::{Error, Result};
use crate::id::TokenHash;
use crate::time::Time;
use crate::work::{ClaimExtended, ItemId, Work};

pub(super) fn check(work: &Work, at: Time, event: &ClaimExtended) -> Result<()> {
    token(work, &event.id, event.token)?;
    if event.until <= at {
        let message = format!("a claim on {} until {} would be over already", event.id, event.until);
        return Err(Error::invalid("bad_lease", message));
    }
    Ok(())
}

/// Whether a token is that of the claim on an item. It may have run out: nobody else has it yet.
pub(super) fn token(work: &Work, id: &ItemId, token: TokenHash) -> Result<u32> {
    let n = work.alive(id)?;
    match &work.slot(n).item.claim {
        Some(claim) if claim.token == token => Ok(n),
        _ => {
            let message = format!(
                "the token is not that of a claim on {id}: the claim ran out or was given back, and somebody else may have it; claim it again"
            );
            Err(Error::stale("stale_token", message))
        }
    }
}

pub(super) fn apply(work: &mut Work, event: &ClaimExtended) {
    let Some(n) = work.number(event.id.as_str()) else { return };
    let Some(claim) = &mut work.slot_mut(n).item.claim else { return };
    let before = std::mem::replace(&mut claim.until, event.until);
    work.claims.remove(&(before, n));
    work.claims.insert((event.until, n));
    work.pending.touched.push(n);
}
