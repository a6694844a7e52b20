//! The publisher without its thread: records in, domain events out.

use super::listeners::{Listeners, Told};
use super::tap::{Moved, News};
use crate::load::{Plans, first_plan, plan_of};
use edgewise_core::domain::{DomainEvent, told};
use edgewise_core::event::{Event, decode};
use edgewise_core::fold::{Changes, Stamp, Verdict, fold};
use edgewise_core::id::{EventId, RunId};
use edgewise_core::run::Run;
use edgewise_core::time::{Millis, Time};
use edgewise_core::{Error, Kind, Result};
use edgewise_store::{Domain, Fresh, Position, Space, Stored, Stream};
use std::collections::{HashMap, HashSet};
use std::time::Instant;

/// Records read at once.
const PAGE: usize = 1_000;
/// Runs that tell something and are at work, kept folded; more of them are folded anew when they move.
const RUNS: usize = 5_000;
/// Runs that are known to tell nothing.
const QUIET: usize = 100_000;
/// Events that wait to be written; more of them are derived again from the ledger.
pub(super) const WAITING: usize = 10_000;
/// The cursor follows so many positions late when nothing is told.
const LATE: u64 = 10_000;
/// Events taken away at once that nobody needs any more.
const EXPIRED: usize = 1_000;

/// When events happen that are folded.
#[derive(Clone, Copy)]
enum Moment {
    /// Before anybody listened: nobody hears of them.
    Past,
    /// Now; when they were durable is known of what the committer said.
    Now(Option<Instant>),
}

/// Derives domain events from a ledger, tells listeners, and keeps the queues.
pub struct Publisher {
    ledger: Box<dyn Domain>,
    space: Space,
    /// What the space is called outside: tenant and workspace.
    known_as: (String, String),
    listeners: Listeners,
    runs: HashMap<RunId, Run>,
    quiet: HashSet<RunId>,
    plans: Plans,
    /// Up to here everything was derived.
    at: Position,
    /// Up to here everything is in the queues.
    written: Position,
    /// What stands behind this happens while it is there: listeners are told of that, and of nothing older.
    began: Position,
    waiting: Vec<Fresh>,
    changes: Changes,
}

impl Publisher {
    /// Begins where the last publisher ended; where nobody ever published, behind all that is there, because nothing
    /// of it was told to anybody.
    pub fn open(mut ledger: Box<dyn Domain>, space: Space, listeners: Listeners) -> Result<Self> {
        let began = ledger.tail()?;
        let at = match ledger.published(&space)? {
            Some(at) => at,
            None => {
                ledger.publish(&space, &[], began)?;
                began
            }
        };
        Ok(Self::at(ledger, space, listeners, (at, began)))
    }

    /// One that begins to derive at a place, and tells listeners only of what stands behind another.
    fn at(ledger: Box<dyn Domain>, space: Space, listeners: Listeners, (at, began): (Position, Position)) -> Self {
        let known_as = (space.tenant.to_string(), space.workspace.to_string());
        let (runs, quiet, plans, waiting, changes) = Default::default();
        Self { ledger, space, known_as, listeners, runs, quiet, plans, at, written: at, began, waiting, changes }
    }

    /// One whose events say that they come from a workspace of this name; a workspace may be called otherwise inside.
    #[must_use]
    pub fn known_as(self, name: Option<(String, String)>) -> Self {
        let known_as = name.unwrap_or_else(|| self.known_as.clone());
        Self { known_as, ..self }
    }

    /// Derives everything that was published once more, in the order of the ledger, and writes nothing.
    pub(crate) fn again(
        mut ledger: Box<dyn Domain>,
        space: Space,
        see: &mut dyn FnMut(Fresh) -> Result<()>,
    ) -> Result<()> {
        let Some(upto) = ledger.published(&space)? else { return Ok(()) };
        let mut own = Self::at(ledger, space, Listeners::default(), (Position(0), upto));
        loop {
            let page = own.ledger.read_all(own.at, PAGE)?;
            for stored in page.iter().take_while(|stored| stored.position <= upto) {
                own.record(stored)?;
                own.waiting.drain(..).try_for_each(&mut *see)?;
            }
            match page.last().map(|stored| stored.position) {
                Some(last) if last < upto => own.at = last,
                _ => return Ok(()),
            }
        }
    }

    /// Derives what the ledger has and nobody published yet.
    pub fn look(&mut self) -> Result<()> {
        loop {
            let page = self.ledger.read_all(self.at, PAGE)?;
            let Some(last) = page.last().map(|stored| stored.position) else { return Ok(()) };
            for stored in &page {
                self.record(stored)?;
                self.at = stored.position;
                if self.waiting.len() >= WAITING {
                    self.write()?;
                }
            }
            self.at = last;
        }
    }

    /// What the committer said. `false` once there is nothing more to come.
    pub(crate) fn hear(&mut self, news: News) -> Result<bool> {
        match news {
            News::Moved { runs, upto, durable } if upto > self.at => {
                for moved in runs {
                    self.moved(moved, durable)?;
                }
                self.at = upto;
            }
            News::Quiet(upto) => self.at = self.at.max(upto),
            News::Moved { .. } => {}
            News::Look => self.look()?,
            News::Stop => return Ok(false),
        }
        Ok(true)
    }

    /// Whether something waits to be written.
    pub fn is_behind(&self) -> bool {
        !self.waiting.is_empty() || self.at.0 - self.written.0 >= LATE
    }

