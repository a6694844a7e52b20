//! Runs that waited for what was just ended in the graph: if nobody is here who stays with them, somebody is started.
//!
//! What was done is done: that a run cannot be looked at afterwards is said, and is no failure.

use crate::command::Context;
use crate::command::act::{Next, go_on};
use crate::place::{Place, runtime};
use crate::problem::Result;
use edgewise_core::id::RunId;
use edgewise_core::state::RunState;
use edgewise_core::work::{Done, Item, ItemId, Op, Work};
use edgewise_store::RunFilter;

/// Leaves the runs to an engine in the background, if there are any.
pub(super) fn with_runs(ops: &[Op], done: &[Done], next: Next, context: &mut Context<'_>) -> Result<()> {
    let ended: Vec<&ItemId> = ops.iter().zip(done).filter_map(|(op, done)| ended(op, done)).collect();
    if ended.is_empty() || next == Next::Engine {
        return Ok(());
    }
    let place = Place::of(context.config);
    match moved(&ended, next, &place) {
        Ok(Some(run)) => {
            let follows = format!("`edgewise watch {}` follows it", run.short());
            runtime()?.block_on(go_on(&place, next, &follows, context))
        }
        Ok(None) => Ok(()),
        Err(problem) => {
            let what =
                format!("{}: if a run waits for this, `edgewise engine --until-idle` goes on with it", problem.what);
            context.printer.say(&what);
            Ok(())
        }
    }
}

/// What an operation may have ended, so that somebody else goes on.
fn ended<'d>(op: &Op, done: &'d Done) -> Option<&'d ItemId> {
    let ends = matches!(
        op,
        Op::Close(_) | Op::Delete(_) | Op::Approve(_) | Op::Reject(_) | Op::Satisfy(_) | Op::Deliver { .. }
    );
    done.id.as_ref().filter(|_| ends && !done.already)
}

/// The first run that waited for one of these, is open, and has nobody who goes on with it.
fn moved(ended: &[&ItemId], next: Next, place: &Place) -> Result<Option<RunId>> {
    let mut reader = place.reader()?;
    // Most graphs have no runs beside them, and need not be read for that.
    let states = RunState::ALL.into_iter().filter(|state| !state.is_done()).collect();
    let open = RunFilter { states, limit: 1, ..RunFilter::default() };
    if reader.runs(&open)?.is_empty() {
        return Ok(None);
    }
    let work = reader.work()?;
    for run in ended.iter().flat_map(|id| waiting(&work, id)) {
        // One that is gone or damaged goes on with nobody.
        let run = reader.run(run).ok().filter(|run| !run.state.is_done() && !run.paused);
        if let Some(run) = run.filter(|run| !next.cares_for(run.id, place)) {
            return Ok(Some(run.id));
        }
    }
    Ok(None)
}

/// The runs that wait for an item or at a gate, or did before it ended. With an item those that it is in may end.
fn waiting(work: &Work, id: &ItemId) -> Vec<RunId> {
    let parent = |item: &&Item| work.parent(item.id.as_str()).and_then(|id| work.item(id.as_str()));
    let items = std::iter::successors(work.item(id.as_str()), parent);
    let item = items.filter_map(|item| item.waiter.as_ref().map(|waiter| waiter.run));
    let gate = work.gate(id.as_str()).into_iter().flat_map(|gate| gate.tasks.iter().map(|waiter| waiter.run));
    item.chain(gate).collect()
}
