//! The append: everything on the desk that is not durable becomes so, or is forgotten.

use crate::cached::Cached;
use crate::desk::{Desk, Given};
use crate::leases::Lapse;
use crate::publish;
use crate::publish::Moved;
use edgewise_core::event::{Envelope, Event, Record, encode};
use edgewise_core::id::{EventId, RunId, TokenHash};
use edgewise_core::{Error, Kind, Result};
use edgewise_store::quick::QuickSet;
use edgewise_store::{Append, Appended, Guard, Marking, Position};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Whether a batch is in the ledger.
pub(super) enum Landed {
    Yes,
    /// Somebody else was first: decide again.
    Conflict,
    /// Nothing was written, for this reason.
    No(Error),
}

/// Appends what was decided. An error is fatal.
pub(super) fn append(desk: &mut Desk) -> Result<Landed> {
    if let Some((run, reason)) = desk.batch.overflow.take() {
        desk.take_marks_back();
        desk.freeze(run, &reason)?;
        undo(desk);
        return Ok(Landed::Conflict);
    }
    if desk.batch.spoiled {
        undo(desk);
        return Ok(Landed::Conflict);
    }
    if desk.batch.touched.is_empty() && !desk.control.is_staged() && !desk.work.is_staged() {
        return Ok(Landed::Yes);
    }
    let batch = encode_batch(desk);
    let landed = match desk.ledger.append(&batch) {
        Ok(Appended::Done(at)) => {
            // What others wrote in between is still to be looked at.
            let next = at.0 == desk.seen.0 + batch.records.len() as u64;
            if next {
                desk.seen = at;
            }
            tell(desk, next.then_some(at));
            Landed::Yes
        }
        Ok(Appended::Conflict(_) | Appended::KeyTaken(_)) => {
            desk.astray |= batch.after.is_some();
            Landed::Conflict
        }
        Ok(Appended::Frozen(stream, reason)) => {
            desk.take_marks_back();
            let touched = std::mem::take(&mut desk.batch.touched);
            desk.learn_marks(&touched);
            desk.batch.touched = touched;
            desk.set_frozen(stream.run, &reason);
            Landed::Conflict
        }
        Err(error) if error.code == "sync_failed" => return Err(error),
        Err(error) if error.code == "unknown_commit" => {
            tell(desk, None);
            read_back(desk, &batch, error)?
        }
        Err(error) => Landed::No(error),
    };
    desk.trouble = match &landed {
        Landed::No(error) => Some(error.message.clone()),
        Landed::Yes | Landed::Conflict => None,
    };
    match landed {
        Landed::Yes => keep(desk, &batch),
        _ => {
            undo(desk);
        }
    }
    Ok(landed)
}

/// Tells publisher and herald what landed, in runs that tell something and in the work graph; without a position the ledger must say what did.
fn tell(desk: &mut Desk, at: Option<Position>) {
    let Desk { tap: Some(tap), runs, work, batch, now, .. } = desk else { return };
    let Some(at) = at else { return tap.look() };
    let durable = Instant::now();
    let mut landed = publish::Landed { runs: Vec::new(), work: work.noted(*now).map(Arc::new) };
    for run in &batch.touched {
        let Some(cached) = runs.get_mut(run).filter(|cached| cached.run.plan.tells.anything()) else { continue };
        landed.runs.push(Arc::new(Moved {
            run: *run,
            plan_hash: cached.run.plan_hash,
            plan: Arc::clone(&cached.run.plan),
            first: cached.durable + 1,
            id: cached.first_id,
            at: *now,
            events: std::mem::take(&mut cached.events),
        }));
    }
    tap.landed(&landed, at, durable);
}

fn encode_batch(desk: &mut Desk) -> Append {
    let mut batch = Append {
        guards: Vec::with_capacity(desk.batch.touched.len()),
        keys: std::mem::take(&mut desk.batch.keys),
        plans: std::mem::take(&mut desk.batch.plans),
        records: Vec::with_capacity(desk.batch.touched.len()),
        marks: Vec::new(),
        at: desk.now,
        after: desk.batch.given.bounded.then_some(desk.seen),
    };
    for run in &desk.batch.touched {
        let Some(cached) = desk.runs.get(run) else { continue };
        let envelope = Envelope { id: cached.first_id, at: desk.now, source: (&*desk.source).into() };
        let bytes = encode(&envelope, &cached.events);
        let count = cached.events.len() as u32;
        let record = Record::new(&cached.stream.label(), cached.durable + 1, count, bytes);
        batch.guards.push(Guard { stream: cached.stream.clone(), seq: cached.durable });
        batch.records.push((cached.stream.clone(), record, cached.run.last));
        batch.marks.extend(marking(cached, desk.batch.marks.get(run)));
    }
    let touched: QuickSet<RunId> = desk.batch.touched.iter().copied().collect();
    let staged = |run: &RunId| touched.contains(run) || (*run == RunId::WORK && desk.work.is_staged());
    for (run, seq) in desk.batch.relied.iter().filter(|(run, _)| !staged(run)) {
        batch.guards.push(Guard { stream: desk.home.stream(*run), seq: *seq });
    }
    desk.control.stage(&desk.home.stream(RunId::CONTROL), (desk.now, &desk.source), &mut batch);
    desk.work.stage(&desk.home.stream(RunId::WORK), (desk.now, &desk.source), &mut batch);
    batch
}

