//! The desk: what one commit is decided on. Cached runs, hints about what is ready and due, and the batch.
//!
//! Guard first, fold second: [`Desk::record`] asks the fold's own check, then folds, then remembers the event
//! for the append. Nothing leaves the desk before the append is durable. After a failed or unknown
//! append the runs concerned are forgotten and loaded anew; hints are only ever hints.

mod adopt;
mod answers;
mod bounds;
mod control;
mod frozen;
mod news;
mod own;
mod queues;
mod whole;
mod work;

pub(crate) use adopt::lost_lease;
pub(crate) use bounds::{Given, offer, offer_turn};
pub(crate) use control::CachedControl;
pub(crate) use work::CachedWork;

use crate::cached::Cached;
use crate::command::no_such_run;

use crate::entropy::Entropy;
use crate::lanes::Lanes;
use crate::leases::{Lease, Leases};
use crate::links::Links;
use crate::load::{self, Plans};
use crate::metrics::{Counts, Durations};
use crate::publish::Tap;
use crate::queues::{self as open_queues, Queues};
use crate::rates::Rates;
use crate::request::Encoded;
use crate::ticks::Ticks;
use edgewise_core::event::{AttemptRef, Event, TaskIx, TimerKey};
use edgewise_core::fold::{Changes, Ignored, Stamp, Verdict, check, fold};
use edgewise_core::id::{EventId, PlanHash, RunId, TokenHash};
use edgewise_core::name::Name;
use edgewise_core::plan::Plan;
use edgewise_core::run::Run;
use edgewise_core::state::{RunState, TaskState};
use edgewise_core::time::Time;
use edgewise_core::work::Done;
use edgewise_core::{Kind, Result};
use edgewise_store::quick::QuickMap;
use edgewise_store::{KeyClaim, Ledger, Position, Projections, Space, Stream};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Whose streams these are.
#[derive(Debug, Clone)]
pub struct Home {
    /// Who owns them.
    pub tenant: Name,
    /// Where they live.
    pub workspace: Name,
}

impl Home {
    /// The one workspace of an embedded store: `local/default`.
    pub fn local() -> Self {
        let name = |text| Name::parse(text).unwrap_or_else(|_| unreachable!("a good name"));
        Self { tenant: name("local"), workspace: name("default") }
    }

    /// A run's stream.
    pub fn stream(&self, run: RunId) -> Stream {
        Stream { tenant: self.tenant.clone(), workspace: self.workspace.clone(), run }
    }

    /// Its walls.
    pub fn space(&self) -> Space {
        Space { tenant: self.tenant.clone(), workspace: self.workspace.clone() }
    }
}

/// What the name of a worker within an engine's own process starts with.
pub(crate) const LOCAL: &str = "local/";

pub(crate) struct Desk {
    pub ledger: Box<dyn Ledger>,
    pub projections: Box<dyn Projections>,
    pub home: Home,
    /// Which engine this is: in every record it writes, and in the names of its local workers.
    pub source: Arc<str>,
    pub entropy: Entropy,
    pub now: Time,
    /// Each behind a pointer: a table has room for more than is in it, and moves all of it when it grows.
    pub runs: QuickMap<RunId, Box<Cached>>,
    pub frozen: BTreeMap<RunId, String>,
    /// Flows, schedules and settings.
    pub control: CachedControl,
    /// Items, dependencies and gates.
    pub work: CachedWork,
    pub lanes: Lanes,
    pub leases: Leases,
    pub queues: open_queues::Open,
    /// What whoever runs the engine says of queues.
    pub given_queues: Queues,
    pub rates: Rates,
    /// Others may have granted what this engine has not seen: nothing bounded begins.
    pub blind: bool,
    pub timers: BTreeSet<(Time, RunId, TimerKey)>,
    /// When schedules are looked at.
    pub ticks: Ticks,
    /// Runs whose fold stopped at its bound on inline work.
    pub advancing: BTreeSet<RunId>,
    /// Tasks whose children are to be looked at.
    pub links: Links,
    /// How many tasks the runs on the desk have together.
    pub cached_tasks: u64,
    /// Runs that were put on the desk since somebody last looked whether they must stay.
    pub fresh: Vec<RunId>,
    /// Runs that the sweep has still to look at, and from which task on if it has looked at a part.
    pub to_sweep: Vec<(RunId, Option<TaskIx>)>,
    /// Runs that were forgotten and could not be loaded yet.
    pub unloaded: BTreeSet<RunId>,
    /// Leases of a commit in doubt: if it landed, nobody was told of them.
    pub undelivered: Vec<(RunId, AttemptRef)>,
    /// Runs that were found to be over when they were loaded, and how: they may be put away before anybody is told.
    pub found_over: Vec<(RunId, RunState)>,
    /// Up to here everything was written by this engine, or was on its desk.
    pub seen: Position,
    /// The ledger went on further than was seen, and a bounded append was refused for it.
    pub astray: bool,
    /// Whether an earlier engine's runs are being taken over: its own workers are gone then.
    pub recovering: bool,
    /// Whether it found no rows at all when it came up.
    pub rowless: bool,
    /// Leases that were ended by others, or by a commit that was not seen to land: their workers are to be told.
    pub ended_elsewhere: Vec<(RunId, AttemptRef)>,
    /// Runs with rows that are behind.
    pub dirty: BTreeSet<RunId>,
    /// About how many task rows are behind.
    pub rows_behind: usize,
    /// Runs that were taken away and whose rows are still there.
    pub gone: Vec<Stream>,
    /// Why the last append was not written; `None` once one is.
    pub trouble: Option<String>,
    pub batch: Batch,
    pub counts: Counts,
    /// From ready to leased.
    pub ready_to_start: Durations,
    /// Whoever publishes what is told to the outside world.
    pub tap: Option<Tap>,
    /// The plan that was encoded last.
    pub encoded: Encoded,
    changes: Changes,
    plans: Plans,
}

