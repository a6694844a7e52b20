//! Projections that fail as told.

use super::ledger::write;
use super::{Fault, Faults, Op, error};
use crate::ledger::{Position, Stream};
use crate::projections::{Flush, ItemOrder, Projections, RunFilter, RunRows};
use edgewise_core::control::ControlRows;
use edgewise_core::event::TaskIx;
use edgewise_core::id::PlanHash;
use edgewise_core::rows::{LeaseRow, OutboxRow, RunRow, TaskRow, TimerRow};
use edgewise_core::time::Time;
use edgewise_core::work::part::Drawer;
use edgewise_core::work::{ItemId, ItemRow, Note, WorkRows};
use edgewise_core::{Error, Result};

/// Wraps projections and fails as told.
#[derive(Debug, Clone)]
pub struct FaultyProjections<P> {
    inner: P,
    faults: Faults,
}

impl<P: Projections> FaultyProjections<P> {
    /// Wraps projections; keep a clone of the faults to count and to change them.
    pub fn new(inner: P, faults: Faults) -> Self {
        Self { inner, faults }
    }

    /// The projections inside, past all faults.
    pub fn inner(&mut self) -> &mut P {
        &mut self.inner
    }

    fn read_or_fail<T>(&mut self, op: Op, work: impl FnOnce(&mut P) -> Result<T>) -> Result<T> {
        match self.faults.next(op) {
            None => work(&mut self.inner),
            Some(Fault::Damaged) => Err(error(Fault::Damaged, op)),
            Some(_) => Err(error(Fault::Refused, op)),
        }
    }
}

impl<P: Projections> Projections for FaultyProjections<P> {
    fn flush(&mut self, flush: &Flush) -> Result<()> {
        match self.faults.next(Op::Flush) {
            None => self.inner.flush(flush),
            Some(Fault::Conflict) => {
                Err(Error::conflict("projection_moved", "the rows moved, as the test's plan told: load the run again"))
            }
            Some(fault) => write(fault, Op::Flush, || self.inner.flush(flush)),
        }
    }

    fn load(&mut self, stream: &Stream) -> Result<Option<RunRows>> {
        self.read_or_fail(Op::Load, |inner| inner.load(stream))
    }

    fn task(&mut self, stream: &Stream, task: TaskIx) -> Result<Option<TaskRow>> {
        self.read_or_fail(Op::Task, |inner| inner.task(stream, task))
    }

    fn watermark(&mut self) -> Result<Position> {
        self.read_or_fail(Op::Watermark, Projections::watermark)
    }

    fn runs(&mut self, filter: &RunFilter) -> Result<Vec<(Stream, RunRow)>> {
        self.read_or_fail(Op::Runs, |inner| inner.runs(filter))
    }

    fn outbox(&mut self) -> Result<Vec<(Stream, OutboxRow)>> {
        self.read_or_fail(Op::Outbox, Projections::outbox)
    }

    fn timers(&mut self) -> Result<Vec<(Stream, TimerRow)>> {
        self.read_or_fail(Op::Timers, Projections::timers)
    }

    fn leases(&mut self) -> Result<Vec<(Stream, LeaseRow)>> {
        self.read_or_fail(Op::Leases, Projections::leases)
    }

    fn lease(&mut self, stream: &Stream, task: TaskIx) -> Result<Option<LeaseRow>> {
        self.read_or_fail(Op::Leases, |inner| inner.lease(stream, task))
    }

    fn control(&mut self, stream: &Stream) -> Result<Option<ControlRows>> {
        self.read_or_fail(Op::Control, |inner| inner.control(stream))
    }

    fn work(&mut self, stream: &Stream) -> Result<Option<WorkRows>> {
        self.read_or_fail(Op::Work, |inner| inner.work(stream))
    }

    fn work_head(&mut self, stream: &Stream) -> Result<u64> {
        self.read_or_fail(Op::Work, |inner| inner.work_head(stream))
    }

    fn work_due(&mut self, stream: &Stream) -> Result<Option<Time>> {
        self.read_or_fail(Op::WorkRows, |inner| inner.work_due(stream))
    }

    fn work_drawer(&mut self, stream: &Stream, see: &mut dyn FnMut(&mut dyn Drawer) -> Result<()>) -> Result<u64> {
        self.read_or_fail(Op::WorkRows, |inner| inner.work_drawer(stream, see))
    }

    fn work_ids(&mut self, stream: &Stream, prefix: &str, limit: usize) -> Result<Vec<ItemId>> {
        self.read_or_fail(Op::WorkRows, |inner| inner.work_ids(stream, prefix, limit))
    }

    fn walk_items(
        &mut self,
        stream: &Stream,
        order: ItemOrder,
        see: &mut dyn FnMut(ItemRow) -> Result<bool>,
    ) -> Result<u64> {
        self.read_or_fail(Op::WorkRows, |inner| inner.walk_items(stream, order, see))
    }

    fn work_notes(&mut self, stream: &Stream, item: &str) -> Result<Vec<Note>> {
        self.read_or_fail(Op::Work, |inner| inner.work_notes(stream, item))
    }

    fn forget(&mut self, stream: &Stream) -> Result<()> {
        match self.faults.next(Op::Forget) {
            None => self.inner.forget(stream),
            Some(fault) => write(fault, Op::Forget, || self.inner.forget(stream)),
        }
    }

    fn has_plan(&mut self, plan: PlanHash) -> Result<bool> {
        self.read_or_fail(Op::HasPlan, |inner| inner.has_plan(plan))
    }
}
