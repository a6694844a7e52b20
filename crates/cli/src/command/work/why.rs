//! `edgewise why` of an item or a gate: all that is in the way, down to who or what can help.

use super::board::Board;
use super::{look, reason, spelled};
use crate::command::Context;
use crate::exit::Exit;
use crate::problem::{Problem, Result};
use crate::view;
use edgewise_core::Kind;
use edgewise_core::work::{ItemId, Reason};
use serde_json::Value;

pub(crate) fn perform(board: &Board, id: &ItemId, context: &mut Context<'_>) -> Result<Exit> {
    let told = reasons(board, id, context)?;
    let lines = match context.printer.for_people() {
        true => {
            let seen = |id: &str| board.work.item(id).map(|item| look::seen(item, &board.standing(item)));
            reason::lines(&told, &seen, context.printer.out_style, context.printer.columns)
        }
        false => Vec::new(),
    };
    context.printer.one(id.to_string(), &lines, &told_json(&told)?)?;
    Ok(Exit::Ok)
}

/// The same for programs.
pub(crate) fn told(board: &Board, id: &ItemId, context: &Context<'_>) -> Result<Value> {
    told_json(&reasons(board, id, context)?)
}

/// All that is in the way, also in runs that something waits for.
fn reasons(board: &Board, id: &ItemId, context: &Context<'_>) -> Result<Reason> {
    let reason = board.work.why(id.as_str(), board.now);
    Ok(view::reader(context.config)?.follow(reason, &context.config.queues.value, board.now)?)
}

fn told_json(reason: &Reason) -> Result<Value> {
    let mut value = serde_json::to_value(reason)
        .map_err(|error| Problem::new(Kind::Bug, "unprintable", "a value has no JSON form").why(error.to_string()))?;
    spelled::spelled(&mut value);
    Ok(value)
}
