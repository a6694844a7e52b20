//! News: what other engines wrote to the same ledger, and when this one looks for it.
//!
//! An append is guarded, so it needs no look. A refusal is not, and rows that claim to be up to a position
//! must have what others wrote up to there: both look first.

use super::Desk;
use edgewise_core::Result;
use edgewise_core::event::Event;
use edgewise_core::fold::{Ignored, check};
use edgewise_core::id::RunId;
use edgewise_core::state::RunState;
use edgewise_store::{Position, Stored};
use std::collections::BTreeSet;

/// Most records of others read at once.
const PAGE: usize = 1_000;

impl Desk {
    /// Whether others wrote to a run since it was put on the desk; if so it is loaded anew. Not for a run with
    /// events to append: there the guard tells.
    pub fn has_news(&mut self, run: RunId) -> Result<bool> {
        let Some(cached) = self.runs.get(&run).filter(|c| c.events.is_empty()) else { return Ok(false) };
        if self.ledger.head(&cached.stream)?.seq == cached.durable {
            return Ok(false);
        }
        self.forget(&[run]);
        self.open(run)?;
        Ok(true)
    }

    /// Where a run is, whoever wrote to it last.
    pub fn newest_state(&mut self, run: RunId) -> Result<RunState> {
        self.open(run)?;
        self.has_news(run)?;
        self.open(run).map(|cached| cached.run.state)
    }

    /// Decides an event that somebody asked for. A refusal is no append, so no guard would tell that it was
    /// decided on old news: it is told only at the ledger's tail.
    pub fn decide(&mut self, run: RunId, event: Event) -> Result<std::result::Result<(), Ignored>> {
        if self.refuses(run, &event) {
            self.has_news(run)?;
        }
        Ok(self.record(run, event))
    }

    /// Whether an event does not count in a run as it stands on the desk.
    pub fn refuses(&self, run: RunId, event: &Event) -> bool {
        self.runs.get(&run).is_none_or(|cached| check(&cached.run, self.now, event).is_err())
    }

    /// Reads what others wrote since the last look, and puts their runs on the desk as they are now.
    /// Up to the position it gives, everything is in the rows or on the desk.
    pub fn catch_up(&mut self) -> Result<Position> {
        // The last records may have been taken away with their run: reading alone then never gets to the tail.
        let tail = if self.astray { self.ledger.tail()? } else { self.seen };
        loop {
            let page = self.ledger.read_all(self.seen, PAGE)?;
            let Some(last) = page.last().map(|stored| stored.position) else { break };
            let (mut foreign, mut work, mut told) = (BTreeSet::new(), false, false);
            for Stored { stream, record, .. } in page {
                let ours = stream.tenant == self.home.tenant && stream.workspace == self.home.workspace;
                let known = match stream.run {
                    RunId::CONTROL => self.control.durable >= record.last(),
                    // It may be large: what others wrote is folded in, and nothing is loaded anew for it.
                    RunId::WORK => {
                        work |= ours && !(self.work.loaded && self.work.durable >= record.last());
                        true
                    }
                    run if !run.is_run() => true,
                    run => self.runs.get(&run).is_some_and(|cached| cached.durable >= record.last()),
                };
                told |= ours && (stream.run.is_run() || stream.run == RunId::WORK);
                if ours && !known {
                    foreign.insert(stream.run);
                }
            }
            // Both before the next read: it may fail, and what was seen must be on the desk or known to be missing.
            self.seen = last;
            // Of what the desk knows, too: a run that was loaded anew has what others wrote, and nobody told of it.
            if let Some(tap) = self.tap.as_mut().filter(|_| told) {
                tap.look();
            }
            self.forget(&foreign.into_iter().collect::<Vec<_>>());
            if work && !self.frozen.contains_key(&RunId::WORK) && self.newest_work().is_err() {
                self.unloaded.insert(RunId::WORK);
            }
        }
        self.seen = self.seen.max(tail);
        self.astray = false;
        Ok(self.seen)
    }
}
