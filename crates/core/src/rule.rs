//! The rules that events share: how edges resolve, when a task is ready, how scopes and runs end.

mod chain;
mod composite;
mod done;
mod edges;
mod opening;
mod outcome;
mod ready;
mod reopen;
mod rerun;
mod spread;
mod stop;
mod sub_run;
mod timers;

pub(crate) use chain::Exit;
pub(crate) use composite::as_value;
pub(crate) use opening::Opening;
pub use outcome::is_handled;
pub(crate) use outcome::{culprit, went_badly};
