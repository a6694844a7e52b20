//! The work graph's commands: what can be typed about items, dependencies and gates.

mod add;
mod agent;
mod carry;
mod change;
mod claim;
mod dep;
mod filter;
mod look;
mod moment;
mod word;

pub use add::Add;
pub use agent::{Mcp, Prime};
pub use carry::{Batch, ExportItems, Import, ImportForm};
pub use change::{Close, Delete, Reopen, Update};
pub use claim::{Claim, Release};
pub use dep::{Dep, DepAdd, DepCommand, DepCycles, DepList, DepRemove, DepTree, Toward};
pub use filter::Filters;
pub use look::{Blocked, List, Ready, Stats};
pub use moment::Moment;
pub use word::{KindWord, PhaseWord, SortWord, StatusWord, TypeWord, WhenWord};
