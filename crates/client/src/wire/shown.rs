//! What is shown: runs, tasks, items, flows and pictures as `--json` prints them.
//!
//! The engine writes these forms; here they are said once more, for the OpenAPI document and for whoever reads them in
//! Rust. What is told apart by a word within it, such as why a task waits, keeps the rest of its fields open.

mod drawing;
mod flow;
mod insight;
mod item;
mod run;

pub use drawing::Drawing;
pub use flow::{FlowChecked, FlowPlan, QueuesShown, ScheduleShown};
pub use insight::{Foretold, RunHistory, RunLogs, RunTiming, RunWhy};
pub use item::{GateShown, ItemCycles, ItemHistory, ItemReason, ItemShown, ItemStats, ItemTree, Primer};
pub use run::{RunGateShown, RunListed, RunShown, TaskShown};
