//! Commands that act on a run: `cancel`, `pause`, `resume`.

use super::value::RunRef;
use clap::Args;

/// Cancel a run: nothing of it starts any more, and what runs is told to stop.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise cancel @
  edgewise cancel k3f9 --why 'wrong version'")]
pub struct Cancel {
    /// An id, its beginning, or @ for the last run
    #[arg(value_name = "RUN", value_parser = RunRef::parse)]
    pub run: RunRef,
    /// The reason, for whoever reads the history
    #[arg(long, value_name = "TEXT")]
    pub why: Option<String>,
}

/// Pause a run: what runs may finish, nothing new starts.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise pause @       deadlines and timers go on; see `edgewise resume`")]
pub struct Pause {
    /// An id, its beginning, or @ for the last run
    #[arg(value_name = "RUN", value_parser = RunRef::parse)]
    pub run: RunRef,
}

/// Resume a paused run.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise resume @")]
pub struct Resume {
    /// An id, its beginning, or @ for the last run
    #[arg(value_name = "RUN", value_parser = RunRef::parse)]
    pub run: RunRef,
}
