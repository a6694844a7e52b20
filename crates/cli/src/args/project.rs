//! Commands about the project and the machine: `init`, `check`, `doctor`, `bench`.

use clap::Args;
use std::path::PathBuf;

/// Make a project here: edgewise.toml and the data folder.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise init
  edgewise init --demo && edgewise run demo.yaml")]
pub struct Init {
    /// Also write demo.yaml, a small flow to run
    #[arg(long)]
    pub demo: bool,
}

/// Check a flow without running it; all problems are shown.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise check build.yaml
  edgewise check build.yaml --json")]
pub struct Check {
    /// The flow
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// Look for damage: refold the ledger, compare the projections, check every invariant.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise doctor             quick: heads, watermark, frozen runs
  edgewise doctor --verify    everything, every byte
  edgewise doctor --rebuild   make the rows anew from the ledger")]
pub struct Doctor {
    /// Read everything again and compare
    #[arg(long)]
    pub verify: bool,
    /// Delete what is derived and fold it again; only while no engine is at work
    #[arg(long)]
    pub rebuild: bool,
}

/// Measure this machine.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise bench              all of them
  edgewise bench chain --quick
  edgewise bench --json")]
pub struct Bench {
    /// Only this one
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// A tenth of the work, for a first look
    #[arg(long)]
    pub quick: bool,
}
