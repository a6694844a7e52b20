//! `edgewise gate`: what waits for people, and their answers.

use super::value::RunRef;
use clap::{Args, Subcommand};

/// See what waits for people, and answer it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise gate list
  edgewise gate approve @ release --comment 'looks good'
  edgewise gate approve @ release --as lead
  edgewise gate withdraw @ release
  edgewise gate reject @ release --comment 'not on a Friday'")]
pub struct Gate {
    /// What to do.
    #[command(subcommand)]
    pub command: GateCommand,
}

/// What can be done with gates.
#[derive(Debug, Subcommand)]
pub enum GateCommand {
    /// List the gates that wait
    List(GateList),
    /// Say yes
    Approve(GateAct),
    /// Take a yes back, while the gate is still closed
    Withdraw(GateAct),
    /// Say no: the task fails
    Reject(GateAct),
}

/// Which gates to list.
#[derive(Debug, Args)]
pub struct GateList {
    /// Only of this run
    #[arg(value_name = "RUN", value_parser = RunRef::parse)]
    pub run: Option<RunRef>,
}

/// An answer to a gate.
#[derive(Debug, Args)]
pub struct GateAct {
    /// An id, its beginning, or @ for the last run
    #[arg(value_name = "RUN", value_parser = RunRef::parse)]
    pub run: RunRef,
    /// The gate's task
    #[arg(value_name = "TASK")]
    pub task: String,
    /// What you want to say
    #[arg(long, value_name = "TEXT")]
    pub comment: Option<String>,
}
