//! Looking back: every event of a run in its place.

use super::{Committed, Reader};
use edgewise_core::fold::{Changes, Stamp, fold};
use edgewise_core::history::{Entry, Stream};
use edgewise_core::id::RunId;
use edgewise_core::run::Run;
use edgewise_core::time::Time;
use edgewise_core::{Error, Result};
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

/// A moment in a run's past: up to an event, or up to an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Past {
    /// With this event, and nothing behind it.
    Seq(u64),
    /// As it was at this instant.
    Instant(Time),
}

impl Past {
    /// Reads a seq such as `17`, or an instant such as `2027-01-31T12:00:00Z`.
    pub fn parse(text: &str) -> Result<Self> {
        if let Ok(seq) = text.parse() {
            return Ok(Self::Seq(seq));
        }
        Time::parse(text).map(Self::Instant).map_err(|_| {
            let message = format!(
                "{text:?} is no place in a run's past: expected the seq of an event such as 17, or an instant such as \
                 2027-01-31T12:00:00Z"
            );
            Error::invalid("bad_at", message)
        })
    }
}

impl Reader {
    /// A run as it was.
    pub fn as_of(&mut self, run: RunId, at: Past) -> Result<Run> {
        let now = self.run(run)?;
        let entries = self.ledger(run)?;
        let count = entries.len() as u64;
        let upto = match at {
            Past::Seq(seq) if seq > count => {
                let message = format!("run {run} has no event {seq}: there are {count}");
                return Err(Error::not_found("no_such_event", message));
            }
            Past::Seq(seq) => seq,
            Past::Instant(at) => entries.iter().take_while(|entry| entry.stamp.at <= at).count() as u64,
        };
        if upto == 0 {
            return Err(Error::not_found("not_yet", format!("run {run} was not there yet")));
        }
        Ok(Stream { run, plan_hash: now.plan_hash, plan: &now.plan, entries: &entries }.refold(upto))
    }

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
