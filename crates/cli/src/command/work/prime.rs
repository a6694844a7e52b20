//! `edgewise prime`: what an agent must know to work here, in as few words as will do.

use super::board::Board;
use crate::args::Prime;
use crate::command::Context;
use crate::exit::Exit;
use crate::problem::Result;
use edgewise_engine::facts::primer::Primed;

pub(crate) fn perform(_: &Prime, context: &mut Context<'_>) -> Result<Exit> {
    let board = Board::open(context)?;
    let primed = Primed::of(&board.work, board.now, context.config.who.value.clone());
    let Primed { primer, who, ready, blocked, claimed } = &primed;
    let now = format!("You are {who}. Now: {ready} ready, {blocked} blocked, {claimed} claimed.");
    let lines: Vec<String> = primer.lines().map(str::to_owned).chain([String::new(), now]).collect();
    context.printer.one("", &lines, &primed)?;
    Ok(Exit::Ok)
}
