//! Release: a claim is given back by whoever has its token, or by name.

use super::stage::Stage;
use edgewise_core::id::Token;
use edgewise_core::work::{Done, ItemReleased, WorkEvent};
use edgewise_core::{Error, Result};

pub(super) fn release(stage: &mut Stage<'_>, id: &str, token: Option<Token>) -> Result<Done> {
    let item = stage.item(id)?;
    let mut done = Done { id: Some(item.id.clone()), ..Done::default() };
    let Some(claim) = &item.claim else {
        done.already = true;
        return Ok(done);
    };
    if token.is_none() && claim.by != *stage.by {
        let message = format!(
            "{id} is {by}'s until {}: they release it (`edgewise release {id} --as {by}`), or whoever has its token, or the claim runs out",
            claim.until,
            id = item.id,
            by = claim.by
        );
        return Err(Error::denied("not_your_claim", message));
    }
    let token = token.map_or(claim.token, Token::hash);
    let event = ItemReleased { id: item.id.clone(), token, by: Some(stage.by.clone()) };
    stage.record(&mut done, [WorkEvent::ItemReleased(event)])?;
    Ok(done)
}
