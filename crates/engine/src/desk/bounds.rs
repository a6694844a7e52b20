//! Bounds: which ready task may begin now. Queues with slots and rates, keys with limits.
//!
//! What holds a slot is counted from leases, with what this very batch gives and takes: a finish and the grant that
//! follows it are one commit, so a slot is never empty in between and never held twice. What other engines granted
//! is read before anything bounded is, and the append says up to where it was read.

use super::Desk;
use crate::committer::AGAIN;
use crate::lanes::{Lanes, Match, Offer, Waiting};
use crate::leases::Lease;
use crate::queues::{self, QueueNo};
use crate::turns::{Bound, key_of};
use edgewise_core::event::{AttemptRef, TaskIx};
use edgewise_core::id::RunId;
use edgewise_core::plan::Spec;
use edgewise_core::rows::Turn;
use edgewise_core::run::Run;
use edgewise_core::time::Time;
use edgewise_store::quick::QuickMap;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a batch gives to and takes from queues and keys.
#[derive(Default)]
pub(crate) struct Given {
    queues: BTreeMap<QueueNo, i64>,
    keys: QuickMap<Arc<str>, i64>,
    /// Whether something was granted that others must not have granted at the same time.
    pub bounded: bool,
}

impl Given {
    fn add(&mut self, queue: QueueNo, key: Option<&Arc<str>>, count: i64) {
        *self.queues.entry(queue).or_default() += count;
        if let Some(key) = key {
            *self.keys.entry(Arc::clone(key)).or_default() += count;
        }
    }
}

/// Whether an attempt may begin.
enum Admits {
    Now,
    /// When somebody with its key leaves.
    WhenFree,
    At(Time),
}

impl Desk {
    /// Looks at what other engines wrote, if something here is bounded. Without that nothing bounded begins.
    pub fn look_around(&mut self, patient: bool) {
        let bounded = self.lanes.bounded || self.queues.any_bounded();
        self.blind = bounded && (!patient || self.catch_up().is_err());
        if bounded {
            self.load_forgotten();
        }
    }

    /// Whether others may have granted what is not counted here: it was not looked for, or a run could not be read.
    fn is_blind(&self) -> bool {
        self.blind || !self.unloaded.is_empty()
    }

    /// Whoever was set aside under a key that somebody left may try again.
    pub fn rouse_freed(&mut self) {
        for key in self.leases.freed() {
            self.lanes.rouse(&key, 1);
        }
    }

    /// A worker is not at work on an attempt any more, or never was. It may be revoked by this very commit, before or
    /// after this is said: then it is not waited for.
    pub fn has_stopped(&mut self, run: RunId, attempt: &AttemptRef) {
        self.leases.acknowledge(run, attempt.task, attempt.token);
        self.batch.stopped.push((run, attempt.task, attempt.token));
    }

    /// The next ready task that may begin and that somebody waits for. What may not is set aside.
    pub fn next_match(&mut self) -> Option<Match> {
        self.rouse_freed();
        self.queues.keep_up(self.now);
        loop {
            let blind = self.is_blind();
            let Self { lanes, queues, leases, batch, now, .. } = self;
            let found = lanes.next(|queue| {
                let held = in_queue(leases.in_queue(queue), &batch.given, queue);
                queues.admits(queue, held, *now) && !(blind && queues.is_bounded(queue))
            })?;
            self.counts.looks += 1;
            let Some(bound) = found.waiting.bound.clone() else { return Some(found) };
            match self.admits(&bound) {
                Admits::Now => return Some(found),
                Admits::WhenFree => self.lanes.set_aside(found),
                Admits::At(at) => {
                    self.rates.wake_at(&bound.key, at);
                    self.lanes.set_aside(found);
                }
            }
        }
    }

    fn admits(&mut self, bound: &Bound) -> Admits {
        if self.is_blind() {
            return Admits::At(self.now.plus(AGAIN));
        }
        if bound.max.is_some_and(|max| self.holding(&bound.key) >= max) {
            return Admits::WhenFree;
        }
        let opens = bound.rate.map(|rate| self.rates.opens(&bound.key, rate, self.now));
        opens.filter(|opens| *opens > self.now).map_or(Admits::Now, Admits::At)
    }

    /// How many attempts with a key are at work, with what this batch gives and takes.
    fn holding(&self, key: &str) -> u32 {
        let given = self.batch.given.keys.get(key).copied().unwrap_or_default();
        (i64::from(self.leases.with_key(key)) + given).max(0) as u32
    }

    /// A task was granted that `next_match` gave.
    pub fn begun(&mut self, queue: QueueNo, bound: Option<&Bound>) {
        let Self { batch, queues, now, .. } = self;
        batch.given.add(queue, bound.map(|bound| &bound.key), 1);
        batch.given.bounded |= bound.is_some() || queues.is_bounded(queue);
        queues.begin(queue, *now);
        let Some(bound) = bound else { return };
        let opens = bound.rate.map(|rate| {
            self.rates.begin(&bound.key, rate, self.now);
            self.rates.opens(&bound.key, rate, self.now)
        });
        let full = bound.max.is_some_and(|max| self.holding(&bound.key) >= max);
        if full || !self.lanes.is_aside(&bound.key) {
            return;
        }
        // One wakes the next: all may have been set aside while nobody could say who holds the key.
        match opens.filter(|opens| *opens > self.now) {
            Some(opens) => self.rates.wake_at(&bound.key, opens),
            None => self.lanes.rouse(&bound.key, 1),
        }
    }

