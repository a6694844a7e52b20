//! The herald: tells whoever listens, on a thread of its own, so that no fast event waits for a queue to be written.
//!
//! It has no cursor. What was committed while no engine was there is told to nobody, and after an error of the store it
//! reads on behind what it told.

use super::derive::{Deriving, PAGE, Part};
use super::listeners::{Listeners, Told};
use super::tap::{News, Spout};
use edgewise_core::Result;
use edgewise_core::domain::DomainEvent;
use edgewise_store::{Ledger, Space};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

/// How long to wait before a store that failed is asked again.
const AGAIN: Duration = Duration::from_millis(500);

/// Derives fast domain events from a ledger and tells them.
pub(crate) struct Herald {
    ledger: Box<dyn Ledger>,
    /// What the space is called outside: tenant and workspace.
    known_as: (String, String),
    deriving: Deriving,
    listeners: Listeners,
}

impl Herald {
    /// Tells of everything that is committed from now on.
    pub fn new(
        mut ledger: Box<dyn Ledger>,
        space: Space,
        known_as: (String, String),
        listeners: Listeners,
    ) -> Result<Self> {
        let deriving = Deriving::new(space, Part::Fast, ledger.tail()?);
        Ok(Self { ledger, known_as, deriving, listeners })
    }

    /// Tells until there is nothing more to come.
    pub fn run(mut self, news: &Spout) {
        let (mut troubled, mut tried) = (self.look().is_err(), Instant::now());
        loop {
            match news.wait(troubled.then_some(AGAIN)) {
                Ok(News::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                // While the store is in trouble everything is read from the ledger later.
                Ok(news) if !troubled => troubled = self.hear(news).is_err(),
                Ok(_) | Err(RecvTimeoutError::Timeout) => {}
            }
            if troubled && tried.elapsed() >= AGAIN {
                self.deriving.go_to(self.deriving.at);
                (troubled, tried) = (self.look().is_err(), Instant::now());
            }
        }
    }

    fn hear(&mut self, news: News) -> Result<()> {
        let Self { ledger, known_as, deriving, listeners } = self;
        deriving.mind_work(listeners.are_there());
        match news {
            News::Moved { landed, upto, durable } if upto > deriving.at => {
                let tell = &mut |event| tell(listeners, known_as, event, Some(durable));
                deriving.landed(&mut **ledger, &landed, upto, tell)?;
            }
            News::Quiet(upto) => deriving.at = deriving.at.max(upto),
            News::Look => self.look()?,
            News::Moved { .. } | News::Stop => {}
        }
        Ok(())
    }

    /// Tells of what the ledger has and nobody was told of yet.
    fn look(&mut self) -> Result<()> {
        let Self { ledger, known_as, deriving, listeners } = self;
        deriving.mind_work(listeners.are_there());
        loop {
            let page = ledger.read_all(deriving.at, PAGE)?;
            if page.is_empty() {
                deriving.rest();
                return Ok(());
            }
            for stored in &page {
                deriving.record(&mut **ledger, stored, &mut |event| tell(listeners, known_as, event, None))?;
            }
        }
    }
}

fn tell(listeners: &Listeners, (tenant, workspace): &(String, String), event: DomainEvent, durable: Option<Instant>) {
    let body = event.cloud_event(tenant, workspace);
    listeners.tell(Told { event, body, durable });
}
