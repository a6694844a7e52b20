//! Leases that are over: their attempts end as `worker_lost` or `timeout`, decided at the ledger's tail.

use crate::committer::{AGAIN, CHORES};
use crate::desk::{Desk, SOMEBODY};
use crate::leases::{Lapse, Lease};
use edgewise_core::event::{AttemptRef, Event, Failure, TaskFinished, TaskIx};
use edgewise_core::id::RunId;
use edgewise_core::rows::LeaseRow;
use edgewise_core::time::Time;
use std::collections::BTreeMap;

pub(super) fn expire(desk: &mut Desk) {
    desk.leases.let_go(desk.now);
    let mut kept = None;
    // What ends with this very commit has given its slots back already, and must not do it twice. And whether a run
    // that it freezes is frozen is only known afterwards.
    let over = |at: &(RunId, TaskIx)| desk.batch.leases_over.contains(at) || desk.batch.marks.contains_key(&at.0);
    let lapsed: Vec<(RunId, TaskIx)> = desk.leases.lapsed(desk.now).filter(|at| !over(at)).take(CHORES).collect();
    for (run, task) in lapsed {
        // The run may have been loaded anew for one before it: then this is a later attempt, which another engine granted.
        if desk.leases.get(run, task).is_some_and(|lease| lease.lapse(desk.now).is_none()) {
            continue;
        }
        let Some(lease) = desk.leases.remove(run, task) else { continue };
        if desk.open_hinted(run).is_none() {
            if let Some(lapse) = lease.lapse(desk.now).filter(|_| desk.frozen.contains_key(&run)) {
                desk.leases.rest(run, task, lease, lapse);
            }
            continue;
        }
        if lease.lapse(desk.now) == Some(Lapse::WorkerLost) {
            let kept = kept.get_or_insert_with(|| kept_by_rows(desk));
            if let Some(later) = kept_on(desk, kept.as_ref(), (run, task), &lease) {
                desk.leases.put(run, task, Lease { deadline: Some(later), ..lease });
                continue;
            }
        }
        let failure = match lease.lapse(desk.now) {
            Some(Lapse::Timeout) => Failure::new("timeout", "the attempt took longer than its timeout"),
            _ => Failure::new("worker_lost", format!("worker {} stopped answering", lease.worker)),
        };
        let event = TaskFinished {
            task,
            generation: lease.generation,
            attempt: lease.attempt,
            token: lease.token,
            output: None,
            error: Some(failure),
        };
        let attempt = AttemptRef { task, generation: lease.generation, attempt: lease.attempt, token: lease.token };
        if desk.record(run, Event::TaskFinished(event)).is_err() {
            // It was not the task's lease any more.
            continue;
        }
        desk.batch.revoked.push((run, attempt));
        if lease.lapse(desk.now) == Some(Lapse::Timeout) {
            // Its worker is told to stop, and has not yet.
            desk.still_holds(&lease);
        }
        // If the commit fails the lease must lapse again.
        desk.batch.lapsed.push((run, task, lease));
    }
}

/// The leases that the rows keep on by now; `None` if they cannot be read.
fn kept_by_rows(desk: &mut Desk) -> Option<BTreeMap<(RunId, TaskIx), LeaseRow>> {
    let (rows, now) = (desk.projections.leases().ok()?, desk.now);
    let later = rows.into_iter().filter(|(_, row)| row.deadline > now);
    Some(later.map(|(stream, row)| ((stream.run, row.task), row)).collect())
}

/// Until when a lease holds, if the rows say that it is later than this engine knew: its worker may send its heartbeats
/// to another engine, and keeps to what it was told there.
fn kept_on(
    desk: &Desk,
    kept: Option<&BTreeMap<(RunId, TaskIx), LeaseRow>>,
    at: (RunId, TaskIx),
    lease: &Lease,
) -> Option<Time> {
    let Some(kept) = kept else { return Some(desk.now.plus(AGAIN)) };
    // A grant that came back is made anew under the same attempt: the row may tell of who had it before.
    let same = |row: &&LeaseRow| {
        let its = *lease.worker == *row.worker || &*lease.worker == SOMEBODY;
        its && (row.generation, row.attempt) == (lease.generation, lease.attempt)
    };
    kept.get(&at).filter(same).map(|row| row.deadline)
}
