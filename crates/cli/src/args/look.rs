//! Commands that look and change nothing: `watch`, `runs`, `show`, `events`, `history`, `logs`, `why`, `timing`, `what-if`.

use super::at::At;
use super::value::{Meant, RunRef};
use clap::builder::RangedU64ValueParser;
use clap::{Args, Subcommand, ValueEnum};
use edgewise_core::name::Name;
use edgewise_core::state::{Phase, RunState};
use edgewise_core::what_if::Fact;
use edgewise_engine::facts::Cursor;
use std::num::NonZeroU16;
use std::path::PathBuf;

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
  edgewise runs 'state:failed flow:release since:1d label.team=web'
  edgewise runs -state:complete by:ann until:2027-01-31
  edgewise runs release                    in the name of the flow, or at the start of the id
  edgewise runs --state failed,blocked --flow release
  edgewise runs --limit 1 -q               the id of the last run
  edgewise runs --all                      also the runs that are parts of others
  edgewise runs --watch                    drawn anew whenever something changes
  edgewise runs -o jsonl | jq .state
  edgewise runs export 'flow:release' --to runs.jsonl

A search: state: flow: since: until: by: key: namespace: id: label.KEY=VALUE; a `-` before it says that it
must not be so, a comma between states means either, other words are looked for in ids and names of flows.")]
#[command(args_conflicts_with_subcommands = true)]
pub struct Runs {
    /// What to do with them instead of listing them
    #[command(subcommand)]
    pub command: Option<RunsCommand>,
    /// Only those that fit, such as 'state:failed since:1d'
    #[arg(value_name = "QUERY")]
    pub query: Vec<String>,
    /// Only what comes after: where the last page ended
    #[arg(long, value_name = "CURSOR", value_parser = Cursor::parse)]
    pub after: Option<Cursor>,
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
    /// Go on looking: redraw the table, or print a line for each change where there is no terminal
    #[arg(long)]
    pub watch: bool,
    /// With --watch: stop once no run of the list is ready, at work or about to be tried again
    #[arg(long, requires = "watch")]
    pub until_idle: bool,
}

/// What to do with runs instead of listing them.
#[derive(Debug, Subcommand)]
pub enum RunsCommand {
    /// Write runs with all that is known of them, one JSON line each
    Export(Export),
}

/// Write runs with all that is known of them, one JSON line each.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise runs export > all.jsonl
  edgewise runs export 'state:failed since:7d' --to failed.jsonl
  edgewise runs export @ | jq '.events[].type'")]
pub struct Export {
    /// Only those that fit; @ for the last run
    #[arg(value_name = "QUERY")]
    pub query: Vec<String>,
    /// The file to write; it must not exist
    #[arg(long, value_name = "FILE")]
    pub to: Option<PathBuf>,
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

/// Show an item, a gate, a run or a task.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise show ew-7k2       an item: what was said of it, and what is in its way
  edgewise show @            the last run
  edgewise show @ --all      with every item of its spreads, and what was left out
  edgewise show @ 'for#3.load'   one task, with its whole output and all its attempts
  edgewise show @ --at 17        as it was after event 17
  edgewise show @ --at '10m ago'
  edgewise show k3f9 --json")]
pub struct Show {
    /// An item, a run or RUN/TASK: an id, its beginning, or @ for the last one
    #[arg(value_name = "ID", value_parser = Meant::parse)]
    pub what: Meant,
    /// Only this task, and all there is to know of it
    #[arg(value_name = "TASK", conflicts_with = "all")]
    pub task: Option<String>,
    /// Also the items of spreads, and what a program did not come to; one line each
    #[arg(long)]
    pub all: bool,
    /// As it was then: the seq of an event, an instant, a time, or `10m ago`
    #[arg(long, value_name = "TIME|SEQ", value_parser = At::parse)]
    pub at: Option<At>,
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

/// Show everything that happened to an item, or every transition of a run and of its tasks.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise history ew-7k2            an item
  edgewise history @                 the run and all its tasks
  edgewise history @ 'build[3]'      one task
  edgewise history @ -o jsonl | jq 'select(.most_recent)'")]
pub struct History {
    /// An item, a run or RUN/TASK: an id, its beginning, or @ for the last one
    #[arg(value_name = "ID", value_parser = Meant::parse)]
    pub what: Meant,
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
  edgewise logs @ -f                 go on printing until the run is over
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
    #[arg(long, requires = "task", conflicts_with = "follow")]
    pub raw: bool,
    /// Go on printing what is written, whoever runs it, until the run or the task is over
    #[arg(short, long)]
    pub follow: bool,
}

/// Say why an item, a run or a task is where it is, and who or what would move it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise why ew-7k2         all that is in the way of an item, and of that
  edgewise why @              why the last run is not over, or failed
  edgewise why @ publish      what this task waits for
  edgewise why k3f9/publish   the same, of another run
  edgewise why @ --at 17      what it waited for after event 17")]
pub struct Why {
    /// An item, a run or RUN/TASK: an id, its beginning, or @ for the last one
    #[arg(value_name = "ID", value_parser = Meant::parse)]
    pub what: Meant,
    /// Only about this task
    #[arg(value_name = "TASK")]
    pub task: Option<String>,
    /// As it was then: the seq of an event, an instant, a time, or `10m ago`
    #[arg(long, value_name = "TIME|SEQ", value_parser = At::parse)]
    pub at: Option<At>,
}

/// Show where the time of a run went, and which tasks decided when it ended.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise timing @            the last run: waited, ran, slack, and the critical path
  edgewise timing @ --all      with every item of its spreads
  edgewise timing @ --json | jq '.critical_path[].task'")]
pub struct Timing {
    /// An id, its beginning, or @ for the last run
    #[arg(value_name = "RUN", value_parser = RunRef::parse)]
    pub run: RunRef,
    /// Also what is inside of spreads, rounds and arms
    #[arg(long)]
    pub all: bool,
}

/// Say what would happen if something did; nothing is written.
#[derive(Debug, Args)]
#[command(after_help = "\
Facts, in the order in which they would happen:
  TASK=ok             it succeeds; a gate opens; all that is inside of a spread succeeds
  TASK:=JSON          it succeeds with this output
  TASK=fail[:TYPE]    it fails for good
  TASK=fail-once[:TYPE]
                      its attempt fails, and another may follow
  GATE=approve[:NAME] NAME says yes; without a name, everybody who is still needed
  GATE=reject[:NAME]  NAME says no
  TASK=skip, TASK=cancel, TASK=resolve, TASK=reset, TASK=rerun
                      an operator does this to it
  TASK=complete:JSON  an operator supplies its output
  cancel, pause, resume, resolve, give-up, rerun
                      an operator does this to the whole run
  +2h, 2027-01-31T12:00:00Z
                      time passes, and what waits for it falls due

Examples:
  edgewise what-if @ build=fail
  edgewise what-if @ 'build[0]=ok' 'build[1]=fail:exit_1' --to-end
  edgewise what-if @ approve=approve:lead publish:='{\"url\": \"…\"}'
  edgewise what-if @ publish=rerun --to-end
  edgewise what-if @ +2d")]
pub struct WhatIf {
    /// An id, its beginning, or @ for the last run
    #[arg(value_name = "RUN", value_parser = RunRef::parse)]
    pub run: RunRef,
    /// What would happen, one after the other
    #[arg(value_name = "FACT", value_parser = Fact::parse, required_unless_present = "to_end")]
    pub facts: Vec<Fact>,
    /// Then suppose that everything else goes well, to the end
    #[arg(long)]
    pub to_end: bool,
}
