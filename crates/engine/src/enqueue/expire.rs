//! Leases that are over: their attempts end as `worker_lost` or `timeout`, decided at the ledger's tail.

use crate::committer::{AGAIN, CHORES};
use crate::desk::Desk;
use crate::leases::{Lapse, Lease};
use edgewise_core::event::{AttemptRef, Event, Failure, TaskFinished, TaskIx};
use edgewise_core::id::RunId;
use edgewise_store::quick::QuickSet;

pub(super) fn expire(desk: &mut Desk) {
    desk.leases.let_go(desk.now);
    if desk.leases.lapsed(desk.now).next().is_none() {
        return;
    }
    // What ends with this very commit has given its slots back already, and must not do it twice. And whether a run
    // that it freezes is frozen is only known afterwards.
    let over: QuickSet<&(RunId, TaskIx)> = desk.batch.leases_over.iter().collect();
    let open = |at: &(RunId, TaskIx)| !over.contains(at) && !desk.batch.marks.contains_key(&at.0);
    let lapsed: Vec<(RunId, TaskIx)> = desk.leases.lapsed(desk.now).filter(open).take(CHORES).collect();
    for (run, task) in lapsed {
        // The run may have been loaded anew for one before it: then this is a later attempt, which another engine granted.
        let lapsed = desk.leases.get(run, task).and_then(|lease| Some((lease.clone(), lease.lapse(desk.now)?)));
        let Some((lease, lapse)) = lapsed else { continue };
        if lapse == Lapse::WorkerLost
            && let Some(kept) = kept_on(desk, run, task, &lease)
        {
            desk.leases.put(run, task, kept);
            continue;
        }
        desk.leases.remove(run, task);
        if desk.open_hinted(run).is_none() {
            if desk.frozen.contains_key(&run) {
                desk.leases.rest(run, task, lease, lapse);
            }
            continue;
        }
        let failure = match lapse {
            Lapse::Timeout => Failure::new("timeout", "the attempt took longer than its timeout"),
            Lapse::WorkerLost => Failure::new("worker_lost", format!("worker {} stopped answering", lease.worker)),
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
        if lapse == Lapse::Timeout {
            // Its worker is told to stop, and has not yet.
            desk.still_holds(&lease);
        }
        // If the commit fails the lease must lapse again.
        desk.batch.lapsed.push((run, task, lease));
    }
}

/// A lease as it holds on, if the rows say that it does for longer than this engine knew: its worker may send its heartbeats
/// to another engine, and keeps to what it was told there. Rows that cannot be read are asked again a little later.
fn kept_on(desk: &mut Desk, run: RunId, task: TaskIx, lease: &Lease) -> Option<Lease> {
    let Ok(row) = desk.projections.lease(&desk.home.stream(run), task) else {
        return Some(Lease { deadline: Some(desk.now.plus(AGAIN)), heard: false, ..lease.clone() });
    };
    let later = row.filter(|row| row.token == lease.token && row.deadline > desk.now)?.deadline;
    Some(Lease { deadline: Some(later), stored: Some(later), ..lease.clone() })
}
