//! Leases: rows with a deadline. A lease that passes it is ended by the sweep, never by a guess.

use crate::queues::QueueNo;
use edgewise_core::event::{AttemptRef, TaskIx};
use edgewise_core::id::{RunId, TokenHash};
use edgewise_core::rows::LeaseRow;
use edgewise_core::time::{Millis, Time};
use edgewise_store::quick::QuickMap;
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
    /// Whose slot it holds.
    pub queue: QueueNo,
    /// The key of its limit, if it has one.
    pub key: Option<Arc<str>>,
}

/// What an engine finds of a lease that it did not grant itself.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub worker: Arc<str>,
    /// How far a heartbeat moves the deadline, if it is known.
    pub span: Option<Millis>,
    pub deadline: Option<Time>,
}

impl From<LeaseRow> for Found {
    fn from(row: LeaseRow) -> Self {
        Self { worker: row.worker.into(), span: row.span, deadline: row.deadline.known() }
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

    /// Its worker lives: the deadline moves, and never behind what others know. Gives what the worker may be told.
    pub fn beat(&mut self, now: Time, span: Millis) -> Time {
        // What this engine gave on its own account ends when the worker is heard.
        let deadline = self.to_store().unwrap_or(now).max(now.plus(span));
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

/// Leases, and who holds what.
///
/// A limit is counted from leases and from nothing else, so it cannot leak: the counts are an index of what is here.
/// A lease that was revoked holds its slots until its worker has said that it stopped, or until it would have been
/// over anyway: until then the worker may still be at work.
#[derive(Default)]
pub(crate) struct Leases {
    live: BTreeMap<(RunId, TaskIx), Lease>,
    due: BTreeSet<(Time, RunId, TaskIx)>,
    revoked: BTreeMap<(RunId, TaskIx, TokenHash), Lease>,
    revoked_due: BTreeSet<(Time, (RunId, TaskIx, TokenHash))>,
    /// Leases of frozen runs that are over. If such a run goes on they are what they were: a clock may have gone back.
    resting: BTreeMap<(RunId, TaskIx), Lease>,
    by_worker: QuickMap<Arc<str>, usize>,
    by_queue: Vec<u32>,
    by_key: QuickMap<Arc<str>, u32>,
    /// Keys that somebody left since this was last asked.
    freed: Vec<Arc<str>>,
}

impl Leases {
    pub fn put(&mut self, run: RunId, task: TaskIx, lease: Lease) {
        self.take(run, task);
        if let Some(due) = lease.due() {
            self.due.insert((due, run, task));
        }
        self.count(&lease);
        *self.by_worker.entry(Arc::clone(&lease.worker)).or_default() += 1;
        self.live.insert((run, task), lease);
    }

    pub fn len(&self) -> usize {
        self.live.len()
    }

    /// How many a worker has.
    pub fn of_worker(&self, worker: &str) -> usize {
        self.by_worker.get(worker).copied().unwrap_or_default()
    }

    pub fn get(&self, run: RunId, task: TaskIx) -> Option<&Lease> {
        self.live.get(&(run, task))
    }

    /// The lease of an attempt, also if it rests: what rows have of it.
    pub fn known(&self, run: RunId, task: TaskIx) -> Option<&Lease> {
        self.get(run, task).or_else(|| self.resting.get(&(run, task)))
    }

    /// A lease of a frozen run is over, and nobody can say so now. Whoever is only too slow may be at work until the lease
    /// itself is over.
    pub fn rest(&mut self, run: RunId, task: TaskIx, lease: Lease, lapse: Lapse) {
        if lapse == Lapse::Timeout {
            self.hold(run, task, lease.clone());
        }
        self.resting.insert((run, task), lease);
    }

    /// The lease of an attempt that rested while its run was frozen.
    pub fn wake(&mut self, run: RunId, task: TaskIx, token: TokenHash) -> Option<Lease> {
        let lease = self.resting.remove(&(run, task)).filter(|lease| lease.token == token)?;
        self.acknowledge(run, task, token);
        Some(lease)
    }

    /// The rows have a deadline now.
    pub fn stored(&mut self, run: RunId, row: &LeaseRow) {
        let lease = self.live.get_mut(&(run, row.task)).filter(|lease| lease.token == row.token);
        if let Some(lease) = lease {
            lease.stored = lease.stored.max(row.deadline.known());
        }
    }

    pub fn remove(&mut self, run: RunId, task: TaskIx) -> Option<Lease> {
        let lease = self.take(run, task)?;
        self.freed.extend(lease.key.clone());
        Some(lease)
    }

    /// The same where the slot was given away already, or is taken again at once.
    pub fn take(&mut self, run: RunId, task: TaskIx) -> Option<Lease> {
        let lease = self.live.remove(&(run, task))?;
        if let Some(due) = lease.due() {
            self.due.remove(&(due, run, task));
        }
        self.uncount(&lease);
        if let Some(count) = self.by_worker.get_mut(&lease.worker) {
            *count -= 1;
            if *count == 0 {
                self.by_worker.remove(&lease.worker);
            }
        }
        Some(lease)
    }

    /// Keeps the slots of a lease that was taken from its worker until the worker says that it has stopped.
    pub fn hold(&mut self, run: RunId, task: TaskIx, lease: Lease) {
        let at = (run, task, lease.token);
        if self.revoked.contains_key(&at) {
            return;
        }
        self.count(&lease);
        self.revoked_due.extend(lease.deadline.map(|due| (due, at)));
        self.revoked.insert(at, lease);
    }

    /// The worker of a revoked lease has stopped.
    pub fn acknowledge(&mut self, run: RunId, task: TaskIx, token: TokenHash) {
        let at = (run, task, token);
        let Some(lease) = self.revoked.remove(&at) else { return };
        if let Some(due) = lease.deadline {
            self.revoked_due.remove(&(due, at));
        }
        self.uncount(&lease);
        self.freed.extend(lease.key);
    }

    /// Revoked leases that would be over by now hold nothing any more.
    pub fn let_go(&mut self, now: Time) {
        while let Some((due, (run, task, token))) = self.revoked_due.first().copied().filter(|(due, _)| *due <= now) {
            self.acknowledge(run, task, token);
            self.revoked_due.remove(&(due, (run, task, token)));
        }
    }

    /// How many leases hold a slot of a queue.
    pub fn in_queue(&self, queue: QueueNo) -> u32 {
        self.by_queue.get(queue.0 as usize).copied().unwrap_or_default()
    }

    /// How many leases hold a key.
    pub fn with_key(&self, key: &str) -> u32 {
        self.by_key.get(key).copied().unwrap_or_default()
    }

    /// Keys that somebody left since this was last asked.
    pub fn freed(&mut self) -> Vec<Arc<str>> {
        std::mem::take(&mut self.freed)
    }

    fn count(&mut self, lease: &Lease) {
        let queue = lease.queue.0 as usize;
        if self.by_queue.len() <= queue {
            self.by_queue.resize(queue + 1, 0);
        }
        self.by_queue[queue] += 1;
        if let Some(key) = &lease.key {
            *self.by_key.entry(Arc::clone(key)).or_default() += 1;
        }
    }

    fn uncount(&mut self, lease: &Lease) {
        self.by_queue[lease.queue.0 as usize] -= 1;
        let Some(key) = &lease.key else { return };
        if let Some(count) = self.by_key.get_mut(key) {
            *count -= 1;
            if *count == 0 {
                self.by_key.remove(key);
            }
        }
    }

    /// The worker of a lease that nobody may end now has stopped. A lease with a deadline holds as its worker was told:
    /// it may say the same again in time. Gives what is not kept any more.
    pub fn leave(&mut self, run: RunId, task: TaskIx, token: TokenHash) -> Option<Lease> {
        self.get(run, task).filter(|lease| lease.token == token && lease.deadline.is_none())?;
        self.remove(run, task)
    }

    /// Keeps those leases of a run that are what its tasks say; gives the others.
    pub fn retain(&mut self, run: RunId, keep: impl Fn(TaskIx, &Lease) -> bool) -> Vec<(TaskIx, Lease)> {
        let all = (run, TaskIx(0))..=(run, TaskIx(u32::MAX));
        let over = self.live.range(all).filter(|((_, task), lease)| !keep(*task, lease));
        let over: Vec<TaskIx> = over.map(|((_, task), _)| *task).collect();
        let all = (run, TaskIx(0))..=(run, TaskIx(u32::MAX));
        self.resting.extract_if(all, |(_, task), lease| !keep(*task, lease)).for_each(drop);
        over.into_iter().filter_map(|task| Some((task, self.remove(run, task)?))).collect()
    }

    /// Tasks of a run whose leases are kept on for longer than the rows say.
    pub fn ahead(&self, run: RunId) -> Vec<TaskIx> {
        let of_run = self.live.range((run, TaskIx(0))..=(run, TaskIx(u32::MAX)));
        of_run.filter(|(_, lease)| lease.is_ahead()).map(|((_, task), _)| *task).collect()
    }

    /// The leases that are over by `now`.
    pub fn lapsed(&self, now: Time) -> impl Iterator<Item = (RunId, TaskIx)> + '_ {
        self.due.iter().take_while(move |(due, ..)| *due <= now).map(|(_, run, task)| (*run, *task))
    }

    /// Whether nobody has one.
    pub fn is_empty(&self) -> bool {
        self.live.is_empty()
    }

    /// When the next one would be over.
    pub fn next_due(&self) -> Option<Time> {
        let live = self.due.first().map(|(due, _, _)| *due);
        self.revoked_due.first().map(|(due, _)| *due).into_iter().chain(live).min()
    }
}
