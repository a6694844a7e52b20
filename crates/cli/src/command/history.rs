//! `edgewise history`: every transition of a run and of its tasks, with the event that made it, and everything that
//! people did, with who and why; also what moved nothing at once, such as a pause or the first of two approvals.

use super::Context;
use super::work::{self, Asks, Found, found};
use crate::args::History;
use crate::clock::Clock;
use crate::exit::Exit;
use crate::output::Row;
use crate::problem::Result;
use crate::style::Ink;
use crate::table::Cell;
use crate::view::{View, find_task};
use edgewise_core::history::Stream;
use edgewise_core::name::Name;
use edgewise_engine::engine::wall_clock;
use edgewise_engine::facts::history::transitions;

/// What is moved stands last, where it may be cut; the columns before it depend on the room there is.
const NARROW: [&str; 4] = ["seq", "time", "task", "move"];
const WIDE: [&str; 6] = ["seq", "time", "task", "by", "source", "move"];
const WIDE_COLUMNS: usize = 110;

pub(super) fn perform(args: &History, context: &mut Context<'_>) -> Result<Exit> {
    let (run, task) = match found(&args.what, args.task.as_ref(), Asks::Whole, context)? {
        Found::Item(board, id) => return work::history(&board, &id, context),
        Found::Run(run, task) => (run, task),
    };
    let mut view = View::open(context.config)?;
    let run = view.run(&run)?;
    let run = view.whole(run)?;
    let only = task.as_ref().map(|path| find_task(&run, path)).transpose()?;
    let entries = view.ledger(run.id)?;
    let stream = Stream { run: run.id, plan_hash: run.plan_hash, plan: &run.plan, entries: &entries };
    let moved = transitions(&run, &stream, only);
    let clock = Clock::local(wall_clock());
    let style = context.printer.out_style;
    let arrow = if style.unicode { "→" } else { "->" };
    let wide = context.printer.columns.is_none_or(|columns| columns >= WIDE_COLUMNS);
    let mut listing = context.printer.listing(if wide { &WIDE } else { &NARROW });
    for step in moved {
        let (mark, ink) = if step.most_recent { (" *", Ink::Bold) } else { ("", Ink::Plain) };
        let mut cells = vec![
            Cell::new(step.seq.to_string(), Ink::Dim),
            Cell::from(clock.exact(step.at)),
            Cell::from(step.task.as_deref().unwrap_or("(run)")),
        ];
        if wide {
            cells.extend([Cell::from(&step.by), Cell::new(&*step.source, Ink::Dim)]);
        }
        let moved = match (&step.from, &step.to) {
            (Some(from), Some(to)) => format!("{from} {arrow} {to}{mark}"),
            _ => act(&step.by).to_owned(),
        };
        let said = step.said.as_ref().map(|said| {
            let why = said.why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
            format!(", by {}{why}", said.who)
        });
        let asked: Vec<&str> = step.asked.iter().map(Name::as_str).collect();
        let asked = if asked.is_empty() { String::new() } else { format!(": {}", asked.join(", ")) };
        cells.push(Cell::new(moved + &asked + &said.unwrap_or_default(), ink));
        listing.push(Row::new(step.event.to_string(), cells, &step)?)?;
    }
    listing.end()?;
    Ok(Exit::Ok)
}

/// An act that moved nothing at once, in a word; what is new here is shown by its name.
fn act(kind: &str) -> &str {
    match kind {
        "RunTriggered" => "asked for",
        "RunPauseRequested" => "paused",
        "RunResumeRequested" => "resumed",
        "RunFrozen" => "frozen",
        "RunUnfrozen" => "unfrozen",
        "ApprovalGiven" => "approved",
        "ApprovalWithdrawn" => "approval withdrawn",
        "GateEscalated" => "more people are asked",
        other => other,
    }
}
