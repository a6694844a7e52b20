//! Leases that are over: their attempts end as `worker_lost` or `timeout`, decided at the ledger's tail.

use crate::committer::{AGAIN, CHORES};
use crate::desk::Desk;
use crate::leases::{Lapse, Lease};
use edgewise_core::event::{AttemptRef, Event, Failure, TaskFinished, TaskIx};
use edgewise_core::id::RunId;
use edgewise_core::rows::LeaseRow;
use edgewise_core::time::Time;

pub(super) fn expire(desk: &mut Desk) {
    desk.leases.let_go(desk.now);
    for _ in 0..CHORES {
        let Some((run, task)) = desk.leases.lapsed(desk.now) else { return };
        let Some(lease) = desk.leases.remove(run, task) else { return };
        if desk.open_hinted(run).is_none() {
            continue;
        }
        if let Some(later) = kept_elsewhere(desk, run, task, &lease) {
            desk.leases.put(run, task, Lease { deadline: Some(later), ..lease });
            continue;
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
        if desk.record(run, Event::TaskFinished(event)).is_ok() {
            desk.batch.revoked.push((run, attempt));
        }
        if lease.lapse(desk.now) == Some(Lapse::Timeout) {
            // Its worker is told to stop, and has not yet.
            desk.still_holds(&lease);
        }
        // If the commit fails the lease must lapse again.
        desk.batch.lapsed.push((run, task, lease));
    }
}

/// Until when the rows say that a lease of another engine holds, if that is later than this engine knew: its
/// worker sends its heartbeats there.
fn kept_elsewhere(desk: &mut Desk, run: RunId, task: TaskIx, lease: &Lease) -> Option<Time> {
    if !lease.adopted || lease.lapse(desk.now) != Some(Lapse::WorkerLost) {
        return None;
    }
    let Ok(rows) = desk.projections.leases() else { return Some(desk.now.plus(AGAIN)) };
    let same = |row: &LeaseRow| (row.task, row.generation, row.attempt) == (task, lease.generation, lease.attempt);
    let row = rows.into_iter().find(|(stream, row)| stream.run == run && same(row))?.1;
    row.deadline.known().filter(|deadline| *deadline > desk.now)
}
