//! Looking at runs without being the engine: rows plus the ledger's tail, also while another process writes.

mod elsewhere;
mod past;
mod peek;
mod told;
mod work;

pub use elsewhere::Asking;
pub use past::Past;
pub use peek::{Peek, SentLogs};
pub use told::Told;

use crate::desk::Home;
use crate::load::{self, Plans};
use edgewise_core::control::{Control, Registered};
use edgewise_core::event::{Envelope, Event, decode};
use edgewise_core::fold::{Changes, Stamp, fold};
use edgewise_core::id::{PlanHash, RunId};
use edgewise_core::name::Name;
use edgewise_core::plan::Plan;
use edgewise_core::rows::RunRow;
use edgewise_core::run::Run;
use edgewise_core::{Error, Result};
use edgewise_store::{Gone, KeyClaim, Ledger, Position, Projections, RunFilter, Stream, Term, sqlite};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Most records read at once.
const PAGE: usize = 1_000;

/// A view of a store that changes nothing.
pub struct Reader {
    ledger: Box<dyn Ledger>,
    projections: Box<dyn Projections>,
    home: Home,
    plans: Plans,
    /// What the workspace was set to when it was last looked at.
    control: Option<Control>,
    /// The plan that was last asked for by its hash: whoever starts one flow again and again reads it once.
    last_plan: Option<(PlanHash, Arc<Plan>)>,
    /// Where the logs of commands are, if that is known here.
    logs: Option<PathBuf>,
}

/// A record as it was committed, with where it stands.
pub struct Committed {
    /// The seq of its first event.
    pub first: u64,
    /// What its events share.
    pub envelope: Envelope,
    /// Its events.
    pub events: Vec<Event>,
}

impl Reader {
    /// Looks into a folder.
    pub fn open(dir: &Path, home: Home) -> Result<Self> {
        let stores = sqlite::open_reader(dir)?;
        let over = Self::over(Box::new(stores.ledger), Box::new(stores.projections), home);
        Ok(Self { logs: Some(dir.join("logs")), ..over })
    }

    /// Looks at any store.
    pub fn over(ledger: Box<dyn Ledger>, projections: Box<dyn Projections>, home: Home) -> Self {
        Self { ledger, projections, home, plans: Plans::default(), control: None, last_plan: None, logs: None }
    }

    /// A run as it is now.
    pub fn run(&mut self, run: RunId) -> Result<Run> {
        let stream = self.home.stream(run);
        Ok(load::load(&mut *self.ledger, &mut *self.projections, &stream, &mut self.plans)?.run)
    }

    /// What the workspace is set to, as it is now.
    pub fn control(&mut self) -> Result<Control> {
        self.newest_control().cloned()
    }

    /// A flow that is registered, as it is now.
    pub fn flow(&mut self, name: &Name) -> Result<Option<Registered>> {
        Ok(self.newest_control()?.flows.get(name).cloned())
    }

    /// Read again only where something was written since.
    fn newest_control(&mut self) -> Result<&Control> {
        let stream = self.home.stream(RunId::CONTROL);
        let head = self.ledger.head(&stream)?.seq;
        let control = match self.control.take().filter(|known| known.seq == head) {
            Some(known) => known,
            None => load::load_control(&mut *self.ledger, &mut *self.projections, &stream)?.state,
        };
        Ok(self.control.insert(control))
    }

    /// A plan out of the ledger.
    pub fn plan(&mut self, hash: PlanHash) -> Result<Arc<Plan>> {
        if let Some((known, plan)) = &self.last_plan
            && *known == hash
        {
            return Ok(Arc::clone(plan));
        }
        let plan = load::plan_of(&mut *self.ledger, hash, &mut self.plans)?;
        self.last_plan = Some((hash, Arc::clone(&plan)));
        Ok(plan)
    }

