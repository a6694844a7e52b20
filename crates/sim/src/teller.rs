//! An orchestrator's publisher: the shell around it without its thread. It hears and writes when the dice say so.

use crate::driver::{No, home};
use edgewise_core::Result;
use edgewise_engine::committer::Committer;
use edgewise_engine::publish::{Ear, Listeners, Publisher};
use edgewise_store::{Domain, Space};

/// Commits that wait to be heard: few, so that some are missed.
const AHEAD: usize = 3;

/// The walls that everything here is within.
pub(crate) fn space() -> Space {
    Space { tenant: home().tenant, workspace: home().workspace }
}

pub(crate) struct Teller {
    publisher: Publisher,
    ear: Ear,
    /// The store failed: the ledger is read again from the cursor before anything else is believed.
    troubled: bool,
}

impl Teller {
    /// Begins where the last one ended, whoever that was.
    pub fn new(ledger: Box<dyn Domain>, committer: &mut Committer<No>) -> Result<Self> {
        let mut publisher = Publisher::open(ledger, space(), Listeners::default())?;
        let ear = Ear::of(committer, AHEAD);
        let troubled = publisher.look().is_err();
        Ok(Self { publisher, ear, troubled })
    }

    /// Takes what was said. While the store is in trouble everything is read from the ledger later.
    pub fn hear(&mut self) {
        self.troubled |= self.publisher.take(&self.ear).is_err();
    }

    /// Writes what waits; reads everything again first if something went wrong.
    pub fn write(&mut self) {
        if self.troubled {
            self.troubled = self.publisher.rewind().and_then(|()| self.publisher.look()).is_err();
        }
        if !self.troubled {
            self.troubled = self.publisher.write().is_err();
        }
    }
}
