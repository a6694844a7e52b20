//! Every store is run through the one suite that says what a store is.

use edgewise_core::Result;
use edgewise_store::conformance::{self, Place};
use edgewise_store::faulty::{Faults, FaultyLedger, FaultyProjections};
use edgewise_store::memory::{MemoryLedger, MemoryProjections};
use edgewise_store::{Stores, sqlite};
use tempfile::TempDir;

#[derive(Default)]
struct InMemory(Stores<MemoryLedger, MemoryProjections>);

impl Place for InMemory {
    type Ledger = MemoryLedger;
    type Projections = MemoryProjections;

    fn open(&self) -> Result<Stores<MemoryLedger, MemoryProjections>> {
        Ok(self.0.clone())
    }
}

struct OnDisk(TempDir);

impl OnDisk {
    fn new() -> Self {
        Self(TempDir::new().expect("a temporary folder"))
    }
}

impl Place for OnDisk {
    type Ledger = sqlite::SqliteLedger;
    type Projections = sqlite::SqliteProjections;

    fn open(&self) -> Result<sqlite::Stores> {
        sqlite::open(self.0.path())
    }
}

/// Any place, seen through a wrapper that is told nothing.
struct Wrapped<P>(P);

impl<P: Place> Place for Wrapped<P> {
    type Ledger = FaultyLedger<P::Ledger>;
    type Projections = FaultyProjections<P::Projections>;

    fn open(&self) -> Result<Stores<Self::Ledger, Self::Projections>> {
        let (stores, faults) = (self.0.open()?, Faults::none());
        Ok(Stores {
            ledger: FaultyLedger::new(stores.ledger, faults.clone()),
            projections: FaultyProjections::new(stores.projections, faults),
        })
    }
}

#[test]
fn memory_is_a_store() {
    conformance::run(InMemory::default);
}

#[test]
fn sqlite_is_a_store() {
    conformance::run(OnDisk::new);
}

#[test]
fn memory_behind_a_wrapper_without_faults_is_a_store() {
    conformance::run(|| Wrapped(InMemory::default()));
}

#[test]
fn sqlite_behind_a_wrapper_without_faults_is_a_store() {
    conformance::run(|| Wrapped(OnDisk::new()));
}
