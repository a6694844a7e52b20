//! Commands that look and change nothing: `watch`, `runs`, `show`, `events`, `history`, `logs`, `why`.

use super::value::RunRef;
use clap::builder::RangedU64ValueParser;
use clap::{Args, ValueEnum};
use edgewise_core::name::Name;
use edgewise_core::state::{Phase, RunState};
use std::num::NonZeroU16;

/// Watch a run live until it ends.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise watch         the last run
  edgewise watch k3f9    the run whose id begins so")]
pub struct Watch {
    /// An id, its beginning, or @ for the last run
    #[arg(value_name = "RUN", default_value = "@", value_parser = RunRef::parse)]
    pub run: RunRef,
}

/// List runs, the newest first.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise runs
  edgewise runs --state failed,blocked --flow release
  edgewise runs --limit 1 -q       the id of the last run
  edgewise runs --all              also the runs that are parts of others
  edgewise runs -o jsonl | jq .state")]
pub struct Runs {
    /// Only in these states
    #[arg(long, value_enum, value_name = "STATE", value_delimiter = ',')]
    pub state: Vec<StateWord>,
    /// Only of this flow
    #[arg(long, value_name = "FLOW", value_parser = Name::parse)]
    pub flow: Option<Name>,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = RangedU64ValueParser::<usize>::new().range(1..))]
    pub limit: usize,
    /// Also the runs that are parts of others
    #[arg(long)]
    pub all: bool,
}

impl Runs {
    /// The states that were asked for; all if empty.
    pub fn states(&self) -> Vec<RunState> {
        let asked = |state: &RunState| self.state.iter().any(|word| word.phase() == state.phase());
        RunState::ALL.into_iter().filter(asked).collect()
    }
}

/// The word of a run's state, as tables show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StateWord {
    /// Accepted, nothing runs yet.
    Ready,
    /// A task runs.
    Running,
    /// Waits for the world or a next attempt.
    Waiting,
    /// Held at a failure.
    Blocked,
    /// Ended well.
    Succeeded,
    /// Ended badly.
    Failed,
    /// Was told to stop.
    Cancelled,
}

impl StateWord {
    fn phase(self) -> Phase {
        match self {
            Self::Ready => Phase::Ready,
            Self::Running => Phase::Running,
            Self::Waiting => Phase::Waiting,
            Self::Blocked => Phase::Blocked,
            Self::Succeeded => Phase::Succeeded,
            Self::Failed => Phase::Failed,
            Self::Cancelled => Phase::Cancelled,
        }
    }
}

/// Show a run and its tasks.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise show @            the last run
  edgewise show @ --all      with every item of its spreads, and what was left out
  edgewise show @ 'for#3.load'   one task, with its whole output
  edgewise show k3f9 --json")]
pub struct Show {
    /// An id, its beginning, or @ for the last run
    #[arg(value_name = "RUN", value_parser = RunRef::parse)]
    pub run: RunRef,
    /// Only this task, and all there is to know of it
    #[arg(value_name = "TASK", conflicts_with = "all")]
    pub task: Option<String>,
    /// Also the items of spreads, and what a program did not come to; one line each
    #[arg(long)]
    pub all: bool,
}

/// Show the facts of a run, in order.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise events @
  edgewise events @ --task 'build[3]'
  edgewise events @ -o jsonl | jq .type")]
pub struct Events {
    /// An id, its beginning, or @ for the last run
    #[arg(value_name = "RUN", value_parser = RunRef::parse)]
    pub run: RunRef,
    /// Only of this task
    #[arg(long, value_name = "PATH")]
    pub task: Option<String>,
}

/// Show every transition of a run and of its tasks.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise history @                 the run and all its tasks
  edgewise history @ 'build[3]'      one task
  edgewise history @ -o jsonl | jq 'select(.most_recent)'")]
pub struct History {
    /// An id, its beginning, or @ for the last run
    #[arg(value_name = "RUN", value_parser = RunRef::parse)]
    pub run: RunRef,
    /// Only of this task
    #[arg(value_name = "TASK")]
    pub task: Option<String>,
}

/// Print what tasks wrote.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise logs @                    every task, each line with its path
  edgewise logs @ 'build[3]'         one task, its last attempt
  edgewise logs @ build --attempt 1
  edgewise logs @ build --raw | less -R")]
pub struct Logs {
    /// An id, its beginning, or @ for the last run
    #[arg(value_name = "RUN", value_parser = RunRef::parse)]
    pub run: RunRef,
    /// Only of this task
    #[arg(value_name = "TASK")]
    pub task: Option<String>,
    /// Of this attempt instead of the last
    #[arg(long, value_name = "N", requires = "task")]
    pub attempt: Option<NonZeroU16>,
    /// The bytes as they were written, control characters too
    #[arg(long, requires = "task")]
    pub raw: bool,
}

/// Say why a run or a task is where it is, and what would move it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise why @              why the last run is not over, or failed
  edgewise why @ publish      what this task waits for")]
pub struct Why {
    /// An id, its beginning, or @ for the last run
    #[arg(value_name = "RUN", value_parser = RunRef::parse)]
    pub run: RunRef,
    /// Only about this task
    #[arg(value_name = "TASK")]
    pub task: Option<String>,
}
