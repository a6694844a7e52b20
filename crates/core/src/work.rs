//! The work graph: items for people and agents, and what waits for what.
//!
//! One stream for each workspace, beside those of its runs. Stored are base facts alone: items, dependencies, gates,
//! claims. Who is blocked, by what, how urgent something is and what is ready are derived from one graph, the
//! waits-for graph, which also refuses cycles: so none of these can disagree with another.

mod dependency;
mod event;
mod filter;
mod gate;
mod id;
mod item;
mod op;
mod reason;
mod standing;

pub use dependency::{Dependency, DependencyKind, Group, When};
pub use event::{
    ClaimExtended, DependencyAdded, DependencyRemoved, GateActed, GateMade, GateRejected, GateSatisfied, ItemAct,
    ItemAdded, ItemChanged, ItemClaimed, ItemClosed, ItemMoved, ItemReleased, RunEnded, Waiter, WorkEvent,
};
pub use filter::{Filter, Sort};
pub use gate::{GateEnded, GateWait, WorkGate};
pub use id::{ItemId, Target};
pub use item::{Change, Claimed, Close, Closed, Details, Fields, Item, ItemKind, Phase, Status, TaskType};
pub use op::{Act, Add, CloseOp, Depend, Done, Op};
pub use reason::{Help, Reason};
pub use standing::{Blocker, Obstacle, Standing};