    /// A task that `next_match` gave was offered once more meanwhile.
    pub fn taken(&mut self, found: &Match) {
        self.lanes.take(found.lane, found.waiting.offer);
    }

    /// A task that `next_match` gave came to nothing: another one with its key may try.
    pub fn passed_on(&mut self, bound: Option<&Bound>) {
        if let Some(bound) = bound {
            self.lanes.rouse(&bound.key, 1);
        }
    }

    /// A lease is over in this batch: its slots may be given away in it.
    pub(super) fn gives_back(&mut self, run: RunId, task: TaskIx) {
        let Some(Lease { queue, key, .. }) = self.leases.get(run, task) else { return };
        self.batch.given.add(*queue, key.as_ref(), -1);
        if let Some(key) = key {
            self.lanes.rouse(key, 1);
        }
    }

    /// A worker that is told to stop holds its slots until it says that it has. Where nothing is bounded nobody asks.
    pub fn hold(&mut self, run: RunId, task: TaskIx, lease: Lease) {
        if lease.key.is_some() || self.queues.is_bounded(lease.queue) {
            self.leases.hold(run, task, lease);
        }
    }

    /// A lease was taken out, but its worker may still be at work: its slots are not free.
    pub fn still_holds(&mut self, lease: &Lease) {
        self.batch.given.add(lease.queue, lease.key.as_ref(), 1);
    }

    /// Keys whose rate lets another attempt begin.
    pub fn open_keys(&mut self) {
        while let Some(key) = self.rates.next(self.now) {
            self.lanes.rouse(&key, 1);
        }
    }

    /// The batch never happened: what was set aside because of it may try again.
    pub fn undo_given(&mut self, given: &Given) {
        for (key, count) in &given.keys {
            self.lanes.rouse(key, count.unsigned_abs().max(1) as u32);
        }
    }

    /// Whoever was set aside and could begin is woken again: nobody should be found, but looking is cheap.
    pub fn rouse_forgotten(&mut self) {
        for key in self.lanes.keys_aside() {
            self.lanes.rouse(&key, 1);
        }
    }

    /// Whether any task and any claim could meet.
    pub fn could_match(&self) -> bool {
        self.lanes.busy_queues().any(|queue| {
            let held = in_queue(self.leases.in_queue(queue), &self.batch.given, queue);
            self.queues.admits(queue, held, self.now) && !(self.is_blind() && self.queues.is_bounded(queue))
        })
    }

    /// When a queue or a key opens that somebody waits for.
    pub fn next_opening(&self) -> Option<Time> {
        let opens = |queue| match self.is_blind() && self.queues.is_bounded(queue) {
            true => Some(self.now.plus(AGAIN)),
            false => self.queues.opens(queue, self.leases.in_queue(queue), self.now),
        };
        self.lanes.busy_queues().filter_map(opens).chain(self.rates.next_due()).min()
    }

    /// What the attempts of a run say about rates: an engine that comes after another one has nothing else to go by.
    pub(super) fn learn_rates(&mut self, run: &Run) {
        let unrated = |spec: &Spec| spec.share.limit.as_ref().is_none_or(|limit| limit.rate.is_none());
        if !self.queues.any_bounded() && run.plan.specs.iter().all(unrated) {
            return;
        }
        for task in run.present().filter(|task| run.is_leasable(*task)) {
            let began = run.tasks[task.0 as usize].started_at.known();
            if let Some(at) = began {
                let queue = self.queues.number(run.spec_of(task).share.queue.as_deref());
                self.queues.began(queue, at);
            }
            let rate = run.spec_of(task).share.limit.as_ref().and_then(|limit| limit.rate);
            if let (Some(at), Some(rate)) = (began, rate)
                && let Some(key) = key_of(run, task)
            {
                self.rates.began(&key, rate, at);
            }
        }
    }
}

fn in_queue(held: u32, given: &Given, queue: QueueNo) -> u32 {
    let given = given.queues.get(&queue).copied().unwrap_or_default();
    (i64::from(held) + given).max(0) as u32
}

/// A hint that a task waits for a worker.
pub(crate) fn offer(lanes: &mut Lanes, queues: &mut queues::Open, run: &Run, task: TaskIx) {
    let entry = &run.tasks[task.0 as usize];
    let Some(action) = run.action_of(task) else { return };
    let offer = Offer { run: run.id, task, generation: entry.generation, attempt: entry.attempt + 1 };
    let share = &run.spec_of(task).share;
    if share.queue.is_none() && share.limit.is_none() {
        lanes.offer(action, QueueNo::DEFAULT, Waiting { offer, priority: share.priority, bound: None });
    } else {
        offer_turn(lanes, queues, action, offer, &run.turn(task));
    }
}

/// The same, of a task whose run is not at hand.
pub(crate) fn offer_turn(lanes: &mut Lanes, queues: &mut queues::Open, action: &str, offer: Offer, turn: &Turn) {
    let bound = Bound::of(turn).map(|bound| lanes.shared(bound));
    let queue = queues.number(turn.queue.as_deref());
    lanes.offer(action, queue, Waiting { offer, priority: turn.priority, bound });
}

/// A task waits no longer, but was not taken either.
pub(super) fn withdraw(lanes: &mut Lanes, queues: &mut queues::Open, run: &Run, task: TaskIx) {
    let Some(action) = run.action_of(task) else { return };
    let offer = Offer { run: run.id, task, generation: 0, attempt: 0 };
    let turn = run.turn(task);
    let queue = queues.number(turn.queue.as_deref());
    lanes.withdraw(action, queue, Bound::of(&turn).as_ref(), offer);
}
