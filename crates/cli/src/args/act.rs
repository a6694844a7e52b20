//! Commands that act on runs: `cancel`, `pause`, `resume`, `resolve`, `give-up`, `freeze`, `unfreeze`. Each on one, or on
//! all that a search finds.

use super::value::RunRef;
use clap::Args;

/// Which run, or which runs.
#[derive(Debug, Args)]
pub struct Which {
    /// An id, its beginning, or @ for the last run
    #[arg(value_name = "RUN", value_parser = RunRef::parse, required_unless_present = "query", conflicts_with = "query")]
    pub run: Option<RunRef>,
    /// All runs that a search finds, as in `edgewise runs QUERY`
    #[arg(long = "where", id = "query", value_name = "QUERY", allow_hyphen_values = true)]
    pub query: Option<String>,
    /// Do it to all of them without asking
    #[arg(long, requires = "query")]
    pub yes: bool,
    /// Only list them
    #[arg(long, requires = "query", conflicts_with = "yes")]
    pub dry_run: bool,
}

/// Cancel a run: nothing of it starts any more, and what runs is told to stop.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise cancel @
  edgewise cancel k3f9 --why 'wrong version'
  edgewise cancel --where 'flow:release label.team=web since:1h' --dry-run")]
pub struct Cancel {
    /// Which run, or which runs
    #[command(flatten)]
    pub which: Which,
    /// The reason, for whoever reads the history
    #[arg(long, value_name = "TEXT")]
    pub why: Option<String>,
}

/// Pause a run: what runs may finish, nothing new starts.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise pause @       deadlines and timers go on; see `edgewise resume`
  edgewise pause --where 'namespace:ops' --yes")]
pub struct Pause {
    /// Which run, or which runs
    #[command(flatten)]
    pub which: Which,
}

/// Resume a paused run.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise resume @
  edgewise resume --where 'state:paused by:ann'")]
pub struct Resume {
    /// Which run, or which runs
    #[command(flatten)]
    pub which: Which,
}

/// Declare a run dealt with: what is open in it is cancelled, and it counts as resolved.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise resolve @ --why 'done by hand'")]
pub struct Resolve {
    /// Which run, or which runs
    #[command(flatten)]
    pub which: Which,
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
    /// Which run, or which runs
    #[command(flatten)]
    pub which: Which,
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
    /// Which run, or which runs
    #[command(flatten)]
    pub which: Which,
    /// The reason, for whoever reads the history
    #[arg(long, value_name = "TEXT")]
    pub why: Option<String>,
}

/// Let a frozen run go on. One that is damaged stays frozen.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise unfreeze @
  edgewise unfreeze --where 'state:frozen by:ann'")]
pub struct Unfreeze {
    /// Which run, or which runs
    #[command(flatten)]
    pub which: Which,
    /// The reason, for whoever reads the history
    #[arg(long, value_name = "TEXT")]
    pub why: Option<String>,
}
