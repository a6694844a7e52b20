//! A store that fails as told: wraps any other, counts every operation, and breaks the ones in the plan.
//!
//! What can go wrong with a store is a short list ([`Fault`]). When it goes wrong is said beforehand, by
//! number or by seed, so a failing test fails again. One [`Faults`] may be shared by ledger and projections;
//! the test keeps a clone of it to count, to add faults later, or to end them.

mod domain;
mod ledger;
mod plan;
mod projections;

#[cfg(test)]
mod tests;

pub use ledger::FaultyLedger;
pub use plan::{Fault, Faults, Op};
pub use projections::FaultyProjections;

use edgewise_core::Error;

/// The error a fault answers with; the same kinds and codes that real stores have.
fn error(fault: Fault, op: Op) -> Error {
    let say = |code, what: &str| Error::unavailable(code, format!("{op:?} failed as the test's plan told: {what}"));
    match fault {
        Fault::Refused | Fault::Conflict => say("store_busy", "the store is busy; try again"),
        Fault::DiskFull => say("disk_full", "the disk is full; make room and try again"),
        Fault::SyncFailed { .. } => say("sync_failed", "the disk did not confirm a write; this process must end"),
        Fault::AnswerLost { .. } => say("unknown_commit", "it may or may not have happened; read back"),
        Fault::Damaged => {
            Error::corrupt("damaged_file", format!("{op:?} failed as the test's plan told: what is stored is damaged"))
        }
    }
}
