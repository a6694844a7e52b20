//! The projections in memory.

use super::Shared;
use super::work::WorkEntry;
use crate::ledger::{Position, Stream};
use crate::projections::{ControlChange, Flush, ItemOrder, Projections, RunChange, RunFilter, RunRows};
use edgewise_core::Result;
use edgewise_core::control::{ControlRow, ControlRows, Key};
use edgewise_core::event::{TaskIx, TimerKey};
use edgewise_core::id::{EventId, PlanHash, RunId};
use edgewise_core::rows::{GivenRow, LeaseRow, OutboxRow, RunRow, TaskRow, TimerRow};
use edgewise_core::time::Time;
use edgewise_core::work::part::Drawer;
use edgewise_core::work::{ItemId, ItemRow, Note, WorkRows};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Projections in memory; clones are handles on the same ones.
#[derive(Debug, Clone, Default)]
pub struct MemoryProjections(Shared<State>);

#[derive(Debug, Clone, Default)]
struct State {
    runs: BTreeMap<Stream, Entry>,
    control: BTreeMap<Stream, ControlEntry>,
    work: BTreeMap<Stream, WorkEntry>,
    plans: BTreeSet<PlanHash>,
    watermark: Position,
}

#[derive(Debug, Clone, Default)]
struct ControlEntry {
    applied_seq: u64,
    version: EventId,
    rows: BTreeMap<Key, ControlRow>,
}

impl ControlEntry {
    fn apply(&mut self, change: &ControlChange) {
        (self.applied_seq, self.version) = (change.applied_seq, change.version);
        for key in &change.gone {
            self.rows.remove(key);
        }
        self.rows.extend(change.rows.iter().map(|row| (row.key.clone(), row.clone())));
    }
}

#[derive(Debug, Clone)]
struct Entry {
    run: RunRow,
    tasks: BTreeMap<TaskIx, TaskRow>,
    given: BTreeMap<TaskIx, GivenRow>,
    timers: BTreeMap<TimerKey, TimerRow>,
    outbox: BTreeMap<TaskIx, OutboxRow>,
    leases: BTreeMap<TaskIx, LeaseRow>,
}

impl Entry {
    fn new(run: RunRow) -> Self {
        let (tasks, given, timers, outbox, leases) = Default::default();
        Self { run, tasks, given, timers, outbox, leases }
    }

    /// The deadline of one lease only moves later.
    fn lease(&mut self, row: &LeaseRow) {
        let mut row = row.clone();
        let same = self.leases.get(&row.task).filter(|old| old.token == row.token);
        row.deadline = same.map_or(row.deadline, |old| old.deadline.max(row.deadline));
        self.leases.insert(row.task, row);
    }

    /// What goes away goes first: a task may leave the outbox and come back within one change.
    fn apply(&mut self, change: &RunChange) {
        self.run = change.run.clone();
        for task in &change.given_gone {
            self.given.remove(task);
        }
        for key in &change.timers_gone {
            self.timers.remove(key);
        }
        for task in &change.outbox_gone {
            self.outbox.remove(task);
        }
        for task in &change.leases_gone {
            self.leases.remove(task);
        }
        self.tasks.extend(change.tasks.iter().map(|row| (row.task, row.clone())));
        self.given.extend(change.given.iter().map(|row| (row.task, row.clone())));
        self.timers.extend(change.timers.iter().map(|row| (row.key, *row)));
        self.outbox.extend(change.outbox.iter().map(|row| (row.task, row.clone())));
        change.leases.iter().for_each(|row| self.lease(row));
    }
}

impl State {
    /// Whether all of a flush fits, so that applying it cannot stop halfway.
    fn check(&self, flush: &Flush) -> Result<()> {
        let mut at = BTreeMap::new();
        for change in &flush.runs {
            change.check()?;
            let stored = || self.runs.get(&change.stream).map_or(0, |entry| entry.run.applied_seq);
            let found = at.get(&change.stream).copied().unwrap_or_else(stored);
            if found != change.from_seq {
                return Err(change.moved(found));
            }
            at.insert(&change.stream, change.run.applied_seq);
        }
        if let Some(change) = &flush.control {
            change.check()?;
            let found = self.control.get(&change.stream).map_or(0, |entry| entry.applied_seq);
            if found != change.from_seq {
                return Err(change.moved(found));
            }
        }
        if let Some(change) = &flush.work {
            change.check()?;
            let found = self.work.get(&change.stream).map_or(0, |entry| entry.applied_seq);
            if found != change.from_seq {
                return Err(change.moved(found));
            }
        }
        Ok(())
    }

    fn apply(&mut self, change: &RunChange) {
        self.runs.entry(change.stream.clone()).or_insert_with(|| Entry::new(change.run.clone())).apply(change);
        if change.plan.is_some() {
            self.plans.insert(change.run.plan);
        }
    }

    fn each<T: Clone>(&self, rows: impl Fn(&Entry) -> Vec<T>) -> Vec<(Stream, T)> {
        let of = |(stream, entry): (&Stream, &Entry)| {
            rows(entry).into_iter().map(|row| (stream.clone(), row)).collect::<Vec<_>>()
        };
        self.runs.iter().flat_map(of).collect()
    }
}

