//! The work graph: items for people and agents, and what waits for what.
//!
//! One stream for each workspace, beside those of its runs. Stored are base facts alone: items, dependencies, gates,
//! claims. Who is blocked, by what, how urgent something is and what is ready are derived from one graph, the
//! waits-for graph, which also refuses cycles: so none of these can disagree with another.
//!
//! ```text
//! event ──► check ──► fold: base facts ──► settle: blocked, urgency, ready order ──► Changed: rows, notes
//! ```

mod act;
mod blocked;
mod cycle;
mod dependency;
mod due;
mod event;
mod filter;
mod fold;
mod gate;
mod id;
mod ids;
mod item;
mod lineage;
mod link;
mod note;
mod op;
mod order;
pub mod part;
mod query;
mod ready;
mod reason;
mod rows;
pub mod scratch;
mod seen;
mod settle;
mod standing;
mod stats;
mod table;
mod tree;
mod undo;
mod urgency;
mod waiters;
mod waits;
mod whole;
mod why;

pub use dependency::{Dependency, DependencyKind, Group, When};
pub use event::{
    ClaimExtended, DependencyAdded, DependencyRemoved, GateActed, GateAwaited, GateMade, GateRejected, GateSatisfied,
    GateWaiter, ItemAct, ItemAdded, ItemChanged, ItemClaimed, ItemClosed, ItemMoved, ItemReleased, RunEnded,
    RunGateEnd, RunGateEnded, Waiter, WorkEvent,
};
pub use filter::{Filter, Sort};
pub use fold::{check, fold};
pub use gate::{GateEnded, GateWait, WorkGate};
pub use id::{ItemId, Target};
pub use item::{Change, Claimed, Close, Closed, Details, Fields, Item, ItemKind, Phase, Status, TaskType};
pub use note::{Changed, DependencyKey, Note, NoteKind};
pub use op::{Act, Add, CloseOp, Depend, Done, Op, ReopenOp};
pub use reason::{Help, Reason};
pub use rows::{DependencyRow, GateRow, ItemRow, RunEndRow, WorkRows};
pub use standing::{Blocker, Facts, Obstacle, Standing};
pub use stats::Stats;
pub use tree::{Branch, Direction};
pub use waiters::GateWaiters;

use crate::id::{EventId, RunId};
use crate::time::Time;
use std::collections::{BTreeMap, BTreeSet};
use table::{Edge, GateSlot, Known, RunSlot, Slot};

/// All items, dependencies and gates of a workspace, with everything derived of them.
#[derive(Debug, Clone, Default)]
pub struct Work {
    /// The seq of the last event.
    pub seq: u64,
    /// The id of the last event.
    pub last: EventId,
    ids: BTreeMap<ItemId, Known>,
    items: Vec<Slot>,
    gates: Vec<GateSlot>,
    run_numbers: BTreeMap<RunId, u32>,
    runs: Vec<RunSlot>,
    /// Dependencies under their numbers; `None` where a number is free.
    edges: Vec<Option<Edge>>,
    free_edges: Vec<u32>,
    /// Who points to a text that nobody here knows.
    strangers: BTreeMap<Target, Vec<u32>>,
    /// What could be begun, time and claims left aside, in order.
    ready: BTreeSet<ready::Place>,
    /// When claims end.
    claims: BTreeSet<(Time, u32)>,
    /// When timer gates open.
    timers: BTreeSet<(Time, u32)>,
    /// Where tasks of runs stand at gates.
    places: waiters::Places,
    /// When ephemeral instances go away.
    ephemeral: BTreeSet<(Time, u32)>,
    /// Where each node of the waits-for graph stands.
    order: order::Order,
    pending: settle::Pending,
    /// What to undo to, while a command may still be refused.
    before: Option<Box<undo::Before>>,
}
