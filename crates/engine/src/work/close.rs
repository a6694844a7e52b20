//! Close: an item is over. The task of a run that waits for it is told in the same commit.

use super::stage::Stage;
use edgewise_core::Result;
use edgewise_core::id::Token;
use edgewise_core::work::{CloseOp, Done, ItemClosed, Status, WorkEvent};

pub(super) fn close(stage: &mut Stage<'_>, close: &CloseOp) -> Result<Done> {
    let item = stage.item(&close.id)?;
    let mut done = Done { id: Some(item.id.clone()), ..Done::default() };
    if item.status == Status::Closed && item.closed.as_ref().is_some_and(|closed| closed.how == close.how) {
        done.already = true;
        return Ok(done);
    }
    let event = ItemClosed {
        id: item.id.clone(),
        how: close.how,
        force: close.force,
        token: close.token.map(Token::hash),
        by: stage.by.clone(),
        why: close.why.clone(),
    };
    stage.record(&mut done, [WorkEvent::ItemClosed(event)])?;
    Ok(done)
}
