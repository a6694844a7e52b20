//! `edgewise history`: every transition of a run and of its tasks, with the event that made it.

use super::Context;
use crate::args::History;
use crate::clock::{Clock, rfc3339};
use crate::exit::Exit;
use crate::output::Row;
use crate::problem::Result;
use crate::style::Ink;
use crate::table::Cell;
use crate::view::{View, find_task};
use edgewise_core::event::TaskIx;
use edgewise_core::history::{Stream, Transition};
use edgewise_core::id::EventId;
use edgewise_core::run::Run;
use edgewise_engine::engine::wall_clock;
use serde::Serialize;
use std::fmt::Debug;
use std::sync::Arc;

/// What is moved stands last, where it may be cut; the columns before it depend on the room there is.
const NARROW: [&str; 4] = ["seq", "time", "task", "move"];
const WIDE: [&str; 6] = ["seq", "time", "task", "by", "source", "move"];
const WIDE_COLUMNS: usize = 110;

/// One transition; of the run itself if there is no task.
#[derive(Serialize)]
struct Moved {
    task: Option<String>,
    from: String,
    to: String,
    by: String,
    event: EventId,
    seq: u64,
    time: Option<String>,
    source: Arc<str>,
    most_recent: bool,
    #[serde(skip)]
    at: edgewise_core::time::Time,
    /// Within one event: tasks by number, the run behind them.
    #[serde(skip)]
    place: u32,
}

pub(super) fn perform(args: &History, context: &mut Context<'_>) -> Result<Exit> {
    let mut view = View::open(context.config)?;
    let run = view.run(&args.run)?;
    let run = view.whole(run)?;
    let only = args.task.as_ref().map(|path| find_task(&run, path)).transpose()?;
    let mut entries = Vec::new();
    view.entries(run.id, |entry| {
        entries.push(entry);
        Ok(())
    })?;
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
        cells.push(Cell::new(format!("{} {arrow} {}{mark}", step.from, step.to), ink));
        listing.push(Row::new(step.event.to_string(), cells, &step)?)?;
    }
    listing.end()?;
    Ok(Exit::Ok)
}

/// In the order of the ledger.
fn transitions(run: &Run, stream: &Stream<'_>, only: Option<TaskIx>) -> Vec<Moved> {
    let history = stream.history();
    let mut all = Vec::new();
    for (task, steps) in history.tasks.iter().filter(|(task, _)| only.is_none_or(|only| only == **task)) {
        let path = run.path(*task);
        all.extend(steps.iter().map(|step| moved(Some(path.clone()), task.0, step, snake(&step.by))));
    }
    if only.is_none() {
        all.extend(history.run.iter().map(|step| moved(None, u32::MAX, step, step.by.to_string())));
    }
    all.sort_by_key(|step| (step.seq, step.place));
    all
}

fn moved<S: Debug, B>(task: Option<String>, place: u32, step: &Transition<S, B>, by: String) -> Moved {
    Moved {
        task,
        from: format!("{:?}", step.from),
        to: format!("{:?}", step.to),
        by,
        event: step.event,
        seq: step.seq,
        time: rfc3339(step.at),
        source: Arc::clone(&step.source),
        most_recent: step.most_recent,
        at: step.at,
        place,
    }
}

/// `DecidedAgainst` as `decided_against`.
fn snake(word: &impl Debug) -> String {
    let mut out = String::new();
    for c in format!("{word:?}").chars() {
        if c.is_ascii_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}
