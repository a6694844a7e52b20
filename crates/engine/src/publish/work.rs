//! What is told of the work graph: from the notes of the engine that committed, or by folding its stream once more.
//!
//! Both give the same events under the same ids. The second costs a fold from the first event on and as much memory as the
//! graph: it is for what an engine left untold that was killed, and for what other engines write.

use super::derive::{PAGE, Tell};
use super::tap::Noted;
use crate::load::fold_work;
use edgewise_core::domain::{Cause, told_of_work};
use edgewise_core::event::decode_events;
use edgewise_core::fold::Stamp;
use edgewise_core::id::RunId;
use edgewise_core::work::{Changed, Work, WorkEvent, fold};
use edgewise_core::{Error, Result};
use edgewise_store::{Ledger, Space, Stored, Stream};

/// A graph of so many items is kept folded between two looks at the ledger; a larger one is folded anew.
const ITEMS: usize = 10_000;

/// The work graph of a space, as far as it had to be folded.
pub(super) struct Graph {
    stream: Stream,
    label: String,
    state: Option<Work>,
    /// Whether there is anybody to be told.
    pub wanted: bool,
}

impl Graph {
    pub fn new(space: &Space) -> Self {
        let Space { tenant, workspace } = space.clone();
        let stream = Stream { tenant, workspace, run: RunId::WORK };
        Self { label: stream.label(), stream, state: None, wanted: true }
    }

    /// What an engine noted of its own commit.
    pub fn noted(&self, noted: &Noted, tell: Tell<'_>) {
        if self.wanted {
            told_of_work(&self.label, noted.at, &noted.causes, &noted.notes, tell);
        }
    }

    /// A record of the ledger.
    pub fn record(&mut self, ledger: &mut dyn Ledger, stored: &Stored, tell: Tell<'_>) -> Result<()> {
        if !self.wanted {
            return Ok(());
        }
        stored.record.verify(&self.label)?;
        let (envelope, events) = decode_events::<WorkEvent>(&stored.record)?;
        // Heartbeats of claims are noted nowhere: nothing is folded for them alone.
        if events.iter().all(|event| matches!(event, WorkEvent::ClaimExtended(_))) {
            return Ok(());
        }
        let first = stored.record.first;
        let state = self.bring(ledger, first)?;
        let mut changed = Changed::default();
        for (n, event) in (0..).zip(&events) {
            // An event that does not count changes nothing, here as everywhere.
            let _ = fold(state, Stamp { id: envelope.id.plus(n), at: envelope.at }, event, &mut changed);
        }
        let causes: Vec<_> = (first..).zip(&events).map(|(seq, event)| Cause::new(seq, event)).collect();
        told_of_work(&self.label, envelope.at, &causes, &changed.notes, tell);
        Ok(())
    }

    /// The graph as it was before an event.
    fn bring(&mut self, ledger: &mut dyn Ledger, first: u64) -> Result<&mut Work> {
        let state = self.state.take().filter(|state| state.seq < first).unwrap_or_default();
        let state = self.state.insert(state);
        while state.seq + 1 < first {
            let page = ledger.read(&self.stream, state.seq, PAGE)?;
            if page.is_empty() {
                let message = format!("{} has no event {}: its ledger is damaged", self.label, state.seq + 1);
                return Err(Error::corrupt("seq_gap", message));
            }
            for stored in page.iter().filter(|stored| stored.record.first < first) {
                fold_work(state, stored, &mut Changed::default())?;
            }
        }
        Ok(state)
    }

    /// Gives a large graph back.
    pub fn rest(&mut self) {
        self.state.take_if(|state| state.len() > ITEMS);
    }
}
