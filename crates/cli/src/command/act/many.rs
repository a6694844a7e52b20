//! The same act on all runs that a search finds: listed first, done after a yes, one line a run.

use super::{Act, Moves, Next, go_on};
use crate::args::Which;
use crate::command::{Context, runs};
use crate::exit::Exit;
use crate::output::Row;
use crate::place::{Place, runtime};
use crate::problem::{Problem, Result};
use crate::style::Ink;
use crate::table::Cell;
use crate::text;
use edgewise_core::Kind;
use edgewise_core::id::RunId;
use edgewise_core::rows::RunRow;
use edgewise_core::state::RunState;
use edgewise_engine::engine::wall_clock;
use edgewise_engine::query;
use edgewise_store::RunFilter;
use serde_json::json;
use std::io::{BufRead, IsTerminal};

/// Runs looked up at once.
const PAGE: usize = 1_000;
/// Most runs shown before a question.
const SHOWN: usize = 10;

/// Which of the runs that a search finds an act is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::command) enum Reach {
    /// Those that are not over: nothing can be done to the others.
    Open,
    /// All of them.
    Any,
}

/// How often an act did something, nothing, or was refused.
#[derive(Default)]
struct Counts {
    done: usize,
    already: usize,
    refused: usize,
}

/// How it ended, and to how many runs it was done.
pub(super) fn perform(
    text: &str,
    which: &Which,
    act: &Act<'_>,
    reach: Reach,
    context: &mut Context<'_>,
) -> Result<(Exit, usize)> {
    let place = Place::of(context.config);
    place.there_are_runs()?;
    let mut filter = query::parse(text, wall_clock())?;
    if reach == Reach::Open {
        let open = |state: &RunState| !state.is_done() && (filter.states.is_empty() || filter.states.contains(state));
        filter.states = RunState::ALL.into_iter().filter(open).collect();
    }
    // A search for runs that are over finds none that could be acted on.
    let runs = if filter.states.is_empty() && reach == Reach::Open { Vec::new() } else { found(&place, filter)? };
    if runs.is_empty() {
        let what = if reach == Reach::Open { "no run that is not over is like that" } else { "no run is like that" };
        context.printer.say(what);
        runs::print_none(context)?;
        return Ok((Exit::Ok, 0));
    }
    if which.dry_run {
        runs::print(&runs, &place, context)?;
        context.printer.say(&format!("{}; nothing was done", count(runs.len())));
        return Ok((Exit::Ok, 0));
    }
    if runs.len() > 1 && !which.yes && !is_sure(&runs, act.done, &place, context)? {
        return Ok((Exit::Interrupted, 0));
    }
    let ids: Vec<RunId> = runs.iter().map(|row| row.id).collect();
    let (counts, next) = runtime()?.block_on(act_on(&place, &ids, act, context))?;
    let moves = match act.moves {
        Moves::Nothing => false,
        Moves::Run => true,
        Moves::Parent => runs.iter().any(|row| row.parent().is_some()),
    };
    if moves && counts.done > 0 && ids.iter().any(|run| !next.cares_for(*run, &place)) {
        runtime()?.block_on(go_on(&place, next, "`edgewise runs --watch` follows them", context))?;
    }
    let mut told = vec![count(ids.len())];
    let parts = [(counts.done, act.done), (counts.already, act.already), (counts.refused, "refused")];
    told.extend(parts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")));
    context.printer.say(&format!("{}: {}", told[0], told[1..].join(", ")));
    Ok((if counts.refused > 0 { Exit::Conflict } else { Exit::Ok }, counts.done))
}

/// All runs that fit, the newest first.
pub(in crate::command) fn found(place: &Place, filter: RunFilter) -> Result<Vec<RunRow>> {
    let mut reader = place.reader()?;
    let mut filter = RunFilter { limit: PAGE, ..filter };
    let mut all = Vec::new();
    loop {
        let page = reader.runs(&filter)?;
        let Some(last) = page.last() else { return Ok(all) };
        filter.after = Some((last.triggered_at, last.id));
        // What is listed and acted on does not need all that a run is made of.
        all.extend(page);
    }
}

/// Asks a person; a script must have said so beforehand.
pub(in crate::command) fn is_sure(
    runs: &[RunRow],
    done: &str,
    place: &Place,
    context: &mut Context<'_>,
) -> Result<bool> {
    let people = std::io::stdin().is_terminal() && std::io::stderr().is_terminal() && context.printer.for_people();
    if !people {
        runs::print(runs, place, context)?;
        context.printer.flush()?;
        let what = format!("{} would be {done}, and nothing was done", count(runs.len()));
        return Err(Problem::new(Kind::Invalid, "needs_yes", what).next("add --yes to do it, or narrow the search"));
    }
    runs::print(&runs[..runs.len().min(SHOWN)], place, context)?;
    if runs.len() > SHOWN {
        context.printer.say(&format!("and {} more", runs.len() - SHOWN));
    }
    context.printer.say(&format!("{} would be {done}. Go on? [y/N]", count(runs.len())));
    context.printer.flush()?;
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer).map_err(|error| Problem::output(&error))?;
    let yes = read > 0 && matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes");
    if !yes {
        context.printer.say("nothing was done");
    }
    Ok(yes)
}

async fn act_on(place: &Place, runs: &[RunId], act: &Act<'_>, context: &mut Context<'_>) -> Result<(Counts, Next)> {
    let mut door = place.record().await?;
    let (mut counts, mut rows, mut broken) = (Counts::default(), Vec::new(), None);
    for run in runs {
        let (changed, refusal) = match door.act((act.ask)(*run, context.config.who.value.clone())).await {
            Ok(done) => (done, None),
            Err(error) if matches!(error.kind, Kind::Unavailable | Kind::Bug) => {
                broken = Some(error);
                break;
            }
            Err(error) => (false, Some(error)),
        };
        match (&refusal, changed) {
            (Some(_), _) => counts.refused += 1,
            (None, true) => counts.done += 1,
            (None, false) => counts.already += 1,
        }
        let line = match &refusal {
            Some(error) => format!("refused run {}: {}", run.short(), text::escape(&error.message)),
            None => act.line(*run, changed),
        };
        if context.printer.for_people() {
            context.printer.raw(&line)?;
        } else {
            let refused = refusal.map(|error| json!({ "code": error.code, "message": error.message }));
            let value = json!({ "run": run, "changed": changed, "refused": refused });
            rows.push(Row::new(run.to_string(), vec![Cell::new(line, Ink::Plain)], &value)?);
        }
    }
    let next = Next::of(&mut door).await;
    door.close().await?;
    if !context.printer.for_people() {
        context.printer.rows(&["run"], &rows)?;
    }
    if let Some(error) = broken {
        let did = counts.done + counts.already + counts.refused;
        context.printer.say(&format!("{did} of {} were dealt with; the same search does the rest", count(runs.len())));
        return Err(error.into());
    }
    Ok((counts, next))
}

/// `1 run`, `3 runs`
pub(in crate::command) fn count(n: usize) -> String {
    format!("{n} run{}", if n == 1 { "" } else { "s" })
}
