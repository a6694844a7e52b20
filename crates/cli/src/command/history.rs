//! `edgewise history`: every transition of a run and of its tasks, with the event that made it, and everything that
//! people did, with who and why; also what moved nothing at once, such as a pause or the first of two approvals.

use super::Context;
use super::work::{self, Found, found};
use crate::args::History;
use crate::clock::{Clock, rfc3339};
use crate::exit::Exit;
use crate::output::Row;
use crate::problem::Result;
use crate::style::Ink;
use crate::table::Cell;
use crate::view::{View, find_task};
use edgewise_core::event::TaskIx;
use edgewise_core::history::{Act, Stream, Transition};
use edgewise_core::id::EventId;
use edgewise_core::name::Name;
use edgewise_core::run::Run;
use edgewise_engine::engine::wall_clock;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;

/// What is moved stands last, where it may be cut; the columns before it depend on the room there is.
const NARROW: [&str; 4] = ["seq", "time", "task", "move"];
const WIDE: [&str; 6] = ["seq", "time", "task", "by", "source", "move"];
const WIDE_COLUMNS: usize = 110;

/// One transition, of the run itself if there is no task; or an act that moved nothing, which goes from nowhere to nowhere.
#[derive(Serialize)]
struct Moved {
    task: Option<String>,
    from: Option<String>,
    to: Option<String>,
    by: String,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    said: Option<Said>,
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

/// Who did it, and why.
#[derive(Serialize, Clone)]
struct Said {
    who: Name,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

pub(super) fn perform(args: &History, context: &mut Context<'_>) -> Result<Exit> {
    let (run, task) = match found(&args.what, args.task.as_ref(), context)? {
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
        cells.push(Cell::new(moved + &said.unwrap_or_default(), ink));
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
    let mut by_seq: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (n, step) in all.iter().enumerate() {
        by_seq.entry(step.seq).or_default().push(n);
    }
    for act in history.acts.iter().filter(|act| only.is_none() || act.task == only) {
        let said = Said { who: act.by.clone(), why: act.why.clone() };
        match by_seq.get(&act.seq) {
            // Said once, of what they meant; what followed from it follows.
            Some(steps) => {
                let meant = act.task.map_or(u32::MAX, |task| task.0);
                let first = steps.iter().find(|n| all[**n].place == meant).or(steps.first());
                all[*first.unwrap_or(&0)].said = Some(said);
            }
            None => all.push(alone(run, act, said)),
        }
    }
    all.sort_by_key(|step| (step.seq, step.place));
    all
}

/// An act that moved nothing.
fn alone(run: &Run, act: &Act, said: Said) -> Moved {
    Moved {
        task: act.task.map(|task| run.path(task)),
        from: None,
        to: None,
        by: act.kind.to_string(),
        said: Some(said),
        event: act.event,
        seq: act.seq,
        time: rfc3339(act.at),
        source: Arc::clone(&act.source),
        most_recent: false,
        at: act.at,
        place: act.task.map_or(u32::MAX, |task| task.0),
    }
}

/// An act that moved nothing at once, in a word; what is new here is shown by its name.
fn act(kind: &str) -> &str {
    match kind {
        "RunTriggered" => "asked for",
        "RunPauseRequested" => "paused",
        "RunResumeRequested" => "resumed",
        "ApprovalGiven" => "approved",
        "ApprovalWithdrawn" => "approval withdrawn",
        other => other,
    }
}

fn moved<S: Debug, B>(task: Option<String>, place: u32, step: &Transition<S, B>, by: String) -> Moved {
    Moved {
        task,
        from: Some(format!("{:?}", step.from)),
        to: Some(format!("{:?}", step.to)),
        by,
        said: None,
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
