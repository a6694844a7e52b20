//! `edgewise demo`: a flow that is there already.

use clap::Args;

/// Run a flow in a folder of its own and show what came of it; with --chaos the engine is killed all the while.
#[derive(Debug, Args)]
#[command(after_help = "\
A spread, retries, a gate and a failure that is handled, some tens of small tasks. With --chaos the process that is the
engine gets SIGKILL again and again, and another one goes on. The exit code is 0 if nothing was lost or done twice.

Examples:
  edgewise demo
  edgewise demo --chaos
  edgewise demo --chaos --seconds 60 --keep")]
pub struct Demo {
    /// Kill the engine again and again
    #[arg(long)]
    pub chaos: bool,
    /// For how long it is killed, but at least twice; then the run may end in peace
    #[arg(long, value_name = "N", default_value_t = 15, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    pub seconds: u64,
    /// Keep the folder, to look into it with `edgewise --dir`
    #[arg(long)]
    pub keep: bool,
}
