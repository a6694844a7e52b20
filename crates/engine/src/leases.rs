//! Leases: rows with a deadline. A lease that passes it is ended by the sweep, never by a guess.

use edgewise_core::event::{AttemptRef, TaskIx};
use edgewise_core::id::{RunId, TokenHash};
use edgewise_core::rows::LeaseRow;
use edgewise_core::time::{Millis, Time};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A worker's right to one attempt until a time.
#[derive(Debug, Clone)]
pub(crate) struct Lease {
    pub generation: u16,
    pub attempt: u16,
    pub token: TokenHash,
    pub worker: Arc<str>,
    /// How far a heartbeat moves the deadline; `None` for a worker that ends with this process.
    pub span: Option<Millis>,
    /// Until when without a heartbeat.
    pub deadline: Option<Time>,
    /// Until when at least, by what every engine finds in the ledger or the rows: a worker is told no more.
    pub stored: Option<Time>,
    /// Whether a heartbeat was heard here: what an engine gives on its own account is no news for the rows.
    pub heard: bool,
    /// Until when, heartbeat or not: the attempt's own timeout.
    pub attempt_deadline: Option<Time>,
}

/// What an engine finds of a lease that it did not grant itself.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub worker: Arc<str>,
    /// How far a heartbeat moves the deadline, if the grant was found; the rows do not tell.
    pub span: Option<Millis>,
    pub deadline: Option<Time>,
}

impl From<LeaseRow> for Found {
    fn from(row: LeaseRow) -> Self {
        Self { worker: row.worker.into(), span: None, deadline: row.deadline.known() }
    }
}

/// Why a lease ended without a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lapse {
    WorkerLost,
    Timeout,
}

impl Lease {
    fn due(&self) -> Option<Time> {
        [self.deadline, self.attempt_deadline].into_iter().flatten().min()
    }

    /// The attempt of a task that this is the lease of.
    pub fn attempt_of(&self, task: TaskIx) -> AttemptRef {
        AttemptRef { task, generation: self.generation, attempt: self.attempt, token: self.token }
    }

    /// Its worker lives: the deadline moves, and never back. Gives what the worker may be told.
    pub fn beat(&mut self, now: Time, span: Millis) -> Time {
        let deadline = self.deadline.unwrap_or(now).max(now.plus(span));
        self.deadline = Some(deadline);
        self.heard = true;
        self.stored.map_or(now, |stored| stored.min(deadline))
    }

    /// Until when the rows shall say that it holds.
    pub fn to_store(&self) -> Option<Time> {
        if self.heard { self.deadline } else { self.stored }
    }

    /// Whether the rows are behind what was heard of its worker.
    pub fn is_ahead(&self) -> bool {
        self.to_store() > self.stored
    }

    pub fn lapse(&self, now: Time) -> Option<Lapse> {
        if self.attempt_deadline.is_some_and(|due| due <= now) {
            return Some(Lapse::Timeout);
        }
        self.deadline.is_some_and(|due| due <= now).then_some(Lapse::WorkerLost)
    }
}

#[derive(Default)]
pub(crate) struct Leases {
    live: BTreeMap<(RunId, TaskIx), Lease>,
    due: BTreeSet<(Time, RunId, TaskIx)>,
}

impl Leases {
    pub fn put(&mut self, run: RunId, task: TaskIx, lease: Lease) {
        self.remove(run, task);
        if let Some(due) = lease.due() {
            self.due.insert((due, run, task));
        }
        self.live.insert((run, task), lease);
    }

    pub fn get(&self, run: RunId, task: TaskIx) -> Option<&Lease> {
        self.live.get(&(run, task))
    }

    /// The rows have a deadline now. They know a lease by its attempt and its worker.
    pub fn stored(&mut self, run: RunId, row: &LeaseRow) {
        let Some(lease) = self.live.get_mut(&(run, row.task)) else { return };
        if (lease.generation, lease.attempt, &*lease.worker) == (row.generation, row.attempt, &*row.worker) {
            lease.stored = lease.stored.max(row.deadline.known());
        }
    }

    pub fn remove(&mut self, run: RunId, task: TaskIx) -> Option<Lease> {
        let lease = self.live.remove(&(run, task))?;
        if let Some(due) = lease.due() {
            self.due.remove(&(due, run, task));
        }
        Some(lease)
    }

    /// Forgets all leases of a run; whoever loads it again finds them in its tasks.
    pub fn forget(&mut self, run: RunId) {
        self.retain(run, |_, _| false);
    }

    /// Keeps those leases of a run that are what its tasks say.
    pub fn retain(&mut self, run: RunId, keep: impl Fn(TaskIx, &Lease) -> bool) {
        let all = (run, TaskIx(0))..=(run, TaskIx(u32::MAX));
        let gone: Vec<TaskIx> =
            self.live.range(all).filter(|((_, task), lease)| !keep(*task, lease)).map(|((_, task), _)| *task).collect();
        for task in gone {
            self.remove(run, task);
        }
    }

    /// Tasks of a run whose leases are kept on for longer than the rows say.
    pub fn ahead(&self, run: RunId) -> Vec<TaskIx> {
        let of_run = self.live.range((run, TaskIx(0))..=(run, TaskIx(u32::MAX)));
        of_run.filter(|(_, lease)| lease.is_ahead()).map(|((_, task), _)| *task).collect()
    }

    /// The next lease that is over by `now`.
    pub fn lapsed(&self, now: Time) -> Option<(RunId, TaskIx)> {
        let (due, run, task) = self.due.first()?;
        (*due <= now).then_some((*run, *task))
    }

    /// Whether nobody has one.
    pub fn is_empty(&self) -> bool {
        self.live.is_empty()
    }

    /// When the next one would be over.
    pub fn next_due(&self) -> Option<Time> {
        self.due.first().map(|(due, _, _)| *due)
    }
}
