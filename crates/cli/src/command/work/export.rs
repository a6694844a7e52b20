//! `edgewise export`: all items, gates and dependencies, one JSON line each, always in the same order.

use super::board::Board;
use crate::args::ExportItems;
use crate::command::Context;
use crate::exit::Exit;
use crate::problem::{Problem, Result};
use edgewise_engine::facts::record;

pub(crate) fn perform(args: &ExportItems, context: &mut Context<'_>) -> Result<Exit> {
    let board = Board::open(context)?;
    let lines = record::lines(&board.work)?;
    match &args.to {
        None => lines.iter().try_for_each(|line| context.printer.raw(line))?,
        Some(file) => {
            let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
            std::fs::write(context.cwd.join(file), text).map_err(|error| Problem::file("written", file, &error))?;
            context.printer.say(&format!("{} is written: {} lines", file.display(), lines.len()));
        }
    }
    Ok(Exit::Ok)
}