    /// How many events wait to be written.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Writes what waits, with the cursor, in one transaction.
    pub fn write(&mut self) -> Result<()> {
        if !self.is_behind() {
            return Ok(());
        }
        let fresh = self.ledger.publish(&self.space, &self.waiting, self.at)?;
        self.waiting.clear();
        self.written = self.at;
        self.listeners.queued(fresh);
        Ok(())
    }

    /// Forgets what could not be written: it is derived again from the cursor.
    pub fn rewind(&mut self) {
        self.waiting.clear();
        self.runs.clear();
        self.at = self.written;
    }

    /// Takes events away that everybody has acknowledged and that are old enough.
    pub fn expire(&mut self, now: Time, kept: Millis) -> Result<()> {
        let before = Time(now.0.saturating_sub(kept.0));
        while self.ledger.expire_events(&self.space, before, EXPIRED)? == EXPIRED {}
        Ok(())
    }

    fn stream(&self, run: RunId) -> Stream {
        Stream { tenant: self.space.tenant.clone(), workspace: self.space.workspace.clone(), run }
    }

    fn moved(&mut self, moved: Moved, durable: Instant) -> Result<()> {
        let Moved { run: id, plan_hash, plan, first, id: first_id, at, events } = moved;
        if first == 1 {
            self.runs.insert(id, Run::new(id, plan_hash, plan));
        }
        self.bring(id, first)?;
        self.fold(id, (first_id, at), &events, Moment::Now(Some(durable)));
        Ok(())
    }

    fn record(&mut self, stored: &Stored) -> Result<()> {
        let Stream { tenant, workspace, run } = &stored.stream;
        let ours = *tenant == self.space.tenant && *workspace == self.space.workspace && run.is_run();
        if !ours || self.quiet.contains(run) {
            return Ok(());
        }
        let read = self.bring(*run, stored.record.first).and_then(|there| {
            if !there {
                return Ok(None);
            }
            stored.record.verify(&stored.stream.label())?;
            decode(&stored.record).map(Some)
        });
        match read {
            Ok(Some((envelope, events))) => {
                let moment = if stored.position > self.began { Moment::Now(None) } else { Moment::Past };
                self.fold(*run, (envelope.id, envelope.at), &events, moment);
            }
            Ok(None) => {}
            // Damage concerns its own run only, and freezes it elsewhere: the others are told of.
            Err(error) if error.kind == Kind::Corrupt => self.hush(*run),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn hush(&mut self, run: RunId) {
        if self.quiet.len() >= QUIET {
            self.quiet.clear();
        }
        self.runs.remove(&run);
        self.quiet.insert(run);
    }

    /// Has a run folded up to an event; false if it tells nothing, or is not there any more.
    fn bring(&mut self, id: RunId, first: u64) -> Result<bool> {
        if self.runs.get(&id).is_some_and(|run| run.seq + 1 == first) {
            return Ok(true);
        }
        let stream = self.stream(id);
        let Some(begin) = self.ledger.read(&stream, 0, 1)?.into_iter().next() else { return Ok(false) };
        let hash = first_plan(&begin)?;
        let plan = plan_of(&mut *self.ledger, hash, &mut self.plans)?;
        if !plan.tells {
            self.hush(id);
            return Ok(false);
        }
        let mut run = Run::new(id, hash, plan);
        while run.seq + 1 < first {
            let page = self.ledger.read(&stream, run.seq, PAGE)?;
            if page.is_empty() {
                let message = format!("run {id} has no event {}: its ledger is damaged", run.seq + 1);
                return Err(Error::corrupt("seq_gap", message));
            }
            for stored in page.iter().filter(|stored| stored.record.first < first) {
                stored.record.verify(&stream.label())?;
                let (envelope, events) = decode(&stored.record)?;
                fold_all(&mut run, (envelope.id, envelope.at), &events, &mut self.changes, &mut |_| {});
            }
        }
        if self.runs.len() >= RUNS {
            self.runs.clear();
        }
        self.runs.insert(id, run);
        Ok(true)
    }

    fn fold(&mut self, id: RunId, begun: (EventId, Time), events: &[Event], moment: Moment) {
        let Self { runs, changes, listeners, waiting, known_as, .. } = self;
        let Some(run) = runs.get_mut(&id) else { return };
        fold_all(run, begun, events, changes, &mut |event| {
            let body = event.cloud_event(&known_as.0, &known_as.1);
            if event.delivery.is_durable() {
                let DomainEvent { namespace, id, name, at, .. } = event.clone();
                waiting.push(Fresh { namespace, id, name, at, body: body.to_string() });
            }
            if let (Moment::Now(durable), true) = (moment, event.delivery.is_fast()) {
                listeners.tell(Told { event, body, durable });
            }
        });
        if run.state.is_done() {
            runs.remove(&id);
        }
    }
}

fn fold_all(
    run: &mut Run,
    (first, at): (EventId, Time),
    events: &[Event],
    changes: &mut Changes,
    tell: &mut dyn FnMut(DomainEvent),
) {
    for (n, event) in (0..).zip(events) {
        changes.clear();
        if fold(run, Stamp { id: first.plus(n), at }, event, changes) == Verdict::Applied {
            told(run, at, changes, tell);
        }
        // What a loop is done with need not stay: nothing is told of it any more.
        let over = std::mem::take(&mut run.over);
        run.release(over);
    }
}
