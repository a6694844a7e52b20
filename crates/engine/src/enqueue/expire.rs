//! Leases that are over: their attempts end as `worker_lost` or `timeout`, decided at the ledger's tail.

use crate::committer::CHORES;
use crate::desk::Desk;
use crate::leases::Lapse;
use edgewise_core::event::{AttemptRef, Event, Failure, TaskFinished};

pub(super) fn expire(desk: &mut Desk) {
    for _ in 0..CHORES {
        let Some((run, task)) = desk.leases.lapsed(desk.now) else { return };
        let Some(lease) = desk.leases.remove(run, task) else { return };
        if desk.open_hinted(run).is_none() {
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
        // If the commit fails the lease must lapse again.
        desk.batch.lapsed.push((run, task, lease));
    }
}