impl Projections for MemoryProjections {
    fn flush(&mut self, flush: &Flush) -> Result<()> {
        let mut state = self.0.lock();
        state.check(flush)?;
        flush.runs.iter().for_each(|change| state.apply(change));
        flush.gone.iter().for_each(|stream| drop(state.runs.remove(stream)));
        if let Some(change) = &flush.control {
            state.control.entry(change.stream.clone()).or_default().apply(change);
        }
        if let Some(change) = &flush.work {
            state.work.entry(change.stream.clone()).or_default().apply(change);
        }
        state.watermark = state.watermark.max(flush.watermark);
        Ok(())
    }

    fn load(&mut self, stream: &Stream) -> Result<Option<RunRows>> {
        let state = self.0.lock();
        let rows = |e: &Entry| RunRows {
            run: e.run.clone(),
            tasks: e.tasks.values().cloned().collect(),
            given: e.given.values().cloned().collect(),
        };
        Ok(state.runs.get(stream).map(rows))
    }

    fn task(&mut self, stream: &Stream, task: TaskIx) -> Result<Option<TaskRow>> {
        Ok(self.0.lock().runs.get(stream).and_then(|entry| entry.tasks.get(&task).cloned()))
    }

    fn watermark(&mut self) -> Result<Position> {
        Ok(self.0.lock().watermark)
    }

    fn runs(&mut self, filter: &RunFilter) -> Result<Vec<(Stream, RunRow)>> {
        let state = self.0.lock();
        let mut found: Vec<(Stream, RunRow)> = state
            .runs
            .iter()
            .filter(|(_, e)| filter.matches(&e.run))
            .map(|(s, e)| (s.clone(), e.run.clone()))
            .collect();
        found.sort_by(|(s, a), (t, b)| {
            let place = |run: &RunRow, stream: &Stream| {
                Reverse((run.triggered_at, run.id, stream.tenant.clone(), stream.workspace.clone()))
            };
            place(a, s).cmp(&place(b, t))
        });
        found.truncate(filter.limit);
        Ok(found)
    }

    fn outbox(&mut self) -> Result<Vec<(Stream, OutboxRow)>> {
        let mut rows = self.0.lock().each(|entry| entry.outbox.values().cloned().collect());
        rows.sort_by_key(|(_, row)| row.ready_at);
        Ok(rows)
    }

    fn timers(&mut self) -> Result<Vec<(Stream, TimerRow)>> {
        let mut rows = self.0.lock().each(|entry| entry.timers.values().copied().collect());
        rows.sort_by_key(|(_, row)| row.due);
        Ok(rows)
    }

    fn leases(&mut self) -> Result<Vec<(Stream, LeaseRow)>> {
        Ok(self.0.lock().each(|entry| entry.leases.values().cloned().collect()))
    }

    fn lease(&mut self, stream: &Stream, task: TaskIx) -> Result<Option<LeaseRow>> {
        Ok(self.0.lock().runs.get(stream).and_then(|entry| entry.leases.get(&task).cloned()))
    }

    fn control(&mut self, stream: &Stream) -> Result<Option<ControlRows>> {
        let state = self.0.lock();
        let rows = |e: &ControlEntry| e.rows.values().cloned().collect();
        let all = |e: &ControlEntry| ControlRows { applied_seq: e.applied_seq, version: e.version, rows: rows(e) };
        Ok(state.control.get(stream).map(all))
    }

    fn work(&mut self, stream: &Stream) -> Result<Option<WorkRows>> {
        Ok(self.0.lock().work.get(stream).map(WorkEntry::rows))
    }

    fn work_head(&mut self, stream: &Stream) -> Result<u64> {
        Ok(self.0.lock().work.get(stream).map_or(0, |entry| entry.applied_seq))
    }

    fn work_due(&mut self, stream: &Stream) -> Result<Option<Time>> {
        Ok(self.0.lock().work.get(stream).and_then(|entry| entry.due))
    }

    fn work_drawer(&mut self, stream: &Stream, see: &mut dyn FnMut(&mut dyn Drawer) -> Result<()>) -> Result<u64> {
        let entry = self.0.lock().work.get(stream).cloned();
        let Some(mut entry) = entry else { return Ok(0) };
        see(&mut entry).map(|()| entry.applied_seq)
    }

    fn work_ids(&mut self, stream: &Stream, prefix: &str, limit: usize) -> Result<Vec<ItemId>> {
        Ok(self.0.lock().work.get(stream).map(|entry| entry.ids(prefix, limit)).unwrap_or_default())
    }

    fn walk_items(
        &mut self,
        stream: &Stream,
        order: ItemOrder,
        see: &mut dyn FnMut(ItemRow) -> Result<bool>,
    ) -> Result<u64> {
        // Whoever looks may look at other rows too: nothing is locked meanwhile.
        let entry = self.0.lock().work.get(stream).cloned().unwrap_or_default();
        entry.walk(order, see).map(|()| entry.applied_seq)
    }

    fn work_notes(&mut self, stream: &Stream, item: &str) -> Result<Vec<Note>> {
        Ok(self.0.lock().work.get(stream).map(|entry| entry.notes(item)).unwrap_or_default())
    }

    fn forget(&mut self, stream: &Stream) -> Result<()> {
        let mut state = self.0.lock();
        match stream.run {
            RunId::CONTROL => drop(state.control.remove(stream)),
            RunId::WORK => drop(state.work.remove(stream)),
            _ => drop(state.runs.remove(stream)),
        }
        Ok(())
    }

    fn has_plan(&mut self, plan: PlanHash) -> Result<bool> {
        Ok(self.0.lock().plans.contains(&plan))
    }
}