    /// Folds what was appended since into a run; true if anything was.
    pub fn catch_up(&mut self, run: &mut Run) -> Result<bool> {
        let before = run.seq;
        let mut changes = Changes::default();
        for record in self.records(run.id, run.seq)? {
            for (n, event) in record.events.iter().enumerate() {
                let stamp = Stamp { id: record.envelope.id.plus(n as u64), at: record.envelope.at };
                changes.clear();
                fold(run, stamp, event, &mut changes);
            }
            // Who watches a long loop holds no more of it than who runs it; the ledger has the rest.
            let over = std::mem::take(&mut run.over);
            run.release(over);
        }
        Ok(run.seq > before)
    }

    /// The records of a run after a seq, verified.
    pub fn records(&mut self, run: RunId, after: u64) -> Result<Vec<Committed>> {
        let (mut records, mut after) = (Vec::new(), after);
        loop {
            let page = self.some_records(run, after)?;
            let Some(last) = page.last() else { return Ok(records) };
            after = last.first + last.events.len() as u64 - 1;
            records.extend(page);
        }
    }

    /// Some records of a run after a seq, verified; none at its end.
    pub fn some_records(&mut self, run: RunId, after: u64) -> Result<Vec<Committed>> {
        let mut records = Vec::new();
        for stored in self.ledger.read(&self.home.stream(run), after, PAGE)? {
            stored.record.verify(&stored.stream.label())?;
            let (envelope, events) = decode(&stored.record)?;
            records.push(Committed { first: stored.record.first, envelope, events });
        }
        Ok(records)
    }

    /// The run that a person means: an id, a unique beginning of one, or `@` for the newest.
    pub fn find(&mut self, text: &str) -> Result<RunId> {
        if text == "@" {
            let newest = self.roots(&RunFilter { limit: 1, ..RunFilter::default() })?;
            let none = || Error::not_found("no_runs", "there are no runs yet; start one with `edgewise run FILE`");
            return newest.first().map(|r| r.id).ok_or_else(none);
        }
        let found = self.ledger.find(text, 5)?;
        let is_ours =
            |s: &&Stream| s.run.is_run() && s.tenant == self.home.tenant && s.workspace == self.home.workspace;
        let ours: Vec<&Stream> = found.iter().filter(is_ours).collect();
        match ours.as_slice() {
            [] => Err(self.no_run(text)?),
            [one] => Ok(one.run),
            several => {
                let ids: Vec<String> = several.iter().map(|s| s.run.to_string()).collect();
                let message = format!("{text:?} could be any of {}; type more of it", ids.join(", "));
                Err(Error::conflict("run_ambiguous", message))
            }
        }
    }

    /// Why there is no run of this name: it was taken away, or never was.
    fn no_run(&mut self, text: &str) -> Result<Error> {
        let gone = RunId::parse(&text.to_ascii_lowercase()).ok().map(|run| self.gone(run)).transpose()?.flatten();
        let message = match gone {
            Some(gone) => format!(
                "run {text} ended at {} and was taken away at {}; a backup may still have it",
                gone.ended_at, gone.removed_at
            ),
            None => format!("no run starts with {text:?}; `edgewise runs` lists them"),
        };
        Ok(Error::not_found("run_not_found", message))
    }

    /// Runs, the newest first, each as it is now: rows that are behind are brought up to date.
    pub fn runs(&mut self, filter: &RunFilter) -> Result<Vec<RunRow>> {
        let filter = self.by_key(filter)?;
        let filter = &self.by_mark(filter)?;
        let behind = self.behind()?;
        let mut rows: Vec<RunRow> = Vec::new();
        for run in &behind {
            match self.run(*run) {
                Ok(run) => rows.extend(run.row().filter(|row| filter.matches(row))),
                Err(error) if error.kind == edgewise_core::Kind::Corrupt => {}
                Err(error) => return Err(error),
            }
        }
        // Some of those that are behind may not fit any more: others come in their place.
        let limit = filter.limit.saturating_add(behind.len());
        let written = self.projections.runs(&RunFilter { limit, ..filter.clone() })?;
        rows.extend(written.into_iter().map(|(_, row)| row).filter(|row| !behind.contains(&row.id)));
        rows.sort_by_key(|row| std::cmp::Reverse((row.triggered_at, row.id)));
        rows.truncate(filter.limit);
        Ok(rows)
    }

