//! Looking back: every event of a run in its place.

use super::{Committed, Reader};
use edgewise_core::Result;
use edgewise_core::fold::{Changes, Stamp, fold};
use edgewise_core::history::Entry;
use edgewise_core::id::RunId;
use edgewise_core::run::Run;
use std::sync::Arc;

impl Committed {
    /// Its events, each in its place.
    pub fn entries(self) -> Vec<Entry> {
        let source: Arc<str> = self.envelope.source.as_ref().into();
        let (first, id, at) = (self.first, self.envelope.id, self.envelope.at);
        let place = |(n, event)| {
            let stamp = Stamp { id: id.plus(n), at };
            Entry { seq: first + n, stamp, source: Arc::clone(&source), event }
        };
        (0..).zip(self.events).map(place).collect()
    }
}

impl Reader {
    /// All events of a run.
    pub fn ledger(&mut self, run: RunId) -> Result<Vec<Entry>> {
        Ok(self.records(run, 0)?.into_iter().flat_map(Committed::entries).collect())
    }

    /// A run with everything it ever did: of a program also the rounds that it has given back, from its ledger.
    pub fn whole(&mut self, run: Run) -> Result<Run> {
        if !run.is_program() {
            return Ok(run);
        }
        let (mut whole, mut changes) = (Run::new(run.id, run.plan_hash, Arc::clone(&run.plan)), Changes::default());
        for entry in self.ledger(run.id)? {
            changes.clear();
            fold(&mut whole, entry.stamp, &entry.event, &mut changes);
        }
        Ok(whole)
    }
}
