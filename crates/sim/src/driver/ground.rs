//! What a world stands on: memory, or a folder in which the power can fail in the middle of a write.

use super::{World, home};
use crate::store::Halves;
use edgewise_engine::reader::Reader;
use edgewise_store::faulty::{Faults, FaultyLedger, FaultyProjections};
use edgewise_store::{Ledger, Projections, sqlite};
use std::path::Path;
use tempfile::TempDir;

/// Which of the two files was being written when the power failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Torn {
    /// What was committed.
    Ledger,
    /// What was derived.
    Rows,
}

/// What the power leaves of a folder.
pub type Tear = Box<dyn FnOnce(&Path, Torn)>;

/// The files that outlive a machine; the index of a log is made anew from it.
const FILES: [&str; 4] = ["ledger.db", "ledger.db-wal", "state.db", "state.db-wal"];

fn a_folder() -> TempDir {
    tempfile::tempdir().unwrap_or_else(|e| panic!("{e}"))
}

fn copy(from: &Path, to: &Path) {
    for file in FILES.iter().filter(|file| from.join(file).exists()) {
        std::fs::copy(from.join(file), to.join(file)).unwrap_or_else(|e| panic!("{file}: {e}"));
    }
}

fn wrap<L: Ledger + 'static, P: Projections + 'static>(ledger: L, rows: P, faults: &Faults) -> Halves {
    (Box::new(FaultyLedger::new(ledger, faults.clone())), Box::new(FaultyProjections::new(rows, faults.clone())))
}

impl World {
    /// The same world over SQLite files in a folder of its own.
    pub fn in_a_folder(seed: u64, faults: Faults) -> Self {
        let mut world = Self::with(seed, Faults::none());
        world.committer = None;
        (world.folder, world.faults, world.lives, world.steps) = (Some(a_folder()), faults, 0, 0);
        world.look_there();
        world.crash();
        world
    }

    /// Handles that fail as told.
    pub(super) fn faulty(&self) -> Halves {
        let Some(dir) = &self.folder else { return wrap(self.ledger.clone(), self.rows.clone(), &self.faults) };
        let stores = sqlite::open(dir.path()).unwrap_or_else(|e| panic!("{e}"));
        wrap(stores.ledger, stores.projections, &self.faults)
    }

    /// The witness looks at the files that there are now.
    fn look_there(&mut self) {
        let Some(dir) = self.folder.as_ref().map(TempDir::path) else { return };
        let open = || sqlite::open(dir).unwrap_or_else(|e| panic!("{e}"));
        let (seen, read) = (open(), open());
        let reader = Reader::over(Box::new(read.ledger), Box::new(read.projections), home());
        self.witness.ledger_is_now(Box::new(seen.ledger));
        self.witness.rows_are_now(Box::new(seen.projections), reader);
    }

    /// The power fails in a write, if it is to: the machine comes up again over what the disk has. True if it did.
    pub(super) fn lose_power(&mut self, torn: Torn) -> bool {
        let (Some(dir), Some(tear)) = (&self.folder, self.tears.take()) else { return false };
        let left = a_folder();
        copy(dir.path(), left.path());
        tear(left.path(), torn);
        self.committer = None;
        let gone = self.folder.replace(left);
        self.look_there();
        drop(gone);
        true
    }
}