    /// The ledger knows whose a key is: no need to look for it.
    fn by_key(&mut self, filter: &RunFilter) -> Result<RunFilter> {
        let mut filter = filter.clone();
        let key = filter.terms.iter().find_map(|term| match term {
            Term::Key(key) => Some(key.clone()),
            _ => None,
        });
        if let Some(key) = key {
            // The run in the claim is not looked at, only its walls.
            let claim = KeyClaim { stream: self.home.stream(RunId(0)), key, body: 0 };
            let owner = self.ledger.key(&claim)?.map_or(RunId(0), |owner| owner.run);
            filter.terms.push(Term::Run(owner));
        }
        Ok(filter)
    }

    /// The ledger knows which runs are frozen: rows may be behind, and of what was only marked they know nothing.
    fn by_mark(&mut self, mut filter: RunFilter) -> Result<RunFilter> {
        if !filter.terms.iter().chain(&filter.not).any(|term| *term == Term::Frozen) {
            return Ok(filter);
        }
        let (home, frozen) = (self.home.clone(), self.ledger.frozen()?);
        let ours = frozen.into_iter().map(|(stream, _)| stream).filter(|stream| *stream == home.stream(stream.run));
        let runs: BTreeSet<RunId> = ours.map(|stream| stream.run).filter(|run| run.is_run()).collect();
        for term in filter.terms.iter_mut().chain(&mut filter.not).filter(|term| **term == Term::Frozen) {
            *term = Term::OneOf(runs.clone());
        }
        Ok(filter)
    }

    /// What is remembered of a run that was taken away.
    pub fn gone(&mut self, run: RunId) -> Result<Option<Gone>> {
        self.ledger.gone(&self.home.stream(run))
    }

    /// The same without runs that are parts of others.
    pub fn roots(&mut self, filter: &RunFilter) -> Result<Vec<RunRow>> {
        let mut limit = filter.limit;
        loop {
            let mut rows = self.runs(&RunFilter { limit, ..filter.clone() })?;
            let all = rows.len() < limit;
            rows.retain(|row| row.parent().is_none());
            if all || rows.len() >= filter.limit {
                rows.truncate(filter.limit);
                return Ok(rows);
            }
            // Children may be many more than what they are part of.
            limit = limit.saturating_mul(4);
        }
    }

    /// A run's own row as it is now; `None` if there is no such run.
    pub fn row(&mut self, run: RunId) -> Result<Option<RunRow>> {
        let stream = self.home.stream(run);
        let head = self.ledger.head(&stream)?;
        if head.seq == 0 {
            return Ok(None);
        }
        match self.projections.run(&stream)? {
            Some(row) if row.applied_seq == head.seq => Ok(Some(row)),
            _ => Ok(self.run(run)?.row()),
        }
    }

    /// Runs with records that the rows do not have yet.
    fn behind(&mut self) -> Result<BTreeSet<RunId>> {
        let mut behind = BTreeSet::new();
        let mut at: Position = self.projections.watermark()?;
        loop {
            let page = self.ledger.read_all(at, PAGE)?;
            let Some(last) = page.last() else { return Ok(behind) };
            at = last.position;
            let ours = page
                .iter()
                .filter(|s| s.stream.run.is_run())
                .filter(|s| s.stream.tenant == self.home.tenant && s.stream.workspace == self.home.workspace);
            behind.extend(ours.map(|s| s.stream.run));
        }
    }

    /// Why a run is frozen, if it is: its mark. Whether somebody froze it is said by the run itself.
    pub fn frozen(&mut self, run: RunId) -> Result<Option<String>> {
        self.ledger.mark(&self.home.stream(run))
    }

    /// The store's two halves, for whoever must look at everything.
    pub fn halves(&mut self) -> (&mut dyn Ledger, &mut dyn Projections) {
        (&mut *self.ledger, &mut *self.projections)
    }
}
