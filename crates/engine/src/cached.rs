//! A cached run: the folded state, what of it is durable, and what of it is not yet in the rows.

use edgewise_core::event::{DispatchEnqueued, Event, TaskIx, TimerKey};
use edgewise_core::fold::Changes;
use edgewise_core::id::EventId;
use edgewise_core::rows::{LeaseRow, OutboxRow, TimerRow};
use edgewise_core::run::{DISOWNED, Run, WHOLE_RUN};
use edgewise_core::state::TaskState;
use edgewise_core::time::Time;
use edgewise_store::{RunChange, Stream};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::leases::{Found, Leases};

pub(crate) struct Cached {
    pub run: Run,
    pub stream: Stream,
    /// The seq up to which the ledger has it.
    pub durable: u64,
    /// The seq its rows are at, once what is under way is written.
    pub written: u64,
    /// Events folded but not yet appended, and the id of the first.
    pub events: Vec<Event>,
    pub first_id: EventId,
    /// Leases that were found in the ledger's tail: for whoever must decide whether their workers still live.
    pub tail_leases: BTreeMap<TaskIx, Found>,
    /// How many of its tasks are in the desk's count of cached tasks.
    pub counted: u64,
    plan_written: bool,
    /// Iterations that are over and whose rows are being written.
    over: Vec<u32>,
    /// Composites that ended well, since rows were last begun to be written, and before that.
    settled: Vec<TaskIx>,
    settling: Vec<TaskIx>,
    /// Whether what was inside of such composites is only in the rows.
    put_by: bool,
    dirty: Dirty,
    /// Composites whose beginnings are behind.
    given_behind: BTreeSet<TaskIx>,
    /// What the rows have of beginnings, outbox, timers and leases.
    given: BTreeSet<TaskIx>,
    outbox: BTreeSet<TaskIx>,
    timers: BTreeMap<TimerKey, Time>,
    leases: BTreeSet<TaskIx>,
}

/// Tasks whose rows are behind, each once.
#[derive(Default)]
struct Dirty {
    list: Vec<TaskIx>,
    marks: Vec<u64>,
}

impl Dirty {
    /// True if it was not marked.
    fn mark(&mut self, task: TaskIx) -> bool {
        let (word, bit) = (task.0 as usize / 64, 1u64 << (task.0 % 64));
        if self.marks.len() <= word {
            self.marks.resize(word + 1, 0);
        }
        let fresh = self.marks[word] & bit == 0;
        if fresh {
            self.marks[word] |= bit;
            self.list.push(task);
        }
        fresh
    }

    fn has(&self, task: TaskIx) -> bool {
        self.marks.get(task.0 as usize / 64).is_some_and(|word| word & (1u64 << (task.0 % 64)) != 0)
    }

    fn take(&mut self) -> Vec<TaskIx> {
        for task in &self.list {
            self.marks[task.0 as usize / 64] &= !(1u64 << (task.0 % 64));
        }
        std::mem::take(&mut self.list)
    }
}

impl Cached {
    /// A run that has no rows yet.
    pub fn new(run: Run, stream: Stream) -> Self {
        Self {
            run,
            stream,
            durable: 0,
            written: 0,
            events: Vec::new(),
            first_id: EventId(0),
            tail_leases: BTreeMap::new(),
            counted: 0,
            plan_written: false,
            over: Vec::new(),
            settled: Vec::new(),
            settling: Vec::new(),
            put_by: false,
            dirty: Dirty::default(),
            given_behind: BTreeSet::new(),
            given: BTreeSet::new(),
            outbox: BTreeSet::new(),
            timers: BTreeMap::new(),
            leases: BTreeSet::new(),
        }
    }

    /// A run just as its rows say it is.
    pub fn from_rows(run: Run, stream: Stream) -> Self {
        let mut cached = Self::new(run, stream);
        let run = &cached.run;
        cached.durable = run.seq;
        cached.written = run.seq;
        cached.plan_written = true;
        cached.timers.clone_from(&run.timers);
        cached.settled = run.composites.keys().copied().filter(|task| run.is_settled(*task)).collect();
        cached.given = run.present().chain([WHOLE_RUN]).filter(|task| run.has_given_row(*task)).collect();
        for task in run.present() {
            match run.tasks[task.0 as usize].state {
                TaskState::Enqueued => cached.outbox.insert(task),
                TaskState::InProgress if run.is_leasable(task) => cached.leases.insert(task),
                TaskState::InProgress if run.awaited(task).is_some() => cached.outbox.insert(task),
                _ => false,
            };
        }
        cached.outbox.extend(run.advancing.iter().copied());
        cached.outbox.extend(run.stall_row().map(|row| row.task));
        cached.outbox.extend(run.disowned_row().map(|row| row.task));
        cached
    }

    /// Remembers what a fold has changed; gives the number of rows that are behind only since.
    pub fn note(&mut self, changes: &Changes) -> usize {
        self.given_behind.extend(&changes.given);
        let done = changes.moves.iter().filter(|step| step.to == TaskState::Complete).map(|step| step.task);
        self.settled.extend(done.filter(|task| self.run.is_settled(*task)));
        let tasks = changes.moves.iter().map(|step| step.task).chain(changes.touched.iter().copied());
        tasks.map(|task| usize::from(self.dirty.mark(task))).sum()
    }

    /// Remembers that a task's lease moved; true if its rows are behind only since.
    pub fn note_lease(&mut self, task: TaskIx) -> bool {
        self.dirty.mark(task)
    }

