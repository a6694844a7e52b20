//! Webhooks: events of a queue, sent to an address, signed as Standard Webhooks says.
//!
//! ```text
//! queue ──► one task for each hook ──► POST ──► 2xx: the hook's place moves on
//!                    ▲                  │
//!                    └── wait, again ◄──┤ anything else, some times; then a dead letter
//!                                       └ 410: the hook is switched off
//! ```
//!
//! Each hook has a place in its queue, a task and a connection of its own, and holds one page of events: one that hangs
//! delays neither a run nor another hook. The events of one hook are sent in their order, one after another.

mod dead;
mod deliver;
mod hook;
mod judge;
mod sign;

pub use dead::{DeadLetter, Replay};
pub use deliver::{Delivering, Dice, Means, Post, Reply, Sleep};
pub use hook::{Hook, Hooks, Shown};
pub use judge::{ATTEMPTS, Next, judge};
pub(crate) use sign::{Former, OVERLAP, signatures};
pub use sign::{Secret, TOLERANCE, verify};
