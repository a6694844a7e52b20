//! Records in, domain events out. Runs that tell something are folded a second time, so that what is told of them is a
//! function of the ledger alone. The work graph is in `work.rs`.

use super::tap::{Landed, Moved};
use super::work::Graph;
use crate::load::{Plans, first_plan, plan_of};
use edgewise_core::domain::{DomainEvent, told};
use edgewise_core::event::{Event, decode};
use edgewise_core::fold::{Changes, Stamp, Verdict, fold};
use edgewise_core::id::{EventId, RunId};
use edgewise_core::plan::{Delivery, Tells};
use edgewise_core::run::Run;
use edgewise_core::time::Time;
use edgewise_core::{Error, Kind, Result};
use edgewise_store::{Ledger, Position, Space, Stored, Stream};
use std::collections::{HashMap, HashSet};

/// Records read at once.
pub(super) const PAGE: usize = 1_000;
/// Runs that tell something and are at work, kept folded; more of them are folded anew when they move.
const RUNS: usize = 5_000;
/// Runs that are known to tell nothing.
const QUIET: usize = 100_000;

/// Which domain events somebody derives: those that travel one way. One that travels both ways is derived by both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// To whoever listens right now.
    Fast,
    /// Into queues.
    Durable,
}

impl Part {
    fn has(self, delivery: Delivery) -> bool {
        match self {
            Self::Fast => delivery.is_fast(),
            Self::Durable => delivery.is_durable(),
        }
    }

    /// Whether a plan tells anything of this part.
    pub fn is_told_by(self, tells: Tells) -> bool {
        match self {
            Self::Fast => tells.fast,
            Self::Durable => tells.durable,
        }
    }
}

/// Where what is derived goes.
pub(super) type Tell<'a> = &'a mut dyn FnMut(DomainEvent);

/// The runs that tell something, folded up to a place in the ledger.
pub(super) struct Deriving {
    space: Space,
    part: Part,
    runs: HashMap<RunId, Run>,
    quiet: HashSet<RunId>,
    plans: Plans,
    work: Graph,
    /// Up to here everything was derived.
    pub at: Position,
    changes: Changes,
}

impl Deriving {
    /// Begins behind a place.
    pub fn new(space: Space, part: Part, at: Position) -> Self {
        let (runs, quiet, plans, changes) = Default::default();
        let work = Graph::new(&space);
        Self { space, part, runs, quiet, plans, work, at, changes }
    }

    /// Begins again behind a place.
    pub fn go_to(&mut self, at: Position) {
        self.runs.clear();
        self.at = at;
    }

    /// Whether anybody wants to know of the work graph.
    pub fn mind_work(&mut self, wanted: bool) {
        self.work.wanted = wanted;
    }

    /// Everything was read: what is large and not needed at every commit is given back.
    pub fn rest(&mut self) {
        self.work.rest();
    }

    /// What a commit appended.
    pub fn landed(&mut self, ledger: &mut dyn Ledger, landed: &Landed, upto: Position, tell: Tell<'_>) -> Result<()> {
        for moved in &landed.runs {
            self.moved(ledger, moved, tell)?;
        }
        if let Some(noted) = &landed.work {
            self.work.noted(noted, tell);
        }
        self.at = upto;
        Ok(())
    }

    /// What a commit appended to a run.
    fn moved(&mut self, ledger: &mut dyn Ledger, moved: &Moved, tell: Tell<'_>) -> Result<()> {
        let Moved { run: id, plan_hash, plan, first, id: first_id, at, events } = moved;
        if *first == 1 {
            self.runs.insert(*id, Run::new(*id, *plan_hash, plan.clone()));
        }
        self.bring(ledger, *id, *first)?;
        self.fold(*id, (*first_id, *at), events, tell);
        Ok(())
    }

    /// A record of the ledger, right behind what was derived.
    pub fn record(&mut self, ledger: &mut dyn Ledger, stored: &Stored, tell: Tell<'_>) -> Result<()> {
        let Stream { tenant, workspace, run } = &stored.stream;
        let ours = *tenant == self.space.tenant && *workspace == self.space.workspace && !self.quiet.contains(run);
        if ours && *run == RunId::WORK {
            match self.work.record(ledger, stored, tell) {
                Err(error) if error.kind == Kind::Corrupt => self.hush(*run),
                done => done?,
            }
        } else if ours && run.is_run() {
            let read = self.bring(ledger, *run, stored.record.first).and_then(|there| {
                if !there {
                    return Ok(None);
                }
                stored.record.verify(&stored.stream.label())?;
                decode(&stored.record).map(Some)
            });
            match read {
                Ok(Some((envelope, events))) => self.fold(*run, (envelope.id, envelope.at), &events, tell),
                Ok(None) => {}
                // Damage concerns its own run only, and freezes it elsewhere: the others are told of.
                Err(error) if error.kind == Kind::Corrupt => self.hush(*run),
                Err(error) => return Err(error),
            }
        }
        self.at = stored.position;
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
    fn bring(&mut self, ledger: &mut dyn Ledger, id: RunId, first: u64) -> Result<bool> {
        if self.runs.get(&id).is_some_and(|run| run.seq + 1 == first) {
            return Ok(true);
        }
        let Space { tenant, workspace } = self.space.clone();
        let stream = Stream { tenant, workspace, run: id };
        let Some(begin) = ledger.read(&stream, 0, 1)?.into_iter().next() else { return Ok(false) };
        let hash = first_plan(&begin)?;
        let plan = plan_of(ledger, hash, &mut self.plans)?;
        if !self.part.is_told_by(plan.tells) {
            self.hush(id);
            return Ok(false);
        }
        let mut run = Run::new(id, hash, plan);
        while run.seq + 1 < first {
            let page = ledger.read(&stream, run.seq, PAGE)?;
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

    fn fold(&mut self, id: RunId, begun: (EventId, Time), events: &[Event], tell: Tell<'_>) {
        let Self { runs, changes, part, .. } = self;
        let Some(run) = runs.get_mut(&id) else { return };
        fold_all(run, begun, events, changes, &mut |event| {
            if part.has(event.delivery) {
                tell(event);
            }
        });
        if run.state.is_done() {
            runs.remove(&id);
        }
    }
}

fn fold_all(run: &mut Run, (first, at): (EventId, Time), events: &[Event], changes: &mut Changes, tell: Tell<'_>) {
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
