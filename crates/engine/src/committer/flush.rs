//! Flushing: rows catch up with the ledger, coalesced, one flush at a time.
//!
//! A task that became ready, ran and finished within one interval is written once, a short run once at its
//! end. The interval grows with what a flush costs, so rows take a bounded share of the machine and what is
//! busy is coalesced more. A flush that fails costs a reload, never a fact.

use super::Committer;
use edgewise_core::id::RunId;
use edgewise_core::rows::LeaseRow;
use edgewise_core::time::{Millis, Time};
use edgewise_core::{Kind, Result};
use edgewise_store::{Flush, Position, Stream};
use std::collections::BTreeSet;

/// Rows are at least so fresh when there is little to do.
const SOONEST: Millis = Millis(50);
/// Rows are never let fall behind for longer.
const LATEST: Millis = Millis(500);
/// The rest between two flushes is so many times as long as the last one took.
const REST: u64 = 4;
/// So many task rows behind are written without waiting.
const MANY: usize = 50_000;
/// Runs that are over and in the rows are forgotten; of the others so many tasks are kept at hand.
const CACHED_TASKS: u64 = 4_000_000;
/// Of runs that only wait so many are kept at hand: a backlog of half a million must not fill the memory.
const CACHED_RUNS: usize = 20_000;
/// So many runs behind are written without waiting, and while others are being written nothing more is decided.
const BEHIND: usize = 10_000;

/// When rows are written.
#[derive(Default)]
pub(super) struct Pace {
    /// Runs in the flush that is under way.
    flushing: Option<BTreeSet<RunId>>,
    /// Leases in it whose workers may be told of their deadlines once it is written.
    leases: Vec<(RunId, LeaseRow)>,
    /// Runs that are gone and whose rows the flush under way takes away.
    going: Vec<Stream>,
    began: Time,
    due: Time,
}

impl<R> Committer<R> {
    /// When rows should catch up; `None` while nothing is behind or a flush is under way.
    pub(super) fn flush_due(&self) -> Option<Time> {
        let behind = !self.desk.dirty.is_empty() || !self.desk.gone.is_empty();
        (self.rows.flushing.is_none() && behind).then_some(self.rows.due)
    }

    /// What must be written now, if it is time. Whoever writes it says so with [`Committer::flushed`].
    pub fn flush(&mut self, now: Time) -> Result<Option<Flush>> {
        let Some(due) = self.flush_due() else { return Ok(None) };
        // A clock that went back must not keep rows waiting.
        let early = now < due && due <= now.plus(LATEST);
        if early && self.desk.rows_behind < MANY && self.desk.dirty.len() <= BEHIND {
            return Ok(None);
        }
        self.rows.began = now;
        match self.flush_all() {
            Ok(flush) => Ok(Some(flush)),
            // Rows may be late: they are tried again when they are next due.
            Err(error) if error.kind == Kind::Unavailable => {
                self.rows.due = now.plus(LATEST);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// What must be written for all rows to be up to date, at once.
    pub fn flush_all(&mut self) -> Result<Flush> {
        // The rows have what others wrote only if it is written here with the rest. And they do not have what could
        // not be read: whoever recovers must still find it in the ledger.
        let seen = self.desk.catch_up()?;
        let watermark = if self.desk.unloaded.is_empty() { seen } else { Position::default() };
        let dirty = std::mem::take(&mut self.desk.dirty);
        self.desk.rows_behind = 0;
        let mut runs = Vec::with_capacity(dirty.len());
        for run in &dirty {
            if let Some(cached) = self.desk.runs.get_mut(run) {
                self.desk.counts.task_rows += cached.dirty_tasks() as u64;
                runs.extend(cached.change(&self.desk.leases));
            }
        }
        let timed = |(_, row): &(RunId, LeaseRow)| row.deadline.known().is_some();
        let leases = runs.iter().flat_map(|c| c.leases.iter().map(|row| (c.run.id, row.clone())));
        self.rows.leases = leases.filter(timed).collect();
        let control = match dirty.contains(&RunId::CONTROL) {
            true => self.desk.control.change(&self.desk.home.stream(RunId::CONTROL)),
            false => None,
        };
        let work = match dirty.contains(&RunId::WORK) {
            true => self.desk.work.change(&self.desk.home.stream(RunId::WORK)),
            false => None,
        };
        self.desk.counts.flushes += 1;
        self.rows.flushing = Some(dirty);
        self.rows.going = std::mem::take(&mut self.desk.gone);
        Ok(Flush { runs, gone: self.rows.going.clone(), control, work, watermark })
    }

    /// The flush that was under way is written, or failed.
    pub fn flushed(&mut self, now: Time, result: &Result<()>) {
        let Some(runs) = self.rows.flushing.take() else { return };
        let leases = std::mem::take(&mut self.rows.leases);
        let rest = now.since(self.rows.began).0.saturating_mul(REST).clamp(SOONEST.0, LATEST.0);
        self.rows.due = now.plus(Millis(rest));
        let going = std::mem::take(&mut self.rows.going);
        match result {
            Ok(()) => {
                leases.iter().for_each(|(run, row)| self.desk.leases.stored(*run, row));
                for run in &runs {
                    if let Some(cached) = self.desk.runs.get_mut(run) {
                        cached.rows_written();
                    }
                }
                if runs.contains(&RunId::WORK) {
                    self.desk.work.rows_written();
                }
                self.evict(runs);
            }
            Err(_) => {
                self.desk.gone.extend(going);
                self.desk.forget(&runs.into_iter().collect::<Vec<_>>());
            }
        }
    }

    /// Whether a run's rows are behind or being written.
    pub(super) fn is_being_written(&self, run: RunId) -> bool {
        let dirty = self.desk.dirty.contains(&run) || self.desk.runs.get(&run).is_some_and(|cached| cached.is_dirty());
        dirty || self.rows.flushing.as_ref().is_some_and(|runs| runs.contains(&run))
    }

    /// Whether a flush is under way.
    pub fn is_flushing(&self) -> bool {
        self.rows.flushing.is_some()
    }

    /// Whether too many runs are behind a flush that is under way: rows that are slower than the ledger must hold up
    /// whoever asks, not fill the memory.
    pub fn is_behind(&self) -> bool {
        self.is_flushing() && self.desk.dirty.len() > BEHIND
    }

    /// Gives memory back: what is over goes at once, the rest when there is too much of it.
    pub(super) fn evict(&mut self, runs: impl IntoIterator<Item = RunId>) {
        for run in runs {
            self.desk.recount(run);
            let Some(cached) = self.desk.runs.get(&run) else { continue };
            let under_way = self.rows.flushing.as_ref().is_some_and(|runs| runs.contains(&run));
            let idle = !cached.is_dirty() && !under_way && cached.run.leased == 0 && !cached.run.is_advancing();
            // Children that nobody waits for end soon, and each of them is told to their run.
            let idle = idle && cached.run.disowned.is_empty();
            let crowded = self.desk.cached_tasks > CACHED_TASKS || self.desk.runs.len() > CACHED_RUNS;
            // What is frozen is on the desk only until its rows are written.
            let rests = self.desk.frozen.contains_key(&run) && !cached.is_dirty() && !under_way;
            if rests || idle && (cached.run.state.is_done() || crowded) {
                self.desk.put_away(run);
            }
        }
    }
}
