//! Joins: items that wait for a run or for a gate of it are told that it has ended, or is open again, in the commit in
//! which it is so; where that commit knew nothing of them, as soon as somebody looks.

use crate::committer::{AGAIN, CHORES};
use crate::desk::Desk;
use edgewise_core::event::decode;
use edgewise_core::fold::{Changes, Stamp, fold};
use edgewise_core::id::RunId;
use edgewise_core::run::Run;
use edgewise_core::state::RunState;
use edgewise_core::work::{RunEnded, RunGateEnd, RunGateEnded, WorkEvent};
use edgewise_core::{Kind, Result};
use std::sync::Arc;

/// Most records read at once.
const PAGE: usize = 1_000;

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

/// Says how a run and its gates ended, if that is not what the graph knows. An error if the store does not answer.
fn tell(desk: &mut Desk, run: RunId) -> Result<()> {
    tell_gates(desk, run)?;
    if !desk.work.state.is_awaited_whole(run) {
        return Ok(());
    }
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
    Ok(look_at(desk, run)?.map(|state| state.is_done().then_some(state)))
}

/// Says how those gates of a run ended that are waited for.
fn tell_gates(desk: &mut Desk, run: RunId) -> Result<()> {
    let work = &desk.work.state;
    let known = |path: &str| (path.to_owned(), work.run_gate_end(run, path));
    let gates: Vec<(String, Option<RunGateEnd>)> = work.awaited_gates(run).into_iter().map(known).collect();
    if gates.is_empty() || seen(desk, run)? {
        return Ok(());
    }
    let Some(state) = look_at(desk, run)? else { return Ok(()) };
    let first = !desk.work.looked_at.contains_key(&run);
    for (task, known) in gates {
        let cached = desk.runs.get(&run).map(|cached| &cached.run);
        let put_by = cached.is_some_and(|run| run.is_put_by(&task));
        let end = match cached.and_then(|run| run.gate_end(&task)) {
            Some(end) => end,
            // What is over and was given back stays as it was told.
            None if known.is_some() => continue,
            None if state.is_done() => in_ledger(desk, run, &task)?.flatten().or(Some(RunGateEnd::Missed)),
            None if first || put_by => in_ledger(desk, run, &task)?.flatten(),
            None => continue,
        };
        if end == known {
            continue;
        }
        if desk.runs.contains_key(&run) {
            desk.rely_on(run);
        }
        let _ = desk.record_work(WorkEvent::RunGateEnded(RunGateEnded { run, task, end }));
    }
    match desk.runs.get(&run) {
        Some(cached) if cached.events.is_empty() => drop(desk.work.looked_at.insert(run, cached.run.seq)),
        // What is not durable yet may never be: it is looked at again, but not from its beginning.
        Some(_) => drop(desk.work.looked_at.entry(run).or_insert(0)),
        None => {}
    }
    Ok(())
}

/// Whether a run that is not on the desk is just as it was when its gates were last looked at.
fn seen(desk: &mut Desk, run: RunId) -> Result<bool> {
    match desk.work.looked_at.get(&run) {
        Some(seq) if !desk.runs.contains_key(&run) => Ok(desk.ledger.head(&desk.home.stream(run))?.seq == *seq),
        _ => Ok(false),
    }
}

/// Has a run on the desk as the ledger has it, and says where it is; `None` if nobody can say. One that was taken away
/// is where it ended.
fn look_at(desk: &mut Desk, run: RunId) -> Result<Option<RunState>> {
    match desk.newest_state(run) {
        Ok(state) => Ok(Some(state)),
        Err(error) if error.kind == Kind::NotFound => {
            Ok(desk.ledger.gone(&desk.home.stream(run))?.map(|gone| gone.state))
        }
        Err(error) if error.kind == Kind::Unavailable => Err(error),
        // Frozen: to tell where it is moves nothing of it.
        Err(_) => match desk.lay_down(run) {
            Err(error) if error.kind == Kind::Unavailable => Err(error),
            // Nobody can read it; the sweep asks again.
            Err(_) => Ok(None),
            Ok(()) => Ok(desk.runs.get(&run).map(|cached| cached.run.state)),
        },
    }
}

/// How a gate ended that is not on the desk any more: in a round of a loop that is over, or put by with what ended well.
fn in_ledger(desk: &mut Desk, run: RunId, path: &str) -> Result<Option<Option<RunGateEnd>>> {
    let Some(cached) = desk.runs.get(&run) else { return Ok(None) };
    let (stream, hash, plan) = (cached.stream.clone(), cached.run.plan_hash, Arc::clone(&cached.run.plan));
    let (mut whole, mut changes) = (Run::new(run, hash, plan), Changes::default());
    loop {
        let page = desk.ledger.read(&stream, whole.seq, PAGE)?;
        if page.is_empty() {
            return Ok(whole.gate_end(path));
        }
        for stored in page {
            let (envelope, events) = decode(&stored.record)?;
            for (n, event) in (0..).zip(&events) {
                changes.clear();
                fold(&mut whole, Stamp { id: envelope.id.plus(n), at: envelope.at }, event, &mut changes);
            }
        }
    }
}
