//! `edgewise blocked`: what is blocked, with everything that is in the way.

use super::board::Board;
use super::{facts, list, look};
use crate::args::Blocked;
use crate::command::Context;
use crate::exit::Exit;
use crate::output::Row;
use crate::problem::Result;
use crate::style::Ink;
use crate::table::Cell;

const HEADER: [&str; 4] = ["id", "p", "title", "waits for"];
/// Longest title that is shown whole: what it waits for matters more here.
const TITLE: usize = 40;

pub(crate) fn perform(args: &Blocked, context: &mut Context<'_>) -> Result<Exit> {
    let board = Board::open(context)?;
    let filter = list::filter(&args.filters, board.now, context)?;
    let items = board.work.blocked(board.now, &filter)?;
    if items.is_empty() && context.printer.for_people() {
        context.printer.say("nothing is blocked");
        return Ok(Exit::Ok);
    }
    let style = context.printer.out_style;
    let mut rows = Vec::new();
    for item in items {
        if !context.printer.for_people() {
            rows.push(Row::new(item.id.to_string(), Vec::new(), &facts::item(&board.view(item))?)?);
            continue;
        }
        let because: Vec<String> = board.work.blockers(item.id.as_str()).iter().map(look::blocker).collect();
        let cells = vec![
            Cell::new(item.id.as_str(), Ink::Bold),
            Cell::from(look::priority(item.fields.priority, board.effective(&item.id))),
            Cell::from(crate::text::cut(&item.fields.title, TITLE, style.cut_mark())),
            Cell::new(because.join(", "), Ink::Wait),
        ];
        rows.push(Row::new(item.id.to_string(), cells, &())?);
    }
    context.printer.rows(&HEADER, &rows)?;
    Ok(Exit::Ok)
}
