//! `edgewise retain`: runs that are long over are taken away, some at a time, by whoever is the engine.

use super::Context;
use super::act::{count, found, is_sure};
use super::runs;
use crate::args::Retain;
use crate::exit::Exit;
use crate::output::Row;
use crate::place::{Place, runtime};
use crate::problem::{Problem, Result};
use crate::table::Cell;
use crate::text;
use edgewise_core::id::RunId;
use edgewise_core::rows::RunRow;
use edgewise_core::state::RunState;
use edgewise_core::time::Time;
use edgewise_engine::Door;
use edgewise_engine::engine::wall_clock;
use edgewise_engine::query;
use edgewise_engine::retention::{KEEP_KEYS, Kept, Removing, Retention};
use edgewise_store::RunFilter;
use serde_json::json;

/// Runs taken away by one request: the engine has other things to do, too.
const STEP: usize = 100;
/// Steps between two words about how far it is.
const PROGRESS: usize = 50;

/// How runs must have ended unless something else is said: failures are kept for whoever looks into them.
pub const STATES: [RunState; 3] = [RunState::Complete, RunState::Cancelled, RunState::ResolvedManually];

pub(super) fn perform(args: &Retain, context: &mut Context<'_>) -> Result<Exit> {
    let place = Place::of(context.config);
    place.there_are_runs()?;
    let now = wall_clock();
    let rules = rules(args, now)?;
    let cutoff = rules.cutoff(now);
    let mut old = if rules.is_possible() { found(&place, rules.candidates(now, 0))? } else { Vec::new() };
    old.retain(|row| row.completed_at <= cutoff);
    if old.is_empty() {
        context.printer.say("no run is that old and like that");
        runs::print_none(context)?;
        return Ok(Exit::Ok);
    }
    if args.dry_run {
        runs::print(&old, &place, context)?;
        context.printer.say(&format!("{} would be taken away; nothing was done", count(old.len())));
        return Ok(Exit::Ok);
    }
    if !args.yes && !is_sure(&old, "taken away", &place, context)? {
        return Ok(Exit::Interrupted);
    }
    let kept = runtime()?.block_on(take_away(&place, &old, &rules, context))?;
    tell(&old, &kept, context)
}

fn rules(args: &Retain, now: Time) -> Result<Retention> {
    let mut filter = query::parse(args.query.as_deref().unwrap_or_default(), now)?;
    let ended = args.state.as_ref().map_or(STATES.to_vec(), |ended| ended.0.clone());
    filter.states = match filter.states.as_slice() {
        [] => ended,
        // A search that names states says how they ended, unless `--state` does.
        searched if args.state.is_none() => searched.to_vec(),
        searched => ended.into_iter().filter(|state| searched.contains(state)).collect(),
    };
    if filter.states.is_empty() {
        let what = "`--state` and `state:` ask for different states, so no run can be in both";
        return Err(Problem::new(edgewise_core::Kind::Invalid, "bad_query", what).next("use one of the two"));
    }
    let filter = RunFilter { limit: 0, ..filter };
    Ok(Retention { older_than: args.older_than, filter, keep_keys: args.keys.unwrap_or(KEEP_KEYS) })
}

async fn take_away(place: &Place, old: &[RunRow], rules: &Retention, context: &mut Context<'_>) -> Result<Vec<Kept>> {
    let mut door = place.record().await?;
    let result = in_steps(&mut door, old, rules, context).await;
    door.close().await?;
    result
}

async fn in_steps(door: &mut Door, old: &[RunRow], rules: &Retention, context: &mut Context<'_>) -> Result<Vec<Kept>> {
    let mut kept = Vec::new();
    let mut more = false;
    for (step, some) in old.chunks(STEP).enumerate() {
        let runs: Vec<RunId> = some.iter().map(|row| row.id).collect();
        let (refused, left) = door.remove(Removing { runs, keep_keys: rules.keep_keys }).await?;
        kept.extend(refused);
        more = left;
        if step > 0 && step % PROGRESS == 0 {
            context.printer.say(&format!("{} of {} done", step * STEP, count(old.len())));
        }
    }
    // Large runs are given back to the disk in steps of their own.
    while more {
        (_, more) = door.remove(Removing { runs: Vec::new(), keep_keys: rules.keep_keys }).await?;
    }
    Ok(kept)
}

fn tell(old: &[RunRow], kept: &[Kept], context: &mut Context<'_>) -> Result<Exit> {
    let refusal = |run: RunId| kept.iter().find(|kept| kept.run == run);
    let mut rows = Vec::new();
    for row in old {
        let refused = refusal(row.id);
        let line = match refused {
            Some(kept) => format!("kept run {}: {}", row.id.short(), text::escape(&kept.message)),
            None => format!("took run {} away", row.id.short()),
        };
        if context.printer.for_people() {
            context.printer.raw(&line)?;
            continue;
        }
        let why = refused.map(|kept| json!({ "code": kept.code, "message": kept.message }));
        let value = json!({ "run": row.id, "changed": refused.is_none(), "refused": why });
        rows.push(Row::new(row.id.to_string(), vec![Cell::from(line)], &value)?);
    }
    if !context.printer.for_people() {
        context.printer.rows(&["run"], &rows)?;
    }
    let gone = old.len() - kept.len();
    let and = if kept.is_empty() { String::new() } else { format!(", {} kept", kept.len()) };
    context.printer.say(&format!("{} taken away{and}", count(gone)));
    Ok(if kept.is_empty() { Exit::Ok } else { Exit::Conflict })
}
