//! The store in memory: the reference that the others are measured against. Plain vectors and maps.
//!
//! A handle can be cloned, and all clones are the same memory. So a test that drops its engine and opens
//! another one on a clone has crashed and restarted it, with exactly what was committed.

mod domain;
mod ledger;
mod projections;
mod work;

pub use ledger::MemoryLedger;
pub use projections::MemoryProjections;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Memory that outlives its handles' owners.
#[derive(Debug, Default)]
struct Shared<T>(Arc<Mutex<T>>);

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Shared<T> {
    /// Nothing is half done under the lock, so a panic elsewhere leaves nothing broken behind.
    fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
