//! `edgewise export`: all items, gates and dependencies, one JSON line each, always in the same order.

use super::board::Board;
use super::record;
use crate::args::ExportItems;
use crate::command::Context;
use crate::exit::Exit;
use crate::problem::{Problem, Result};
use edgewise_core::id::RunId;
use edgewise_core::work::{RunEnded, Status};
use std::collections::BTreeSet;

pub(crate) fn perform(args: &ExportItems, context: &mut Context<'_>) -> Result<Exit> {
    let board = Board::open(context)?;
    let lines = lines(&board)?;
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

/// What is deleted is not there any more.
fn lines(board: &Board) -> Result<Vec<String>> {
    let mut items: Vec<_> = board.work.items().filter(|item| item.status != Status::Tombstone).collect();
    items.sort_by(|a, b| a.id.cmp(&b.id));
    let mut gates: Vec<_> = board.work.gates().collect();
    gates.sort_by(|a, b| a.id.cmp(&b.id));
    let mut bonds: Vec<_> = items
        .iter()
        .flat_map(|item| board.needs(item.id.as_str()).into_iter().filter(|one| one.source == item.id))
        .collect();
    bonds.sort_by(|a, b| (&a.source, &a.target, a.kind).cmp(&(&b.source, &b.target, b.kind)));
    let runs: BTreeSet<RunId> = bonds.iter().filter_map(|bond| bond.target.as_run()).collect();
    let ended = runs.into_iter().filter_map(|run| Some(RunEnded { run, state: Some(board.work.run_end(run)?) }));
    let items = items.into_iter().map(record::item);
    let gates = gates.into_iter().map(record::gate);
    let ended = ended.map(|ended| record::run(&ended));
    items.chain(gates).chain(ended).chain(bonds.into_iter().map(record::dependency)).collect()
}
