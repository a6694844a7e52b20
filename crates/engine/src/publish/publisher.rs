//! The publisher without its thread: durable domain events are derived from a ledger and written into queues, in the
//! order of the ledger, with a cursor.

use super::derive::{Deriving, PAGE, Part};
use super::listeners::Listeners;
use super::tap::News;
use edgewise_core::domain::DomainEvent;
use edgewise_core::time::{Millis, Time};
use edgewise_core::{Error, Kind, Result};
use edgewise_store::{Domain, Fresh, Position, Space, Span};

/// Events that wait to be written; more of them are derived again from the ledger.
pub(super) const WAITING: usize = 10_000;
/// The cursor follows so many positions late when nothing is told.
const LATE: u64 = 10_000;
/// Events taken away at once that nobody needs any more.
const EXPIRED: usize = 1_000;

/// Derives durable domain events from a ledger, and keeps the queues.
pub struct Publisher {
    ledger: Box<dyn Domain>,
    space: Space,
    /// What the space is called outside: tenant and workspace.
    known_as: (String, String),
    /// Those who wait for something to be queued.
    listeners: Listeners,
    deriving: Deriving,
    /// Up to here everything is in the queues.
    written: Position,
    waiting: Vec<Fresh>,
}

impl Publisher {
    /// Begins where the last publisher ended; where nobody ever published, behind all that is there, because nothing
    /// of it was told to anybody.
    pub fn open(mut ledger: Box<dyn Domain>, space: Space, listeners: Listeners) -> Result<Self> {
        let at = cursor(&mut *ledger, &space)?;
        Ok(Self::at(ledger, space, listeners, at))
    }

    fn at(ledger: Box<dyn Domain>, space: Space, listeners: Listeners, at: Position) -> Self {
        let known_as = (space.tenant.to_string(), space.workspace.to_string());
        let deriving = Deriving::new(space.clone(), Part::Durable, at);
        Self { ledger, space, known_as, listeners, deriving, written: at, waiting: Vec::new() }
    }

    /// One whose events say that they come from a workspace of this name; a workspace may be called otherwise inside.
    #[must_use]
    pub fn known_as(self, name: (String, String)) -> Self {
        Self { known_as: name, ..self }
    }

    /// Derives everything that was published once more, in the order of the ledger, and writes nothing.
    pub(crate) fn again(
        mut ledger: Box<dyn Domain>,
        space: Space,
        see: &mut dyn FnMut(Fresh) -> Result<()>,
    ) -> Result<()> {
        let Some(upto) = ledger.published(&space)? else { return Ok(()) };
        let mut own = Self::at(ledger, space, Listeners::default(), Position(0));
        loop {
            let page = own.ledger.read_all(own.deriving.at, PAGE)?;
            for stored in page.iter().take_while(|stored| stored.position <= upto) {
                let Self { ledger, deriving, known_as, waiting, .. } = &mut own;
                deriving.record(&mut **ledger, stored, &mut |event| waiting.push(fresh(known_as, &event)))?;
                waiting.drain(..).try_for_each(&mut *see)?;
            }
            if page.last().is_none_or(|stored| stored.position >= upto) {
                return Ok(());
            }
        }
    }

    /// Derives what the ledger has and nobody published yet.
    pub fn look(&mut self) -> Result<()> {
        loop {
            let page = self.ledger.read_all(self.deriving.at, PAGE)?;
            if page.is_empty() {
                self.deriving.rest();
                return Ok(());
            }
            for stored in &page {
                let Self { ledger, deriving, known_as, waiting, .. } = self;
                deriving.record(&mut **ledger, stored, &mut |event| waiting.push(fresh(known_as, &event)))?;
                if self.waiting.len() >= WAITING {
                    self.write()?;
                }
            }
        }
    }

    /// What the committer said. `false` once there is nothing more to come.
    pub(crate) fn hear(&mut self, news: News) -> Result<bool> {
        let Self { ledger, deriving, known_as, waiting, .. } = self;
        match news {
            News::Moved { landed, upto, .. } if upto > deriving.at => {
                let tell = &mut |event| waiting.push(fresh(known_as, &event));
                deriving.landed(&mut **ledger, &landed, upto, tell)?;
            }
            News::Quiet(upto) => deriving.at = deriving.at.max(upto),
            News::Moved { .. } => {}
            News::Look => self.look()?,
            News::Stop => return Ok(false),
        }
        Ok(true)
    }

    /// Whether something waits to be written.
    pub fn is_behind(&self) -> bool {
        !self.waiting.is_empty() || self.deriving.at.0 - self.written.0 >= LATE
    }

    /// How many events wait to be written.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Writes what waits, with the cursor, in one transaction. After an error it must be rewound.
    pub fn write(&mut self) -> Result<()> {
        if !self.is_behind() {
            return Ok(());
        }
        let upto = self.deriving.at;
        let span = Span { after: Some(self.written), upto };
        let Some(fresh) = self.ledger.publish(&self.space, &self.waiting, span)? else {
            let message = "somebody else published meanwhile: read on from where they came to";
            return Err(Error::new(Kind::Conflict, "published_elsewhere", message));
        };
        self.waiting.clear();
        self.written = upto;
        self.listeners.queued(fresh);
        Ok(())
    }

    /// Forgets what could not be written: it is derived again from the cursor. Where that is, the ledger says: the write
    /// may have landed, or somebody else may have published, and what was taken away since must not be put in again.
    pub fn rewind(&mut self) -> Result<()> {
        self.written = cursor(&mut *self.ledger, &self.space)?;
        self.waiting.clear();
        self.deriving.go_to(self.written);
        Ok(())
    }

    /// Takes events away that everybody has acknowledged and that are old enough.
    pub fn expire(&mut self, now: Time, kept: Millis) -> Result<()> {
        let before = Time(now.0.saturating_sub(kept.0));
        while self.ledger.expire_events(&self.space, before, EXPIRED)? == EXPIRED {}
        Ok(())
    }
}

/// Where the last publisher ended; the end of the ledger, and that is said, where nobody ever published.
fn cursor(ledger: &mut dyn Domain, space: &Space) -> Result<Position> {
    loop {
        if let Some(at) = ledger.published(space)? {
            return Ok(at);
        }
        let upto = ledger.tail()?;
        ledger.publish(space, &[], Span { after: None, upto })?;
    }
}

fn fresh((tenant, workspace): &(String, String), event: &DomainEvent) -> Fresh {
    let DomainEvent { namespace, id, name, at, .. } = event.clone();
    Fresh { namespace, id, name, at, body: event.cloud_event(tenant, workspace).to_string() }
}
