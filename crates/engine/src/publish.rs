//! Publishing: domain events are derived from the ledger after the commit, and nothing waits for them.
//!
//! ```text
//! committer ──tap──┬─► herald: fold ─► derive ─────► whoever listens now       fast, broadcast
//!    (never waits)  └─► publisher: fold ─► derive ──► queue and cursor, one     durable, broadcast
//!                            ▲                        transaction
//!                         ledger
//! ```
//!
//! Both fold the runs that tell something of their part once more, so that what they tell is a function of the ledger
//! alone, and neither waits for the other: who listens does not wait for a queue to be written. A tap that is full, an
//! engine that was killed and a ledger that others wrote to all end the same way: the publisher reads on from its cursor.
//!
//! The work graph is too large to be held once more: of what its own engine commits the notes are handed over, and only
//! who reads on from a cursor folds it again, from its first event.

mod derive;
mod ear;
mod herald;
mod listeners;
mod publisher;
mod shelf;
mod shell;
mod tap;
mod work;

pub use ear::Ear;
pub use listeners::{Heard, Listener, Listeners, Losses, Told};
pub use publisher::Publisher;
pub(crate) use shelf::place_of;
pub use shelf::{Batch, Shelf};
pub(crate) use shell::{Publishing, start};
pub(crate) use tap::{Landed, Moved, Noted, Tap};

use edgewise_core::time::Millis;
use edgewise_store::{Domain, Ledger};

/// Handles on a ledger for whoever publishes beside the committer. Two, because one who writes queues keeps nobody from
/// reading who tells of what happens now.
pub struct Telling {
    /// Read for what fast events tell of.
    pub news: Box<dyn Ledger>,
    /// Read for what durable events tell of, and written.
    pub queues: Box<dyn Domain>,
}

/// How long an event is kept that every consumer of its queue has acknowledged, unless it is said otherwise.
pub const KEPT: Millis = Millis(7 * 24 * 3_600_000);
