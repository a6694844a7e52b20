//! `edgewise blocked`: what is blocked, with everything that is in the way.

use super::{board, facts, list, look};
use crate::args::Blocked;
use crate::command::Context;
use crate::exit::Exit;
use crate::output::Row;
use crate::problem::Result;
use crate::style::Ink;
use crate::table::Cell;
use edgewise_engine::engine::wall_clock;

const HEADER: [&str; 4] = ["id", "p", "title", "waits for"];
/// Longest title that is shown whole: what it waits for matters more here.
const TITLE: usize = 40;

pub(crate) fn perform(args: &Blocked, context: &mut Context<'_>) -> Result<Exit> {
    let filter = list::filter(&args.filters, wall_clock(), context)?;
    let items = board::blocked(&filter, context)?;
    if items.is_empty() && context.printer.for_people() {
        context.printer.say("nothing is blocked");
        return Ok(Exit::Ok);
    }
    let style = context.printer.out_style;
    let mut rows = Vec::new();
    for view in items {
        let item = &view.item;
        if !context.printer.for_people() {
            rows.push(Row::new(item.id.to_string(), Vec::new(), &facts::item(&view)?)?);
            continue;
        }
        let because: Vec<String> = view.blockers.iter().map(look::blocker).collect();
        let cells = vec![
            Cell::new(item.id.as_str(), Ink::Bold),
            Cell::from(look::priority(item.fields.priority, view.effective_priority)),
            Cell::from(crate::text::cut(&item.fields.title, TITLE, style.cut_mark())),
            Cell::new(because.join(", "), Ink::Wait),
        ];
        rows.push(Row::new(item.id.to_string(), cells, &())?);
    }
    context.printer.rows(&HEADER, &rows)?;
    Ok(Exit::Ok)
}
