//! The stores under the storm: in memory, or a folder with SQLite files; both behind faults, with rows that lag.

use edgewise_core::Result;
use edgewise_core::control::ControlRows;
use edgewise_core::event::TaskIx;
use edgewise_core::id::{PlanHash, RunId};
use edgewise_core::rows::{LeaseRow, OutboxRow, RunRow, TaskRow, TimerRow};
use edgewise_core::time::Time;
use edgewise_core::work::part::Drawer;
use edgewise_core::work::{ItemId, ItemRow, Note, WorkRows};
use edgewise_store::faulty::{Faults, FaultyLedger, FaultyProjections};
use edgewise_store::memory::{MemoryLedger, MemoryProjections};
use edgewise_store::{Domain, Flush, ItemOrder, Ledger, Position, Projections, RunFilter, RunRows, Stream, sqlite};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tempfile::TempDir;

/// Both halves of an open store.
pub(crate) type Halves = (Box<dyn Ledger>, Box<dyn Projections>);

/// Where a seed is played.
pub(crate) enum Store {
    Memory(MemoryLedger, MemoryProjections),
    Folder(TempDir),
}

impl Store {
    pub fn in_memory() -> Self {
        Self::Memory(MemoryLedger::default(), MemoryProjections::default())
    }

    pub fn in_a_folder() -> std::io::Result<Self> {
        Ok(Self::Folder(tempfile::tempdir()?))
    }

    /// Handles that never fail.
    pub fn plain(&self) -> Result<Halves> {
        Ok(match self {
            Self::Memory(ledger, rows) => (Box::new(ledger.clone()), Box::new(rows.clone())),
            Self::Folder(dir) => {
                let stores = sqlite::open(dir.path())?;
                (Box::new(stores.ledger), Box::new(stores.projections))
            }
        })
    }

    /// The ledger with its queues of domain events, which never fails.
    pub fn domain(&self) -> Result<Box<dyn Domain>> {
        Ok(match self {
            Self::Memory(ledger, _) => Box::new(ledger.clone()),
            Self::Folder(dir) => Box::new(sqlite::open(dir.path())?.ledger),
        })
    }

    /// The same, failing as told.
    pub fn faulty_domain(&self, faults: &Faults) -> Result<Box<dyn Domain>> {
        Ok(match self {
            Self::Memory(ledger, _) => Box::new(FaultyLedger::new(ledger.clone(), faults.clone())),
            Self::Folder(dir) => Box::new(FaultyLedger::new(sqlite::open(dir.path())?.ledger, faults.clone())),
        })
    }

    /// Handles that fail as told.
    pub fn faulty(&self, faults: &Faults, lag: &Lag) -> Result<Halves> {
        Ok(match self {
            Self::Memory(ledger, rows) => wrap(ledger.clone(), rows.clone(), faults, lag),
            Self::Folder(dir) => {
                let stores = sqlite::open(dir.path())?;
                wrap(stores.ledger, stores.projections, faults, lag)
            }
        })
    }

    /// All rows are lost; true if that can be done here.
    pub fn lose_rows(&mut self) -> bool {
        match self {
            Self::Memory(_, rows) => *rows = MemoryProjections::default(),
            Self::Folder(_) => return false,
        }
        true
    }
}

fn wrap<L, P>(ledger: L, rows: P, faults: &Faults, lag: &Lag) -> Halves
where
    L: Ledger + 'static,
    P: Projections + 'static,
{
    let rows = Lagging { inner: rows, lag: lag.clone() };
    (Box::new(FaultyLedger::new(ledger, faults.clone())), Box::new(FaultyProjections::new(rows, faults.clone())))
}

/// Old rows, for whoever is to load them. Clones are handles on the same ones.
#[derive(Clone, Default)]
pub(crate) struct Lag(Arc<Mutex<Old>>);

#[derive(Default)]
struct Old {
    kept: bool,
    armed: bool,
    struck: bool,
    rows: BTreeMap<RunId, RunRows>,
}

