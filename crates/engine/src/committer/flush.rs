//! Flushing: rows catch up with the ledger, coalesced, one flush at a time.
//!
//! A task that became ready, ran and finished within one interval is written once, a short run once at its
//! end. A flush that fails costs a reload, never a fact.

use super::{Committer, FLUSH_EVERY, FLUSH_TASKS};
use edgewise_core::id::RunId;
use edgewise_core::time::Time;
use edgewise_core::{Kind, Result};
use edgewise_store::{Flush, Position};
use std::collections::BTreeSet;

/// Runs that are over and in the rows are forgotten; of the others so many tasks are kept at hand.
const CACHED_TASKS: u64 = 4_000_000;

impl<R> Committer<R> {
    /// When rows should catch up; `None` while nothing is behind or a flush is under way.
    pub(super) fn flush_due(&self) -> Option<Time> {
        (self.flushing.is_none() && !self.desk.dirty.is_empty()).then(|| self.last_flush.plus(FLUSH_EVERY))
    }

    /// What must be written now, if it is time. Whoever writes it says so with [`Committer::flushed`].
    pub fn flush(&mut self, now: Time) -> Result<Option<Flush>> {
        let Some(due) = self.flush_due() else { return Ok(None) };
        if now < due && now >= self.last_flush && self.rows_behind() < FLUSH_TASKS {
            return Ok(None);
        }
        self.last_flush = now;
        match self.flush_all() {
            Ok(flush) => Ok(Some(flush)),
            // Rows may be late: they are tried again when they are next due.
            Err(error) if error.kind == Kind::Unavailable => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// What must be written for all rows to be up to date, at once.
    pub fn flush_all(&mut self) -> Result<Flush> {
        // The rows do not have what could not be read: whoever recovers must still find it in the ledger.
        let watermark = match self.desk.unloaded.is_empty() {
            true => self.desk.ledger.tail()?,
            false => Position::default(),
        };
        let dirty = std::mem::take(&mut self.desk.dirty);
        let mut runs = Vec::with_capacity(dirty.len());
        for run in &dirty {
            if let Some(cached) = self.desk.runs.get_mut(run) {
                self.desk.counts.task_rows += cached.dirty_tasks() as u64;
                runs.extend(cached.change(&self.desk.leases));
            }
        }
        self.desk.counts.flushes += 1;
        self.flushing = Some(dirty);
        Ok(Flush { runs, watermark })
    }

    /// The flush that was under way is written, or failed.
    pub fn flushed(&mut self, result: &Result<()>) {
        let Some(runs) = self.flushing.take() else { return };
        match result {
            Ok(()) => self.evict(&runs),
            Err(_) => self.desk.forget(&runs.into_iter().collect::<Vec<_>>()),
        }
    }

    /// Whether a flush is under way.
    pub fn is_flushing(&self) -> bool {
        self.flushing.is_some()
    }

    fn rows_behind(&self) -> usize {
        self.desk
            .dirty
            .iter()
            .filter_map(|r| self.desk.runs.get(r))
            .map(super::super::cached::Cached::dirty_tasks)
            .sum()
    }

    /// Gives memory back: what is over goes at once, the rest when there is too much of it.
    fn evict(&mut self, flushed: &BTreeSet<RunId>) {
        let mut kept: u64 = self.desk.runs.values().map(|c| u64::from(c.run.total())).sum();
        for run in flushed {
            let Some(cached) = self.desk.runs.get(run) else { continue };
            let idle = !cached.is_dirty() && cached.run.leased == 0 && cached.run.advancing.is_empty();
            if idle && (cached.run.state.is_done() || kept > CACHED_TASKS) {
                kept -= u64::from(cached.run.total());
                self.desk.runs.remove(run);
            }
        }
    }
}
