//! Adoption: what waits in a run that was loaded becomes hints again, and leases that others granted are watched over.

use super::{Desk, LOCAL, offer};
use crate::cached::Cached;
use crate::leases::{Found, Lease};
use crate::queues;
use crate::turns::key_of;
use edgewise_core::Result;
use edgewise_core::event::TaskIx;
use edgewise_core::id::RunId;
use edgewise_core::run::{DISOWNED, Run};
use edgewise_core::state::TaskState;
use edgewise_core::time::{Millis, Time};
use std::collections::BTreeMap;

/// How long a lease of a worker elsewhere holds after a restart, at least.
const GRACE_AFTER_RESTART: Millis = Millis(10_000);
/// What a worker is called that is only known to be at work.
const SOMEBODY: &str = "somebody";

impl Desk {
    /// What the rows say of those leases of a run that this engine does not know, and that the tail does not tell of.
    /// At a recovery all are read at once, later.
    pub(super) fn kept_leases(&mut self, cached: &Cached) -> Result<BTreeMap<TaskIx, Found>> {
        let (run, mut kept) = (&cached.run, BTreeMap::new());
        if self.recovering || run.leased == 0 {
            return Ok(kept);
        }
        for task in run.present() {
            let entry = &run.tasks[task.0 as usize];
            let leased = entry.state == TaskState::InProgress && run.is_leasable(task);
            let known = self.leases.known(run.id, task).is_some_and(|lease| lease.token == entry.token);
            if leased && !known && !cached.tail_leases.contains_key(&task) {
                let row = self.projections.lease(&cached.stream, task)?.filter(|row| row.token == entry.token);
                kept.extend(row.map(|row| (task, row.into())));
            }
        }
        Ok(kept)
    }

    /// Everything that waits in a run becomes a hint again.
    pub(super) fn adopt(&mut self, cached: Cached, kept: BTreeMap<TaskIx, Found>) {
        let run = &cached.run;
        for (key, due) in &run.timers {
            self.timers.insert((*due, run.id, *key));
        }
        if run.is_advancing() {
            self.advancing.insert(run.id);
        }
        if run.state.is_done() {
            self.found_over.push((run.id, run.state));
            self.ticks.ended(run.id);
            // Whoever waits for it may not have been told.
            run.parent.iter().for_each(|parent| self.links.ended(parent.run, parent.link));
        }
        self.links.due.extend(run.waiting_for_children().map(|task| (run.id, task)));
        if !run.disowned.is_empty() {
            self.links.due.insert((run.id, DISOWNED));
        }
        if run.counts[TaskState::Enqueued as usize] > 0 {
            for task in run.present().filter(|task| run.tasks[task.0 as usize].state == TaskState::Enqueued) {
                offer(&mut self.lanes, &mut self.queues, run, task);
            }
        }
        self.adopt_leases(cached, kept);
    }

    /// Keeps a run on the desk, and the leases that others granted on its tasks. What is still to be written of both is.
    pub(super) fn adopt_leases(&mut self, mut cached: Cached, mut kept: BTreeMap<TaskIx, Found>) {
        let run = &cached.run;
        self.end_leases(run.id, Some(run));
        if run.leased > 0 {
            for task in run.present() {
                let entry = &run.tasks[task.0 as usize];
                let leased = entry.state == TaskState::InProgress && run.is_leasable(task);
                if leased && self.leases.get(run.id, task).is_none() {
                    let found = cached.tail_leases.get(&task).cloned().or_else(|| kept.remove(&task));
                    let at = (self.now, self.recovering);
                    let rested = self.leases.wake(run.id, task, entry.token);
                    let mut lease = rested.unwrap_or_else(|| lost_lease(run, task, found, at, &mut self.queues));
                    if self.rowless && lease.stored.is_some() {
                        // What its heartbeats were answered with is lost with the rows. The next engine finds others.
                        lease.deadline = lease.deadline.max(lease.span.map(|span| self.now.plus(span)));
                        lease.heard = true;
                    }
                    self.leases.put(run.id, task, lease);
                }
            }
        }
        self.learn_rates(run);
        let run = run.id;
        // Heartbeats that were to be written with the rows that were forgotten.
        let ahead = self.leases.ahead(run);
        if cached.is_dirty() || !ahead.is_empty() {
            self.dirty.insert(run);
        }
        self.rows_behind += ahead.into_iter().filter(|task| cached.note_lease(*task)).count();
        self.keep(cached);
    }

    /// What this engine knows of leases may be older than the ledger: somebody else ended them, or a commit that was not
    /// seen to land. Their workers are told, and hold their slots until they have stopped, unless it was their own word.
    pub(super) fn end_leases(&mut self, id: RunId, run: Option<&Run>) {
        let entry = |task| run.and_then(|run| run.task(task));
        let lives = |task, lease: &Lease| {
            entry(task).is_some_and(|t| t.state == TaskState::InProgress && t.token == lease.token)
        };
        for (task, lease) in self.leases.retain(id, lives) {
            self.ended_elsewhere.push((id, lease.attempt_of(task)));
            // A worker within this process says everything here, and says again what it was not answered.
            if lease.deadline.is_none() || run.is_some_and(|run| is_cut_off(run, task, &lease)) {
                self.hold(id, task, lease);
            }
        }
    }
}

/// Whether an attempt ended without a word of its worker: by what became of the task, as long as nothing more has.
fn is_cut_off(run: &Run, task: TaskIx, lease: &Lease) -> bool {
    let Some(entry) = run.task(task).filter(|entry| entry.token == lease.token) else { return false };
    let timeout = || run.failure_of(task).is_some_and(|failure| failure.kind == "timeout");
    match entry.state {
        TaskState::Complete => false,
        TaskState::Error | TaskState::WaitingForRetry => timeout(),
        _ => true,
    }
}

/// The lease of an attempt that another engine granted: over at once if the worker lived in one that is gone.
pub(crate) fn lost_lease(
    run: &Run,
    task: TaskIx,
    found: Option<Found>,
    (now, recovering): (Time, bool),
    queues: &mut queues::Open,
) -> Lease {
    let entry = &run.tasks[task.0 as usize];
    let Found { worker, span, deadline: stored } =
        found.unwrap_or_else(|| Found { worker: SOMEBODY.into(), span: None, deadline: None });
    let deadline = if recovering && span.is_none() && worker.starts_with(LOCAL) {
        now
    } else {
        stored.unwrap_or(Time::NEVER).max(now.plus(GRACE_AFTER_RESTART))
    };
    let attempt_deadline = run.spec_of(task).timeouts.attempt.map(|span| entry.started_at.plus(span));
    Lease {
        generation: entry.generation,
        attempt: entry.attempt,
        token: entry.token,
        worker,
        span: span.or(Some(GRACE_AFTER_RESTART)),
        deadline: Some(deadline),
        stored,
        heard: false,
        attempt_deadline,
        queue: queues.number(run.spec_of(task).share.queue.as_deref()),
        key: key_of(run, task),
    }
}