impl Lag {
    fn lock(&self) -> MutexGuard<'_, Old> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on the rows before the last are kept.
    pub fn keep(&self) {
        self.lock().kept = true;
    }

    /// The next load gives old rows, if there are any.
    pub fn arm(&self) {
        self.lock().armed = true;
    }

    /// No load gives old rows any more. True if one did.
    pub fn disarm(&self) -> bool {
        let mut old = self.lock();
        old.armed = false;
        std::mem::take(&mut old.struck)
    }

    pub fn forget(&self) {
        self.lock().rows.clear();
    }
}

/// Rows that are read as they were before they were last written, when told so.
struct Lagging<P> {
    inner: P,
    lag: Lag,
}

impl<P: Projections> Projections for Lagging<P> {
    fn flush(&mut self, flush: &Flush) -> Result<()> {
        if self.lag.lock().kept {
            for change in &flush.runs {
                if let Some(rows) = self.inner.load(&change.stream)? {
                    self.lag.lock().rows.insert(change.stream.run, rows);
                }
            }
        }
        self.inner.flush(flush)
    }

    fn load(&mut self, stream: &Stream) -> Result<Option<RunRows>> {
        let mut old = self.lag.lock();
        if old.armed
            && let Some(rows) = old.rows.get(&stream.run).cloned()
        {
            (old.armed, old.struck) = (false, true);
            return Ok(Some(rows));
        }
        drop(old);
        self.inner.load(stream)
    }

    fn task(&mut self, stream: &Stream, task: TaskIx) -> Result<Option<TaskRow>> {
        self.inner.task(stream, task)
    }

    fn watermark(&mut self) -> Result<Position> {
        self.inner.watermark()
    }

    fn runs(&mut self, filter: &RunFilter) -> Result<Vec<(Stream, RunRow)>> {
        self.inner.runs(filter)
    }

    fn outbox(&mut self) -> Result<Vec<(Stream, OutboxRow)>> {
        self.inner.outbox()
    }

    fn timers(&mut self) -> Result<Vec<(Stream, TimerRow)>> {
        self.inner.timers()
    }

    fn leases(&mut self) -> Result<Vec<(Stream, LeaseRow)>> {
        self.inner.leases()
    }

    fn lease(&mut self, stream: &Stream, task: TaskIx) -> Result<Option<LeaseRow>> {
        self.inner.lease(stream, task)
    }

    fn control(&mut self, stream: &Stream) -> Result<Option<ControlRows>> {
        self.inner.control(stream)
    }

    fn work(&mut self, stream: &Stream) -> Result<Option<WorkRows>> {
        self.inner.work(stream)
    }

    fn work_head(&mut self, stream: &Stream) -> Result<u64> {
        self.inner.work_head(stream)
    }

    fn work_due(&mut self, stream: &Stream) -> Result<Option<Time>> {
        self.inner.work_due(stream)
    }

    fn work_drawer(&mut self, stream: &Stream, see: &mut dyn FnMut(&mut dyn Drawer) -> Result<()>) -> Result<u64> {
        self.inner.work_drawer(stream, see)
    }

    fn work_ids(&mut self, stream: &Stream, prefix: &str, limit: usize) -> Result<Vec<ItemId>> {
        self.inner.work_ids(stream, prefix, limit)
    }

    fn walk_items(
        &mut self,
        stream: &Stream,
        order: ItemOrder,
        see: &mut dyn FnMut(ItemRow) -> Result<bool>,
    ) -> Result<u64> {
        self.inner.walk_items(stream, order, see)
    }

    fn work_notes(&mut self, stream: &Stream, item: &str) -> Result<Vec<Note>> {
        self.inner.work_notes(stream, item)
    }

    fn forget(&mut self, stream: &Stream) -> Result<()> {
        self.inner.forget(stream)
    }

    fn has_plan(&mut self, plan: PlanHash) -> Result<bool> {
        self.inner.has_plan(plan)
    }
}
