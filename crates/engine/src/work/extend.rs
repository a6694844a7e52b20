//! Extend: the heartbeat of a claim.

use super::stage::Stage;
use edgewise_core::Result;
use edgewise_core::id::Token;
use edgewise_core::time::Millis;
use edgewise_core::work::{ClaimExtended, Done, WorkEvent};

pub(super) fn extend(stage: &mut Stage<'_>, id: &str, token: Token, lease: Millis) -> Result<Done> {
    let id = stage.item(id)?.id.clone();
    let until = stage.desk.now.plus(lease);
    let mut done = Done { id: Some(id.clone()), until: Some(until), ..Done::default() };
    stage.record(&mut done, [WorkEvent::ClaimExtended(ClaimExtended { id, token: token.hash(), until })])?;
    Ok(done)
}
