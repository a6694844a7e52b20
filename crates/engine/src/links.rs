//! Links to look at: tasks that wait for children, or went on without them.
//!
//! Hints, as lanes and timers are: the runs themselves say what is so. A hint is made where a fact is folded or a run
//! is loaded, taken away when it is looked at, and put back if the commit that came of it does not land.

use edgewise_core::event::{LinkRef, TaskIx};
use edgewise_core::id::RunId;
use std::collections::BTreeSet;

#[derive(Default)]
pub(crate) struct Links {
    /// To be looked at now.
    pub due: BTreeSet<(RunId, TaskIx)>,
    /// To be looked at again later: a store did not answer.
    pub later: BTreeSet<(RunId, TaskIx)>,
    /// Attempts of runs whose children or items are over: they must be told, also if another engine began them.
    pub over: BTreeSet<(RunId, LinkRef)>,
    /// Found in the rows of an earlier engine, with the child that should be there.
    pub unsure: Vec<(RunId, TaskIx, RunId)>,
}

impl Links {
    /// A child or an item is over: the attempt that waits for it is to be told.
    pub fn ended(&mut self, run: RunId, link: LinkRef) {
        self.due.insert((run, link.task));
        self.over.insert((run, link));
    }

    /// Whether there is something to look at right now.
    pub fn is_due(&self) -> bool {
        !self.due.is_empty() || !self.over.is_empty() || !self.unsure.is_empty()
    }

    /// Whether something is put off.
    pub fn is_waiting(&self) -> bool {
        !self.later.is_empty()
    }

    /// Whether there is nothing to look at, now or later.
    pub fn is_empty(&self) -> bool {
        !self.is_due() && !self.is_waiting()
    }
}