    /// Remembers a lease that was granted in the ledger's tail.
    pub fn note_grant(&mut self, event: &DispatchEnqueued, at: Time) {
        let deadline = event.lease.map(|span| at.plus(span));
        self.tail_leases.insert(event.task, Found { worker: Arc::from(&*event.worker), span: event.lease, deadline });
    }

    /// Whether its rows are behind what is durable.
    pub fn is_dirty(&self) -> bool {
        self.written < self.run.seq
    }

    /// Whether all that a run in memory should have is there: nothing was put by.
    pub fn is_whole(&self) -> bool {
        !self.put_by
    }

    /// How many task rows are behind.
    pub fn dirty_tasks(&self) -> usize {
        self.dirty.list.len()
    }

    /// What must be written for the rows to catch up. Only called when everything folded is durable.
    pub fn change(&mut self, leases: &Leases) -> Option<RunChange> {
        debug_assert!(self.events.is_empty() && self.durable == self.run.seq, "rows of what is not durable");
        let run = self.run.row()?;
        let from_seq = std::mem::replace(&mut self.written, self.run.seq);
        let plan = (!std::mem::replace(&mut self.plan_written, true)).then(|| Arc::clone(&self.run.plan));
        let mut change = RunChange {
            stream: self.stream.clone(),
            from_seq,
            run,
            plan,
            tasks: Vec::new(),
            given: Vec::new(),
            given_gone: Vec::new(),
            timers: Vec::new(),
            timers_gone: Vec::new(),
            outbox: Vec::new(),
            outbox_gone: Vec::new(),
            leases: Vec::new(),
            leases_gone: Vec::new(),
        };
        let dirty = self.dirty.take();
        change.tasks.reserve(dirty.len());
        for task in dirty {
            change.tasks.push(self.run.task_row(task));
            self.change_outbox(task, &mut change);
            self.change_timers(task, &mut change);
            self.change_lease(task, leases, &mut change);
        }
        self.change_given(&mut change);
        self.change_whole(WHOLE_RUN, self.run.stall_row(), &mut change);
        self.change_whole(DISOWNED, self.run.disowned_row(), &mut change);
        self.over.append(&mut self.run.over);
        self.settling.append(&mut self.settled);
        Some(change)
    }

    /// The rows are written: what is over in loops takes no more memory, and neither does what rests, nor the room for
    /// the next events.
    pub fn rows_written(&mut self) {
        if self.events.is_empty() {
            self.events = Vec::new();
        }
        if self.over.is_empty() && self.settling.is_empty() {
            return;
        }
        self.run.release(std::mem::take(&mut self.over));
        for task in std::mem::take(&mut self.settling) {
            // What was opened again meanwhile has rows that are behind.
            if self.run.is_settled(task) && !self.dirty.has(task) {
                self.put_by |= self.run.put_by(task);
            }
        }
        self.given.retain(|task| *task == WHOLE_RUN || self.run.task(*task).is_some());
    }

    /// What composites began with is written once, however often their rows are.
    fn change_given(&mut self, change: &mut RunChange) {
        for task in std::mem::take(&mut self.given_behind) {
            match self.run.given_row(task) {
                Some(row) => {
                    self.given.insert(task);
                    change.given.push(row);
                }
                None if self.given.remove(&task) => change.given_gone.push(task),
                None => {}
            }
        }
    }

    /// A row of the outbox that is about the whole run.
    fn change_whole(&mut self, what: TaskIx, row: Option<OutboxRow>, change: &mut RunChange) {
        match row {
            Some(row) if self.outbox.insert(row.task) => change.outbox.push(row),
            None if self.outbox.remove(&what) => change.outbox_gone.push(what),
            _ => {}
        }
    }

    fn change_outbox(&mut self, task: TaskIx, change: &mut RunChange) {
        match self.run.outbox_row(task) {
            Some(row) => {
                self.outbox.insert(task);
                change.outbox.push(row);
            }
            None if self.outbox.remove(&task) => change.outbox_gone.push(task),
            None => {}
        }
    }

    fn change_timers(&mut self, task: TaskIx, change: &mut RunChange) {
        if self.timers.is_empty() && self.run.timers.is_empty() {
            return;
        }
        let gone: Vec<TimerKey> = self
            .timers
            .range(TimerKey::all_of(task))
            .map(|(k, _)| *k)
            .filter(|k| !self.run.timers.contains_key(k))
            .collect();
        for key in gone {
            self.timers.remove(&key);
            change.timers_gone.push(key);
        }
        for (key, due) in self.run.timers.range(TimerKey::all_of(task)) {
            // A timer that was taken away and set anew between two flushes is due at another instant.
            if self.timers.insert(*key, *due) != Some(*due) {
                change.timers.push(TimerRow { key: *key, due: *due });
            }
        }
    }

    fn change_lease(&mut self, task: TaskIx, leases: &Leases, change: &mut RunChange) {
        let entry = &self.run.tasks[task.0 as usize];
        let live = (entry.state == TaskState::InProgress).then(|| leases.known(self.run.id, task)).flatten();
        match live {
            Some(lease) => {
                self.leases.insert(task);
                change.leases.push(LeaseRow {
                    task,
                    generation: entry.generation,
                    attempt: entry.attempt,
                    token: lease.token,
                    worker: lease.worker.to_string(),
                    deadline: lease.to_store().unwrap_or(Time::NEVER),
                    span: lease.span,
                    queue: self.run.spec_of(task).share.queue.clone(),
                    key: lease.key.as_deref().map(str::to_owned),
                });
            }
            None if self.leases.remove(&task) => change.leases_gone.push(task),
            None => {}
        }
    }
}
