//! Joins: items that wait for a run are told that it has ended, or is open again, in the commit in which it is so;
//! where that commit knew nothing of them, as soon as somebody looks.

use crate::committer::{AGAIN, CHORES};
use crate::desk::Desk;
use edgewise_core::id::RunId;
use edgewise_core::state::RunState;
use edgewise_core::work::{RunEnded, WorkEvent};
use edgewise_core::{Kind, Result};

/// Looks again at every run that is waited for: it may have ended elsewhere.
pub(super) fn look_again(desk: &mut Desk) -> usize {
    if !desk.work.loaded {
        return 0;
    }
    let awaited = desk.work.state.awaited_runs().collect::<Vec<RunId>>();
    let before = desk.work.joins.len();
    desk.work.joins.extend(awaited);
    desk.work.joins.len() - before
}

pub(super) fn join(desk: &mut Desk) {
    if !desk.work.loaded || desk.frozen.contains_key(&RunId::WORK) {
        return;
    }
    for at in 0..desk.batch.touched.len() {
        let run = desk.batch.touched[at];
        if desk.work.state.is_awaited(run) {
            desk.work.joins.insert(run);
        }
    }
    let mut again = Vec::new();
    for _ in 0..CHORES {
        let Some(run) = desk.work.joins.pop_first() else { break };
        if tell(desk, run).is_err() {
            again.push(run);
        }
    }
    if !again.is_empty() {
        // The store does not answer; nobody else may ever ask.
        desk.work.joins.extend(again);
        desk.work.put_off = desk.now.plus(AGAIN);
    }
}

/// Says how a run ended, if that is not what the graph knows. An error if the store does not answer.
fn tell(desk: &mut Desk, run: RunId) -> Result<()> {
    let Some(state) = state_of(desk, run)? else { return Ok(()) };
    if desk.work.state.run_end(run) == state {
        return Ok(());
    }
    if desk.runs.contains_key(&run) {
        desk.rely_on(run);
    }
    // A run that nobody waits for any more need not be told.
    let _ = desk.record_work(WorkEvent::RunEnded(RunEnded { run, state }));
    Ok(())
}

/// How a run ended; `Some(None)` while it has not, `None` if nobody can say. One that is at work is not loaded for that.
fn state_of(desk: &mut Desk, run: RunId) -> Result<Option<Option<RunState>>> {
    if !desk.runs.contains_key(&run) {
        let stream = desk.home.stream(run);
        let head = desk.ledger.head(&stream)?;
        let row = desk.projections.run(&stream)?;
        if row.is_some_and(|row| row.applied_seq == head.seq && !row.state.is_done()) {
            return Ok(Some(None));
        }
    }
    match desk.open(run) {
        Ok(cached) => Ok(Some(cached.run.state.is_done().then_some(cached.run.state))),
        Err(error) if error.kind == Kind::NotFound => {
            let gone = desk.ledger.gone(&desk.home.stream(run))?;
            Ok(gone.map(|gone| Some(gone.state)))
        }
        Err(error) if error.kind == Kind::Unavailable => Err(error),
        // Frozen: the sweep asks again.
        Err(_) => Ok(None),
    }
}