/// What one commit stages.
#[derive(Default)]
pub(crate) struct Batch {
    /// Runs with events to append, in the order in which they were first touched.
    pub touched: Vec<RunId>,
    pub keys: Vec<KeyClaim>,
    /// What keyed operations come to; said again to whoever asks again, once the commit has landed.
    pub answers: BTreeMap<String, Vec<Done>>,
    pub plans: Vec<(PlanHash, Vec<u8>)>,
    /// Leases to keep once the grant is durable, and tasks whose lease is over.
    pub leases: Vec<(RunId, TaskIx, Lease)>,
    pub leases_over: Vec<(RunId, TaskIx)>,
    /// Leases taken out because they are over; put back if the commit does not land.
    pub lapsed: Vec<(RunId, TaskIx, Lease)>,
    /// Leases of runs that it freezes, as they were before their workers were refused; put back if it does not land.
    pub refused: Vec<(RunId, TaskIx, Lease)>,
    /// Leases that were ended by something else than their own finish.
    pub revoked: Vec<(RunId, AttemptRef)>,
    /// Attempts whose workers are known to have stopped: revoked or not, they hold no slots once this has landed.
    pub stopped: Vec<(RunId, TaskIx, TokenHash)>,
    /// Slots that it gives and takes.
    pub given: Given,
    /// Runs that ended.
    pub ended: Vec<RunId>,
    /// Plans of runs that are started here, for children that begin before they are stored.
    pub fresh_plans: BTreeMap<PlanHash, Arc<Plan>>,
    /// Streams that were only read, and where they ended: what was decided on them holds only if they still do.
    pub relied: BTreeMap<RunId, u64>,
    /// Runs that it freezes or lets go on, with the marks they had before.
    pub marks: BTreeMap<RunId, Option<String>>,
    /// Links that were looked at; looked at again if the commit does not land.
    pub looked_at: Vec<(RunId, TaskIx)>,
    /// Something that was staged could not be kept while something else was taken back: nothing of it may be written.
    pub spoiled: bool,
    /// The alarm: a run whose readiness overflowed.
    pub overflow: Option<(RunId, String)>,
}

impl Desk {
    pub fn new(
        ledger: Box<dyn Ledger>,
        projections: Box<dyn Projections>,
        home: Home,
        source: Arc<str>,
        entropy: Entropy,
    ) -> Self {
        Self {
            ledger,
            projections,
            home,
            source,
            entropy,
            now: Time::NEVER,
            runs: QuickMap::default(),
            frozen: BTreeMap::new(),
            control: CachedControl::default(),
            work: CachedWork::default(),
            lanes: Lanes::default(),
            leases: Leases::default(),
            queues: open_queues::Open::default(),
            given_queues: Queues::new(),
            rates: Rates::default(),
            blind: false,
            timers: BTreeSet::new(),
            ticks: Ticks::default(),
            advancing: BTreeSet::new(),
            links: Links::default(),
            cached_tasks: 0,
            fresh: Vec::new(),
            to_sweep: Vec::new(),
            unloaded: BTreeSet::new(),
            undelivered: Vec::new(),
            found_over: Vec::new(),
            seen: Position::default(),
            astray: false,
            recovering: false,
            rowless: false,
            ended_elsewhere: Vec::new(),
            dirty: BTreeSet::new(),
            rows_behind: 0,
            gone: Vec::new(),
            trouble: None,
            batch: Batch::default(),
            counts: Counts::default(),
            ready_to_start: Durations::default(),
            tap: None,
            encoded: Encoded::default(),
            changes: Changes::default(),
            plans: Plans::default(),
        }
    }

