//! `edgewise runs`: the runs there are, the newest first; once, or again and again.

mod watch;

use super::{Context, export, lock};
use crate::args::{Runs, RunsCommand};
use crate::clock::Clock;
use crate::exit::Exit;
use crate::live::span;
use crate::output::Row;
use crate::place::Place;
use crate::problem::{Problem, Result};
use crate::style::{Ink, Style, ink};
use crate::table::Cell;
use crate::view::View;
use edgewise_core::Kind;
use edgewise_core::id::RunId;
use edgewise_core::rows::RunRow;
use edgewise_core::state::RunState;
use edgewise_core::time::Time;
use edgewise_engine::engine::wall_clock;
use edgewise_engine::facts::{Cursor, Listed, took};
use edgewise_engine::query;
use edgewise_engine::reader::Reader;
use edgewise_store::RunFilter;
use std::collections::BTreeMap;

const HEADER: [&str; 7] = ["run", "flow", "state", "tasks", "started", "took", "by"];

/// The runs that were asked for, as they are now.
struct Listing {
    rows: Vec<RunRow>,
    frozen: BTreeMap<RunId, String>,
    now: Time,
}

impl Listing {
    /// Runs that are parts of others are left out unless all are wanted.
    fn of(filter: &RunFilter, all: bool, reader: &mut Reader) -> Result<Self> {
        let rows = if all { reader.runs(filter)? } else { reader.roots(filter)? };
        Self::with(rows, reader)
    }

    fn with(rows: Vec<RunRow>, reader: &mut Reader) -> Result<Self> {
        let frozen = reader.halves().0.frozen()?.into_iter().map(|(stream, reason)| (stream.run, reason)).collect();
        Ok(Self { rows, frozen, now: wall_clock() })
    }

    fn listed(&self, row: &RunRow) -> Listed {
        Listed::new(row, self.frozen.get(&row.id).cloned())
    }

    /// Whether something of it may go on by itself, if somebody is there for it.
    fn could_move(&self, row: &RunRow) -> bool {
        !row.state.is_done() && !row.paused && !self.frozen.contains_key(&row.id)
    }

    fn printed(&self, style: Style) -> Result<Vec<Row>> {
        let clock = Clock::local(self.now);
        let row = |row: &RunRow| {
            let listed = self.listed(row);
            Row::new(row.id.to_string(), cells(&listed, row, &clock, self.now, style), &listed)
        };
        self.rows.iter().map(row).collect()
    }
}

pub(super) fn perform(args: &Runs, context: &mut Context<'_>) -> Result<Exit> {
    if let Some(RunsCommand::Export(args)) = &args.command {
        return export::perform(args, context);
    }
    let filter = RunFilter { limit: args.limit, ..filter(args)? };
    let mut view = View::open(context.config)?;
    if args.watch {
        return watch::perform(args, &filter, view, context);
    }
    let mut listing =
        Listing::of(&RunFilter { limit: args.limit.saturating_add(1), ..filter }, args.all, &mut view.reader)?;
    let more = listing.rows.len() > args.limit;
    listing.rows.truncate(args.limit);
    if listing.rows.is_empty() && context.printer.for_people() {
        let narrow = args.flow.is_some() || !args.state.is_empty() || !args.query.is_empty() || args.after.is_some();
        context.printer.say(if narrow { "no run is like that" } else { "there are no runs yet" });
        if !narrow {
            context.printer.say("next: edgewise run FILE");
        }
        return Ok(Exit::Ok);
    }
    context.printer.rows(&HEADER, &listing.printed(context.printer.out_style)?)?;
    if let Some(last) = listing.rows.last().filter(|_| more && context.printer.for_people()) {
        context.printer.say(&format!("there are more: --after {}", Cursor(last.triggered_at, last.id)));
    }
    if listing.rows.iter().any(|row| listing.could_move(row)) && !lock::is_at_work(context.config) {
        context.printer.aside("no engine is at work here: `edgewise engine` goes on with what is open");
    }
    Ok(Exit::Ok)
}

/// What the search and the flags ask for together.
fn filter(args: &Runs) -> Result<RunFilter> {
    let mut filter = query::parse(&args.query.join(" "), wall_clock())?;
    filter.flow.clone_from(&args.flow);
    filter.after = args.after.map(|Cursor(at, run)| (at, run));
    let flagged = args.states();
    if !flagged.is_empty() {
        let both = |state: &RunState| filter.states.is_empty() || filter.states.contains(state);
        filter.states = flagged.into_iter().filter(both).collect();
        if filter.states.is_empty() {
            let what = "`--state` and `state:` ask for different states, so no run can be in both";
            return Err(Problem::new(Kind::Invalid, "bad_query", what).next("use one of the two"));
        }
    }
    Ok(filter)
}

/// Lists runs that were found for something else than listing them.
pub(super) fn print(rows: &[RunRow], place: &Place, context: &mut Context<'_>) -> Result<()> {
    let listing = Listing::with(rows.to_vec(), &mut place.reader()?)?;
    context.printer.rows(&HEADER, &listing.printed(context.printer.out_style)?)
}

/// That none were found is said to people; a program reads a list all the same.
pub(super) fn print_none(context: &mut Context<'_>) -> Result<()> {
    if context.printer.for_people() { Ok(()) } else { context.printer.rows(&HEADER, &[]) }
}

/// Where it is, in a word.
fn word(run: &Listed) -> (&'static str, Ink) {
    match () {
        () if run.frozen_by.is_some() => ("frozen", Ink::Wait),
        () if run.frozen.is_some() => ("frozen", Ink::Bad),
        () if run.paused && !run.state.is_done() => ("paused", Ink::Wait),
        () => (run.phase.word(), ink(run.phase)),
    }
}

fn cells(run: &Listed, row: &RunRow, clock: &Clock, now: Time, style: Style) -> Vec<Cell> {
    let (word, color) = word(run);
    vec![
        Cell::new(run.run.short(), Ink::Bold),
        Cell::from(match &run.parent {
            Some(parent) => format!("{} (part of {})", run.flow, parent.short()),
            None => run.flow.to_string(),
        }),
        Cell::new(format!("{} {word}", style.glyph(run.phase)), color),
        Cell::from(format!("{}/{}", run.tasks_done, run.tasks)),
        Cell::from(clock.short(row.started_at.known().unwrap_or(row.triggered_at))),
        Cell::from(took(row, now).map(span).unwrap_or_default()),
        Cell::new(run.by.as_ref().map_or("", |name| name.as_str()), Ink::Dim),
    ]
}
