//! The benchmark: a few loads on a fresh store, in this process, with handlers that do nothing.
//!
//! Ratios within one run mean something on a shared machine; absolute rates hardly do. What is counted
//! (commits, events, rows, bytes) is exact everywhere.

mod load;
mod measure;
mod pure;
mod rerun;
mod schedules;
mod search;
mod server;
mod waiting;
mod work;

pub use load::{LOADS, Load};
pub use measure::{Figures, idle_mb, measure};
pub use pure::{PureFigures, fold_some, pure, read_some};
pub use rerun::{RerunFigures, rerun};
pub use schedules::{ScheduleFigures, schedules};
pub use search::{SearchFigures, search};
pub use server::{CrowdFigures, ServerFigures, server};
pub use waiting::{ASIDE, BACKLOG, Beside, backlog, limits};
pub use work::{WorkFigures, work};
