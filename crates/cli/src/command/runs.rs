//! `edgewise runs`: the runs there are, the newest first; once, or again and again.

mod watch;

use super::{Context, export};
use crate::args::{Cursor, Runs, RunsCommand};
use crate::clock::{Clock, rfc3339};
use crate::exit::Exit;
use crate::live::span;
use crate::output::Row;
use crate::place::Place;
use crate::problem::{Problem, Result};
use crate::style::{Ink, Style, ink};
use crate::table::Cell;
use crate::view::View;
use edgewise_core::Kind;
use edgewise_core::id::{EventId, PlanHash, RunId};
use edgewise_core::name::Name;
use edgewise_core::rows::RunRow;
use edgewise_core::state::{Phase, RunState, TaskState};
use edgewise_core::time::Time;
use edgewise_engine::engine::wall_clock;
use edgewise_engine::query;
use edgewise_engine::reader::Reader;
use edgewise_store::RunFilter;
use serde::Serialize;
use std::collections::BTreeMap;

const HEADER: [&str; 7] = ["run", "flow", "state", "tasks", "started", "took", "by"];

/// A run as programs see it in a list.
#[derive(Serialize)]
struct Listed {
    run: RunId,
    flow: Name,
    state: RunState,
    phase: Phase,
    paused: bool,
    frozen: Option<String>,
    tasks: u32,
    tasks_done: u32,
    counts: BTreeMap<String, u32>,
    triggered_at: Option<String>,
    started_at: Option<String>,
    completed_at: Option<String>,
    took_ms: Option<u64>,
    namespace: Name,
    by: Option<Name>,
    key: Option<String>,
    labels: BTreeMap<String, String>,
    /// The run that it is a part of.
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<RunId>,
    plan: PlanHash,
    applied_seq: u64,
    row_version: EventId,
    /// What `--after` takes to go on behind it.
    cursor: String,
}

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

    fn printed(&self, style: Style) -> Result<Vec<Row>> {
        let clock = Clock::local(self.now);
        let row = |row: &RunRow| {
            let listed = self.listed(row);
            Row::new(row.id.to_string(), listed.cells(row, &clock, self.now, style), &listed)
        };
        self.rows.iter().map(row).collect()
    }
}

pub(super) fn perform(args: &Runs, context: &mut Context<'_>) -> Result<Exit> {
    if let Some(RunsCommand::Export(args)) = &args.command {
        return export::perform(args, context);
    }
    let filter = filter(args)?;
    let mut view = View::open(context.config)?;
    if args.watch {
        return watch::perform(args, &filter, view, context);
    }
    let mut listing = Listing::of(&RunFilter { limit: args.limit.saturating_add(1), ..filter }, args.all, &mut view.reader)?;
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

impl Listed {
    fn new(row: &RunRow, frozen: Option<String>) -> Self {
        let done = TaskState::ALL.iter().zip(row.counts).filter(|(state, _)| state.is_done()).map(|(_, n)| n).sum();
        let counts = TaskState::ALL.iter().zip(row.counts).filter(|(_, n)| *n > 0);
        Self {
            run: row.id,
            flow: row.flow.clone(),
            state: row.state,
            phase: row.state.phase(),
            paused: row.paused,
            frozen,
            tasks: row.counts.iter().sum(),
            tasks_done: done,
            counts: counts.map(|(state, n)| (format!("{state:?}"), n)).collect(),
            triggered_at: rfc3339(row.triggered_at),
            started_at: rfc3339(row.started_at),
            completed_at: rfc3339(row.completed_at),
            took_ms: took(row, Time::NEVER).map(|span| span.0),
            namespace: row.namespace().clone(),
            by: row.marks.by.clone(),
            key: row.marks.key.clone(),
            labels: row.marks.labels.clone(),
            parent: row.parent().map(|parent| parent.run),
            plan: row.plan,
            applied_seq: row.applied_seq,
            row_version: row.version,
            cursor: Cursor(row.triggered_at, row.id).to_string(),
        }
    }

    fn word(&self) -> (&'static str, Ink) {
        match () {
            () if self.frozen.is_some() => ("frozen", Ink::Bad),
            () if self.paused && !self.state.is_done() => ("paused", Ink::Wait),
            () => (self.phase.word(), ink(self.phase)),
        }
    }

    fn cells(&self, row: &RunRow, clock: &Clock, now: Time, style: Style) -> Vec<Cell> {
        let (word, color) = self.word();
        vec![
            Cell::new(self.run.short(), Ink::Bold),
            Cell::from(match &self.parent {
                Some(parent) => format!("{} (part of {})", self.flow, parent.short()),
                None => self.flow.to_string(),
            }),
            Cell::new(format!("{} {word}", style.glyph(self.phase)), color),
            Cell::from(format!("{}/{}", self.tasks_done, self.tasks)),
            Cell::from(clock.short(row.started_at.known().unwrap_or(row.triggered_at))),
            Cell::from(took(row, now).map(span).unwrap_or_default()),
            Cell::new(self.by.as_ref().map_or("", |name| name.as_str()), Ink::Dim),
        ]
    }
}

/// How long a run took; until `now` if it is not over, unless that is not known.
fn took(row: &RunRow, now: Time) -> Option<edgewise_core::time::Millis> {
    let end = row.completed_at.known().or_else(|| now.known())?;
    row.started_at.known().map(|start| end.since(start))
}
