//! Projections: rows derived from the ledger. Losing them costs a refold, never a fact.

mod filter;
mod work;

pub(crate) use filter::{Facts, names};
pub use filter::{ID_WORD, RunFilter, Term};
pub use work::{ItemOrder, WorkChange};

use crate::ledger::{Position, Stream};
use edgewise_core::control::{ControlRow, ControlRows, Key};
use edgewise_core::event::{TaskIx, TimerKey};
use edgewise_core::id::{EventId, PlanHash, RunId};
use edgewise_core::plan::Plan;
use edgewise_core::rows::{GivenRow, LeaseRow, OutboxRow, RunRow, TaskRow, TimerRow};
use edgewise_core::time::Time;
use edgewise_core::work::part::Drawer;
use edgewise_core::work::{ItemId, ItemRow, Note, WorkRows};
use edgewise_core::{Error, Result};
use std::sync::Arc;

/// What changed of one run since it was last written.
#[derive(Debug, Clone)]
pub struct RunChange {
    /// Which run.
    pub stream: Stream,
    /// The `applied_seq` its rows must have now; 0 if there are none.
    pub from_seq: u64,
    /// The run's own row; its `applied_seq` is the new one.
    pub run: RunRow,
    /// The plan, the first time it is written: names and edges for the views.
    pub plan: Option<Arc<Plan>>,
    /// Tasks to write.
    pub tasks: Vec<TaskRow>,
    /// What composites or the run began with, to write.
    pub given: Vec<GivenRow>,
    /// What they have no more, to take away.
    pub given_gone: Vec<TaskIx>,
    /// Timers to write.
    pub timers: Vec<TimerRow>,
    /// Timers to take away.
    pub timers_gone: Vec<TimerKey>,
    /// Waiting tasks to write.
    pub outbox: Vec<OutboxRow>,
    /// Waiting tasks to take away.
    pub outbox_gone: Vec<TaskIx>,
    /// Leases to write.
    pub leases: Vec<LeaseRow>,
    /// Leases to take away.
    pub leases_gone: Vec<TaskIx>,
}

impl RunChange {
    /// Refuses (`Invalid`) a change that names two runs, or that would bring the rows back in time.
    pub(crate) fn check(&self) -> Result<()> {
        let (run, from, to) = (&self.run, self.from_seq, self.run.applied_seq);
        if run.id != self.stream.run {
            let label = self.stream.label();
            return Err(Error::invalid("bad_flush", format!("the row of run {} was given for {label}", run.id)));
        }
        if to == 0 || to < from {
            let message =
                format!("rows of run {} move from seq {from} to {to}: the seq must be at least 1 and not fall", run.id);
            return Err(Error::invalid("bad_flush", message));
        }
        Ok(())
    }

    /// What is said when the rows are not where this change was made from.
    pub(crate) fn moved(&self, found: u64) -> Error {
        let message = format!(
            "the rows of {} are at seq {found}, this change was made at seq {}: load the run again and flush anew",
            self.stream.label(),
            self.from_seq
        );
        Error::conflict("projection_moved", message)
    }
}

/// What changed of a workspace's control since it was last written.
#[derive(Debug, Clone)]
pub struct ControlChange {
    /// The control stream.
    pub stream: Stream,
    /// The `applied_seq` its rows must have now; 0 if there are none.
    pub from_seq: u64,
    /// The new one.
    pub applied_seq: u64,
    /// The id of the event with that seq.
    pub version: EventId,
    /// Rows to write.
    pub rows: Vec<ControlRow>,
    /// Rows to take away.
    pub gone: Vec<Key>,
}

impl ControlChange {
    /// Refuses (`Invalid`) a change of another stream, or one that would bring the rows back in time.
    pub(crate) fn check(&self) -> Result<()> {
        let (from, to) = (self.from_seq, self.applied_seq);
        if self.stream.run != RunId::CONTROL {
            let message = format!("rows of control were given for {}", self.stream.label());
            return Err(Error::invalid("bad_flush", message));
        }
        forwards("control", from, to)
    }

    /// What is said when the rows are not where this change was made from.
    pub(crate) fn moved(&self, found: u64) -> Error {
        moved(&self.stream, self.from_seq, found)
    }
}

/// Refuses (`Invalid`) rows of a workspace's own stream that would go back in time.
fn forwards(what: &str, from: u64, to: u64) -> Result<()> {
    if to == 0 || to < from {
        let message = format!("rows of {what} move from seq {from} to {to}: the seq must be at least 1 and not fall");
        return Err(Error::invalid("bad_flush", message));
    }
    Ok(())
}

/// What is said when the rows of a workspace's own stream are not where a change was made from.
fn moved(stream: &Stream, from: u64, found: u64) -> Error {
    let label = stream.label();
    let message = format!(
        "the rows of {label} are at seq {found}, this change was made at seq {from}: load it again and flush anew"
    );
    Error::conflict("projection_moved", message)
}

