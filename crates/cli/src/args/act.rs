//! Commands that act on a run: `cancel`, `pause`, `resume`, `resolve`, `give-up`, `freeze`, `unfreeze`.

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

/// Declare a run dealt with: what is open in it is cancelled, and it counts as resolved.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise resolve @ --why 'done by hand'")]
pub struct Resolve {
    /// An id, its beginning, or @ for the last run
    #[arg(value_name = "RUN", value_parser = RunRef::parse)]
    pub run: RunRef,
    /// The reason, for whoever reads the history
    #[arg(long, value_name = "TEXT")]
    pub why: Option<String>,
}

/// Let the failures stand that a run holds (`on_failure: hold`): what waits for them is decided.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise give-up @ --why 'not worth it'
  edgewise task reset @ build       or try again instead")]
pub struct GiveUp {
    /// An id, its beginning, or @ for the last run
    #[arg(value_name = "RUN", value_parser = RunRef::parse)]
    pub run: RunRef,
    /// The reason, for whoever reads the history
    #[arg(long, value_name = "TEXT")]
    pub why: Option<String>,
}

/// Freeze a run: nothing but reading works on it until it is unfrozen.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise freeze @ --why 'evidence for the audit'")]
pub struct Freeze {
    /// An id, its beginning, or @ for the last run
    #[arg(value_name = "RUN", value_parser = RunRef::parse)]
    pub run: RunRef,
    /// The reason, for whoever reads the history
    #[arg(long, value_name = "TEXT")]
    pub why: Option<String>,
}

/// Let a frozen run go on. One that is damaged stays frozen.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise unfreeze @")]
pub struct Unfreeze {
    /// An id, its beginning, or @ for the last run
    #[arg(value_name = "RUN", value_parser = RunRef::parse)]
    pub run: RunRef,
    /// The reason, for whoever reads the history
    #[arg(long, value_name = "TEXT")]
    pub why: Option<String>,
}
