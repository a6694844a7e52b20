//! Publishing: domain events are derived from the ledger after the commit, and nothing waits for them.
//!
//! ```text
//! committer ──tap──► publisher: fold ─► derive ─┬─► whoever listens now       fast, broadcast
//!    (never waits)        ▲                     └─► queue and cursor, one     durable, broadcast
//!                      ledger                       transaction
//! ```
//!
//! The publisher folds the runs that tell something a second time, so that what it tells is a function of the ledger
//! alone. A tap that is full, an engine that was killed and a ledger that others wrote to all end the same way: the
//! publisher reads on from its cursor.

mod ear;
mod listeners;
mod publisher;
mod shelf;
mod shell;
mod tap;

pub use ear::Ear;
pub use listeners::{Heard, Listener, Listeners, Losses, Told};
pub use publisher::Publisher;
pub(crate) use shelf::place_of;
pub use shelf::{Batch, Shelf};
pub(crate) use shell::{Publishing, start};
pub(crate) use tap::{Moved, Tap};

use edgewise_core::time::Millis;

/// How long an event is kept that every consumer of its queue has acknowledged, unless it is said otherwise.
pub const KEPT: Millis = Millis(7 * 24 * 3_600_000);