/// One flush: all of it or nothing.
#[derive(Debug, Clone, Default)]
pub struct Flush {
    /// What changed, by run.
    pub runs: Vec<RunChange>,
    /// Runs whose rows are taken away: their streams are gone. After all changes; one without rows is no error.
    pub gone: Vec<Stream>,
    /// What changed of control.
    pub control: Option<ControlChange>,
    /// What changed of the work graph.
    pub work: Option<WorkChange>,
    /// Everything up to here is in the rows once this is written.
    pub watermark: Position,
}

/// All rows of one run, read in one snapshot.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRows {
    /// The run's own row.
    pub run: RunRow,
    /// Its tasks that have left their first state, in order.
    pub tasks: Vec<TaskRow>,
    /// What its composites and itself began with, in order.
    pub given: Vec<GivenRow>,
}

/// Derived rows, guarded by the seq they were applied to.
pub trait Projections: Send {
    /// Writes everything in one transaction. A run whose rows are not at `from_seq` refuses the whole
    /// flush (`Conflict`, code `projection_moved`): somebody else applied it. Rows to take away that are
    /// not there are no error. The watermark never goes back, and neither does the deadline of a lease that has the
    /// same token as the one that stands there: another engine may have moved it.
    fn flush(&mut self, flush: &Flush) -> Result<()>;

    /// All rows of a run in one snapshot; `None` if it has none.
    fn load(&mut self, stream: &Stream) -> Result<Option<RunRows>>;

    /// A run's own row; `None` if it has none.
    fn run(&mut self, stream: &Stream) -> Result<Option<RunRow>> {
        Ok(self.load(stream)?.map(|rows| rows.run))
    }

    /// One task's row; `None` if it has none. For what a run in memory has given back.
    fn task(&mut self, stream: &Stream, task: TaskIx) -> Result<Option<TaskRow>>;

    /// The ledger position up to which everything is in the rows.
    fn watermark(&mut self) -> Result<Position>;

    /// Runs, the newest first: by `triggered_at`, then by run id, both falling.
    fn runs(&mut self, filter: &RunFilter) -> Result<Vec<(Stream, RunRow)>>;

    /// Every task that waits for a worker, in order of `ready_at`, then of run and task.
    fn outbox(&mut self) -> Result<Vec<(Stream, OutboxRow)>>;

    /// Every timer that is set, the earliest first.
    fn timers(&mut self) -> Result<Vec<(Stream, TimerRow)>>;

    /// Every lease that was live when last written, with the latest deadline that was written for it.
    fn leases(&mut self) -> Result<Vec<(Stream, LeaseRow)>>;

    /// The lease of one task; `None` if it has none.
    fn lease(&mut self, stream: &Stream, task: TaskIx) -> Result<Option<LeaseRow>>;

    /// All rows of a workspace's control in one snapshot, by kind and name; `None` if it has none.
    fn control(&mut self, stream: &Stream) -> Result<Option<ControlRows>>;

    /// All rows of a workspace's work graph in one snapshot, each kind by its key; `None` if it has none.
    fn work(&mut self, stream: &Stream) -> Result<Option<WorkRows>>;

    /// The seq that the rows of a workspace's work graph are at; 0 if it has none.
    fn work_head(&mut self, stream: &Stream) -> Result<u64>;

    /// When something of a workspace's work graph happens by itself, by its rows: from then on these are not the whole
    /// truth.
    fn work_due(&mut self, stream: &Stream) -> Result<Option<Time>>;

    /// Lets somebody read single rows of a work graph, all in one snapshot; nobody is asked where it has none. Gives the
    /// seq that all of them are at.
    fn work_drawer(&mut self, stream: &Stream, see: &mut dyn FnMut(&mut dyn Drawer) -> Result<()>) -> Result<u64>;

    /// The ids of items and gates that begin so, in order, at most `limit` of them.
    fn work_ids(&mut self, stream: &Stream, prefix: &str, limit: usize) -> Result<Vec<ItemId>>;

    /// Shows items one after another, until there is no more or `see` says that it has seen enough. Gives the seq that
    /// all of them are at.
    fn walk_items(
        &mut self,
        stream: &Stream,
        order: ItemOrder,
        see: &mut dyn FnMut(ItemRow) -> Result<bool>,
    ) -> Result<u64>;

    /// What happened to an item, as far as it is in the rows, in order.
    fn work_notes(&mut self, stream: &Stream, item: &str) -> Result<Vec<Note>>;

    /// Takes away all rows of a run, of a workspace's control, or of its work graph, so that they can be written anew from seq 0.
    fn forget(&mut self, stream: &Stream) -> Result<()>;

    /// Whether the names and edges of a plan are written.
    fn has_plan(&mut self, plan: PlanHash) -> Result<bool>;
}
