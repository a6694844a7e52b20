//! `edgewise task`: what an operator does to one task of a run.

use super::value::RunRef;
use clap::{Args, Subcommand};
use edgewise_core::{Error, Result};
use serde_json::value::RawValue;

/// Repair a run task by task.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise task reset @ build                       new attempts for a failed task
  edgewise task skip @ notify --why 'mail is down'
  edgewise task resolve @ migrate                   it was dealt with by hand, without output
  edgewise task complete @ fetch --with '{\"rows\": 3}'
  edgewise task cancel @ 'build[3]'")]
pub struct Task {
    /// What to do.
    #[command(subcommand)]
    pub command: TaskCommand,
}

/// What can be done to a task.
#[derive(Debug, Subcommand)]
pub enum TaskCommand {
    /// Give a failed task new attempts
    Reset(TaskAct),
    /// Leave out a task that is not done; what follows is skipped too unless it accepts that
    Skip(TaskAct),
    /// Cancel a task that is not done; what follows is cancelled too unless it accepts that
    Cancel(TaskAct),
    /// Declare a task dealt with, without output; what follows goes on
    Resolve(TaskAct),
    /// Declare a task complete, with an output; what follows goes on
    Complete(TaskComplete),
}

/// An act on a task.
#[derive(Debug, Args)]
pub struct TaskAct {
    /// An id, its beginning, or @ for the last run
    #[arg(value_name = "RUN", value_parser = RunRef::parse)]
    pub run: RunRef,
    /// The task's path, as `show` prints it
    #[arg(value_name = "TASK")]
    pub task: String,
    /// The reason, for whoever reads the history
    #[arg(long, value_name = "TEXT")]
    pub why: Option<String>,
}

/// An output in place of a task's own.
#[derive(Debug, Args)]
pub struct TaskComplete {
    /// Which task, and why.
    #[command(flatten)]
    pub act: TaskAct,
    /// The output, as JSON
    #[arg(long, value_name = "JSON", value_parser = json)]
    pub with: Box<RawValue>,
}

fn json(text: &str) -> Result<Box<RawValue>> {
    serde_json::from_str(text).map_err(|error| {
        Error::invalid(
            "bad_output",
            format!("{text:?} is not JSON ({error}): a text needs its quotes, as in '\"done\"'"),
        )
    })
}