/// The mark follows from the events, so that there is neither without the other.
fn marking(cached: &Cached, was: Option<&Option<String>>) -> Option<Marking> {
    let says_so = |event: &Event| matches!(event, Event::RunFrozen(_) | Event::RunUnfrozen(_));
    cached.events.iter().any(says_so).then(|| Marking {
        stream: cached.stream.clone(),
        was: was.cloned().flatten(),
        now: cached.run.freeze_mark(),
    })
}

/// After an unknown result the heads say whether it was our batch that landed.
fn read_back(desk: &mut Desk, batch: &Append, unknown: Error) -> Result<Landed> {
    let ours = |stream, last: EventId, desk: &mut Desk| -> Result<bool> { Ok(desk.ledger.head(stream)?.last == last) };
    for (stream, _, last) in &batch.records {
        match ours(stream, *last, desk) {
            Ok(true) => return Ok(Landed::Yes),
            Ok(false) => {}
            // Still unknown: whoever asked must ask again; the runs are loaded when they are needed.
            Err(error) if error.kind == Kind::Unavailable => {
                nobody_was_told(desk);
                return Ok(Landed::No(unknown));
            }
            Err(error) => return Err(error),
        }
    }
    // None of the heads is ours: it did not land, or others have gone on behind it already.
    nobody_was_told(desk);
    Ok(Landed::No(unknown))
}

/// The grants of a commit in doubt come back, if they were made at all.
fn nobody_was_told(desk: &mut Desk) {
    let given = desk.batch.leases.iter();
    desk.undelivered.extend(given.map(|(run, task, lease)| (*run, lease.attempt_of(*task))));
}

/// What was staged is so now.
fn keep(desk: &mut Desk, batch: &Append) {
    desk.counts.commits += 1;
    for (_, record, _) in &batch.records {
        desk.counts.events += u64::from(record.count);
        desk.counts.bytes += record.bytes.len() as u64;
    }
    let own = usize::from(desk.control.is_staged()) + usize::from(desk.work.is_staged());
    debug_assert_eq!(batch.records.len(), desk.batch.touched.len() + own);
    desk.control_durable();
    desk.work_durable();
    for run in &desk.batch.ended {
        desk.ticks.ended(*run);
    }
    for run in std::mem::take(&mut desk.batch.touched) {
        durable(desk, run);
    }
    for (run, task, lease) in std::mem::take(&mut desk.batch.lapsed) {
        if lease.lapse(desk.now) == Some(Lapse::Timeout) {
            desk.hold(run, task, lease);
        }
    }
    let told: QuickSet<(RunId, TokenHash)> =
        desk.batch.revoked.iter().map(|(run, attempt)| (*run, attempt.token)).collect();
    for (run, task) in std::mem::take(&mut desk.batch.leases_over) {
        let Some(lease) = desk.leases.take(run, task) else { continue };
        if told.contains(&(run, lease.token)) {
            desk.hold(run, task, lease);
        }
    }
    for (run, task, token) in std::mem::take(&mut desk.batch.stopped) {
        desk.leases.acknowledge(run, task, token);
    }
    desk.batch.given = Given::default();
    for (run, task, lease) in std::mem::take(&mut desk.batch.leases) {
        desk.counts.leases += 1;
        if let Some(entry) = desk.runs.get(&run).and_then(|cached| cached.run.task(task)) {
            desk.ready_to_start.add(Duration::from_millis(desk.now.since(entry.ready_at).0));
        }
        desk.leases.put(run, task, lease);
    }
    desk.marks_landed();
}

/// What was staged never happened.
fn undo(desk: &mut Desk) {
    desk.take_marks_back();
    let batch = std::mem::take(&mut desk.batch);
    desk.undo_given(&batch.given);
    for (run, task, lease) in batch.lapsed.into_iter().chain(batch.refused) {
        desk.leases.put(run, task, lease);
    }
    desk.links.due.extend(batch.looked_at);
    let control = desk.control.is_staged().then_some(RunId::CONTROL);
    let own = control.into_iter().chain(desk.work.is_staged().then_some(RunId::WORK));
    // The work graph that was only read is folded on, not loaded anew.
    let relied = batch.relied.into_keys().filter(|run| *run != RunId::WORK);
    let mut undone: Vec<RunId> = batch.touched.into_iter().chain(relied).chain(own).collect();
    undone.sort_unstable();
    undone.dedup();
    desk.forget(&undone);
}

fn durable(desk: &mut Desk, run: RunId) {
    if let Some(cached) = desk.runs.get_mut(&run) {
        cached.durable = cached.run.seq;
        cached.events.clear();
        desk.dirty.insert(run);
    }
}
