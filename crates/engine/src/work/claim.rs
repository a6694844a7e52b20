//! Claim: an item is somebody's for a while. The token is made here and shown once; the ledger keeps its hash.

use super::stage::Stage;
use edgewise_core::Result;
use edgewise_core::id::Token;
use edgewise_core::time::Millis;
use edgewise_core::work::{Done, Filter, ItemClaimed, ItemId, WorkEvent};

pub(super) fn claim(stage: &mut Stage<'_>, id: &str, lease: Millis) -> Result<Done> {
    let id = stage.item(id)?.id.clone();
    give(stage, id, lease)
}

/// The first of those that are ready and fit; nothing is done where there is none.
pub(super) fn claim_next(stage: &mut Stage<'_>, filter: &Filter, lease: Millis) -> Result<Done> {
    let filter = Filter { limit: Some(1), ..filter.clone() };
    // What they have already is ready for them, and they have it.
    let ready = stage.work().ready(stage.desk.now, &filter, None)?;
    match ready.first().map(|item| item.id.clone()) {
        Some(id) => give(stage, id, lease),
        None => Ok(Done::default()),
    }
}

fn give(stage: &mut Stage<'_>, id: ItemId, lease: Millis) -> Result<Done> {
    let (token, until) = (Token(stage.desk.entropy.bits()), stage.desk.now.plus(lease));
    let event = ItemClaimed { id: id.clone(), by: stage.by.clone(), token: token.hash(), until };
    let mut done = Done { id: Some(id), token: Some(token), until: Some(until), ..Done::default() };
    stage.record(&mut done, [WorkEvent::ItemClaimed(event)])?;
    Ok(done)
}
