//! The rows of a workspace's work graph: what is written of it, and how it is looked at without loading all of it.

use super::{forwards, moved};
use crate::ledger::Stream;
use edgewise_core::id::{EventId, RunId};
use edgewise_core::time::Time;
use edgewise_core::work::{DependencyKey, DependencyRow, GateRow, ItemId, ItemRow, Note, RunEndRow};
use edgewise_core::{Error, Result};

/// What changed of a workspace's work graph since it was last written.
#[derive(Debug, Clone)]
pub struct WorkChange {
    /// The work stream.
    pub stream: Stream,
    /// The `applied_seq` its rows must have now; 0 if there are none.
    pub from_seq: u64,
    /// The new one.
    pub applied_seq: u64,
    /// The id of the event with that seq.
    pub version: EventId,
    /// When something of it happens by itself.
    pub due: Option<Time>,
    /// Items to write.
    pub items: Vec<ItemRow>,
    /// Items to take away.
    pub items_gone: Vec<ItemId>,
    /// Dependencies to write.
    pub dependencies: Vec<DependencyRow>,
    /// Dependencies to take away.
    pub dependencies_gone: Vec<DependencyKey>,
    /// Gates to write.
    pub gates: Vec<GateRow>,
    /// Gates to take away.
    pub gates_gone: Vec<ItemId>,
    /// Ends of runs to write.
    pub runs: Vec<RunEndRow>,
    /// Ends of runs to take away.
    pub runs_gone: Vec<RunId>,
    /// What happened to items meanwhile, in order: added to what is there.
    pub notes: Vec<Note>,
}

/// In which order items are walked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemOrder {
    /// Those that nothing is in the way of: effective priority, priority, created, id.
    Ready,
    /// The tasks among these, in the same order: no row of anything else is looked at.
    Tasks,
    /// Those that something is in the way of, in the same order.
    Blocked,
    /// All of them, by id.
    Id,
}

impl WorkChange {
    /// Refuses (`Invalid`) a change of another stream, or one that would bring the rows back in time.
    pub(crate) fn check(&self) -> Result<()> {
        let (from, to) = (self.from_seq, self.applied_seq);
        if self.stream.run != RunId::WORK {
            let message = format!("rows of the work graph were given for {}", self.stream.label());
            return Err(Error::invalid("bad_flush", message));
        }
        forwards("the work graph", from, to)?;
        if let Some(note) = self.notes.iter().find(|note| note.seq <= from || note.seq > to) {
            let message = format!("a note of seq {} was given with rows that move from seq {from} to {to}", note.seq);
            return Err(Error::invalid("bad_flush", message));
        }
        Ok(())
    }

    /// What is said when the rows are not where this change was made from.
    pub(crate) fn moved(&self, found: u64) -> Error {
        moved(&self.stream, self.from_seq, found)
    }
}