    /// A run, loaded if it is not here. Refused if it is frozen.
    pub fn open(&mut self, run: RunId) -> Result<&mut Cached> {
        if !run.is_run() {
            return Err(no_such_run(run));
        }
        if self.is_frozen(run)? {
            return Err(self.rests(run));
        }
        if !self.runs.contains_key(&run) {
            self.load(run)?;
        }
        self.runs.get_mut(&run).map(Box::as_mut).ok_or_else(|| no_such_run(run))
    }

    /// A plan that is in the ledger.
    pub fn plan_of(&mut self, hash: PlanHash) -> Result<Arc<edgewise_core::plan::Plan>> {
        load::plan_of(&mut *self.ledger, hash, &mut self.plans)
    }

    /// The run that a hint is about. One that cannot be read now is loaded later, and brings its hints along.
    pub fn open_hinted(&mut self, run: RunId) -> Option<&mut Cached> {
        match self.open(run).map(drop) {
            Ok(()) => self.runs.get_mut(&run).map(Box::as_mut),
            Err(error) => {
                if error.kind == Kind::Unavailable {
                    self.unloaded.insert(run);
                }
                None
            }
        }
    }

    /// Puts a run on the desk: its rows, and the ledger's tail after them.
    fn load(&mut self, run: RunId) -> Result<()> {
        let stream = self.home.stream(run);
        let loaded = load::load(&mut *self.ledger, &mut *self.projections, &stream, &mut self.plans);
        let cached = match loaded {
            Err(error) if error.kind == Kind::Corrupt => {
                self.freeze(run, &error.message)?;
                return Err(error);
            }
            Err(error) if error.kind == Kind::NotFound => {
                self.end_leases(run, None);
                return Err(error);
            }
            other => other?,
        };
        let kept = self.kept_leases(&cached)?;
        self.counts.loads += 1;
        if let Some(reason) = cached.run.freeze_mark() {
            // Frozen by another engine: its event is heard of here.
            self.set_frozen(run, &reason);
            self.adopt_leases(cached, kept);
            return Err(self.rests(run));
        }
        self.adopt(cached, kept);
        Ok(())
    }

    fn keep(&mut self, cached: Cached) {
        let run = cached.run.id;
        self.put_away(run);
        self.fresh.push(run);
        self.runs.insert(run, Box::new(cached));
        self.recount(run);
    }

    /// Takes a run off the desk.
    pub fn put_away(&mut self, run: RunId) {
        if let Some(cached) = self.runs.remove(&run) {
            self.cached_tasks -= cached.counted;
        }
    }

    /// Counts a run's tasks anew: a spread makes more of them.
    pub fn recount(&mut self, run: RunId) {
        if let Some(cached) = self.runs.get_mut(&run) {
            self.cached_tasks -= std::mem::replace(&mut cached.counted, cached.run.tasks.held() as u64);
            self.cached_tasks += cached.counted;
        }
    }

    /// Puts a new run on the desk.
    pub fn begin(&mut self, run: Run) {
        let stream = self.home.stream(run.id);
        self.keep(Cached::new(run, stream));
    }

