//! The publisher's end of a tap, for whoever has no thread for it: the simulator hears when its dice say so.

use super::derive::Part;
use super::publisher::Publisher;
use super::tap::{Spout, tap};
use crate::committer::Committer;
use edgewise_core::Result;

/// What an engine says of its commits, until somebody takes it.
pub struct Ear(Spout);

impl Ear {
    /// An engine says from now on what it commits. So much of it waits; what is more must be read from the ledger.
    pub fn of<R>(committer: &mut Committer<R>, ahead: usize) -> Self {
        let (tap, news) = tap(Part::Durable, ahead);
        committer.tell(tap);
        Self(news)
    }
}

impl Publisher {
    /// Takes what an engine said. After an error it must be rewound: what was said is lost.
    pub fn take(&mut self, ear: &Ear) -> Result<()> {
        while let Ok(news) = ear.0.next() {
            self.hear(news)?;
        }
        Ok(())
    }
}
