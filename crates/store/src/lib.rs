//! The memory of Edgewise: the ledger is ground, the projections are derived from it.
//!
//! A store is a pair: a [`Ledger`], which must not lose anything, and [`Projections`], which a refold
//! gives back. `memory` is the reference; `sqlite` the embedded default; `faulty` wraps either and
//! fails as told; [`conformance`] is the definition of a store, run on all of them.
//!
//! Both traits are synchronous and are called by one thread each: the committer owns the ledger, the
//! compactor the projections. A store that speaks to a server blocks that thread, nobody else.

pub mod conformance;
pub mod domain;
pub mod faulty;
pub mod ledger;
pub mod memory;
pub mod projections;
pub mod quick;
pub mod sqlite;

pub use domain::{Consumer, Document, Domain, Fresh, Namespace, Queued, Space, Span};
pub use ledger::{
    Append, Appended, Gone, Guard, Head, KeyClaim, KeyOwner, Ledger, Marking, Position, Removal, Removed, Stored,
    Stream,
};
pub use projections::{ControlChange, Flush, ItemOrder, Projections, RunChange, RunFilter, RunRows, Term, WorkChange};

/// A store: ground, and what is derived from it.
#[derive(Debug, Clone, Default)]
pub struct Stores<L, P> {
    /// Ground.
    pub ledger: L,
    /// Derived.
    pub projections: P,
}
