//! `edgewise events`: the ledger of a run, expanded. Events are stored as numbers; here they have paths and envelopes.

mod details;

use super::Context;
use crate::args::Events;
use crate::clock::Clock;
use crate::exit::Exit;
use crate::output::Row;
use crate::problem::{Problem, Result};
use crate::style::Ink;
use crate::table::Cell;
use crate::view::{View, unfolded};
use edgewise_core::Kind;
use edgewise_core::history::Entry;
use edgewise_core::run::Run;
use edgewise_engine::engine::wall_clock;
use edgewise_engine::facts::{EventFacts, Teller};

const HEADER: [&str; 5] = ["seq", "time", "event", "task", "details"];

pub(super) fn perform(args: &Events, context: &mut Context<'_>) -> Result<Exit> {
    let mut view = View::open(context.config)?;
    let now = view.run(&args.run)?;
    let (now, only) = match &args.task {
        Some(path) => view.with_task(now, path).map(|(run, task)| (run, Some(task)))?,
        None => (now, None),
    };
    let mut teller = Teller::new(unfolded(&now), view.home.clone());
    let clock = Clock::local(wall_clock());
    let mut listing = context.printer.listing(&HEADER);
    view.entries(now.id, |entry| {
        let facts = teller.tell(&entry)?;
        if only.is_some_and(|only| entry.event.task() != Some(only)) {
            return Ok(());
        }
        listing.push(row(&teller.run, &entry, &facts, &clock)?)
    })?;
    listing.end()?;
    Ok(Exit::Ok)
}

fn row(run: &Run, entry: &Entry, facts: &EventFacts<'_>, clock: &Clock) -> Result<Row> {
    let (details, ink) = details::of(run, &entry.event);
    let cells = vec![
        Cell::new(entry.seq.to_string(), Ink::Dim),
        Cell::from(clock.exact(entry.stamp.at)),
        Cell::from(entry.event.name()),
        Cell::new(facts.path.as_deref().unwrap_or_default(), Ink::Bold),
        Cell::new(details, ink),
    ];
    Row::new(entry.stamp.id.to_string(), cells, facts)
}

/// Shows every event of a run as programs see it, in order.
pub(super) fn each(view: &mut View, now: &Run, mut see: impl FnMut(String) -> Result<()>) -> Result<()> {
    let mut teller = Teller::new(unfolded(now), view.home.clone());
    view.entries(now.id, |entry| {
        let value = serde_json::to_string(&teller.tell(&entry)?);
        see(value.map_err(|error| {
            Problem::new(Kind::Bug, "unprintable", "an event has no JSON form").why(error.to_string())
        })?)
    })
}