    /// Decides an event about a run on the desk, folds it, and keeps it for the append.
    pub fn record(&mut self, run: RunId, event: Event) -> std::result::Result<(), Ignored> {
        if whole::opens(&event) && !self.make_whole(run) {
            return Err(Ignored::Unknown);
        }
        let Some(cached) = self.runs.get_mut(&run) else { return Err(Ignored::Unknown) };
        check(&cached.run, self.now, &event)?;
        if cached.events.is_empty() {
            cached.first_id = EventId::mint(self.now, self.entropy.bits(), cached.run.last);
            self.batch.touched.push(run);
        }
        let stamp = Stamp { id: cached.first_id.plus(cached.events.len() as u64), at: self.now };
        self.changes.clear();
        let was_done = cached.run.state.is_done();
        let verdict = fold(&mut cached.run, stamp, &event, &mut self.changes);
        cached.events.push(event);
        self.rows_behind += cached.note(&self.changes);
        match verdict {
            Verdict::Applied => {}
            Verdict::Ignored(ignored) => return Err(ignored),
            Verdict::Overflow(task) => {
                let path = cached.run.path(task);
                self.batch.overflow =
                    Some((run, format!("ReadinessOverflow: `{path}` has more resolved edges than edges")));
                return Ok(());
            }
        }
        if cached.run.state.is_done() && !was_done {
            self.batch.ended.push(run);
            cached.run.parent.iter().for_each(|parent| self.links.ended(parent.run, parent.link));
        }
        self.links.due.extend(self.changes.links.iter().map(|task| (run, *task)));
        if cached.run.is_advancing() {
            self.advancing.insert(run);
        }
        for task in &self.changes.ready {
            offer(&mut self.lanes, &mut self.queues, &cached.run, *task);
        }
        for step in self.changes.moves.iter().filter(|s| s.from == TaskState::Enqueued && s.to != TaskState::InProgress)
        {
            if cached.run.task(step.task).is_none_or(|task| task.state != TaskState::Enqueued) {
                bounds::withdraw(&mut self.lanes, &mut self.queues, &cached.run, step.task);
            }
        }
        for (key, due) in &self.changes.timers_set {
            self.timers.insert((*due, run, *key));
        }
        let left = self.changes.moves.iter().filter(|step| step.from == TaskState::InProgress);
        let over = self.batch.leases_over.len();
        let told: BTreeSet<TaskIx> = self.changes.revoked.iter().map(|lease| lease.task).collect();
        self.batch.leases_over.extend(left.map(|step| (run, step.task)));
        self.batch.revoked.extend(self.changes.revoked.iter().map(|lease| (run, *lease)));
        for at in over..self.batch.leases_over.len() {
            let (run, task) = self.batch.leases_over[at];
            // Whoever was told to stop has not stopped yet.
            if !told.contains(&task) {
                self.gives_back(run, task);
            }
        }
        Ok(())
    }

    /// Keeps a plan for the append, and for runs of it that begin before.
    pub fn keep_plan(&mut self, hash: PlanHash, plan: &Arc<Plan>, bytes: impl FnOnce() -> Vec<u8>) {
        if self.batch.fresh_plans.insert(hash, Arc::clone(plan)).is_none() {
            self.batch.plans.push((hash, bytes()));
        }
    }

    /// A plan that is stored, or will be with this commit.
    pub fn plan(&mut self, hash: PlanHash) -> Result<Arc<Plan>> {
        match self.batch.fresh_plans.get(&hash) {
            Some(plan) => Ok(Arc::clone(plan)),
            None => load::plan_of(&mut *self.ledger, hash, &mut self.plans),
        }
    }

    /// Remembers that the commit is decided on a run that it may not change: it lands only if nobody else does.
    pub fn rely_on(&mut self, run: RunId) {
        let seq = match run {
            RunId::WORK => self.work.durable,
            run => self.runs.get(&run).map_or(0, |cached| cached.durable),
        };
        self.batch.relied.insert(run, seq);
    }

    /// A lease's deadline moved: its row follows with the next flush, so that the next engine keeps to it.
    pub fn lease_moved(&mut self, run: RunId, task: TaskIx) {
        if let Some(cached) = self.runs.get_mut(&run) {
            self.rows_behind += usize::from(cached.note_lease(task));
            self.dirty.insert(run);
        }
    }

    /// Forgets runs whose state is not what the ledger says, and loads them anew: nothing of them is lost.
    /// Leases stay: their workers are at work, whatever became of a commit.
    pub fn forget(&mut self, runs: &[RunId]) {
        // Their plans stay as they are: whoever loads them anew need not read these again.
        let plan = |run| Some(Arc::clone(&self.runs.get(run)?.run.plan));
        let _plans: Vec<Arc<Plan>> = runs.iter().filter_map(plan).collect();
        for run in runs {
            self.put_away(*run);
            self.dirty.remove(run);
            self.advancing.remove(run);
        }
        if runs.contains(&RunId::CONTROL) {
            self.forget_control();
        }
        if runs.contains(&RunId::WORK) {
            self.forget_work();
        }
        self.lanes.forget(runs);
        self.unloaded.extend(runs);
        self.load_forgotten();
    }

    /// Loads what was forgotten, now or as soon as the store answers.
    pub fn load_forgotten(&mut self) {
        for run in std::mem::take(&mut self.unloaded) {
            // A run that never reached the ledger is simply gone; one that cannot be read is frozen by now.
            let loaded = match run {
                RunId::CONTROL => self.control().map(drop),
                run if self.frozen.contains_key(&run) => self.load_frozen(run),
                // It may be here still, without what others wrote: only that could not be read.
                RunId::WORK => self.newest_work().map(drop),
                run => self.open(run).map(drop),
            };
            if loaded.is_err_and(|e| e.kind == Kind::Unavailable) {
                self.unloaded.insert(run);
            }
        }
    }
}
