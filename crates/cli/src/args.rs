//! The command line: what can be typed. Parsing is validation; a command never sees a malformed id or duration.
//!
//! Each group of commands has its arguments in a file of `args/`. [`Command`] lists those that are wired.

mod act;
mod at;
mod demo;
mod domain;
mod engine;
mod gate;
mod graph;
mod keep;
mod look;
mod manual;
mod project;
mod queue;
mod rerun;
mod run;
mod schedule;
mod serve;
mod settings;
mod task;
mod value;
mod work;
mod worker;

pub use act::{Cancel, Freeze, GiveUp, Pause, Resolve, Resume, Unfreeze, Which};
pub use at::At;
pub use demo::Demo;
pub use domain::{
    Domain, DomainAck, DomainCommand, DomainForget, DomainRead, Webhook, WebhookAdd, WebhookCommand, WebhookReplay,
};
pub use engine::Engine;
pub use gate::{Gate, GateAct, GateCommand, GateCreate, GateList, GateOpen, GateShow, GateUrl, gate_of_run};
pub use graph::{Form, Graph};
pub use keep::{Backup, Ended, Restore, Retain, ended};
pub use look::{Events, Export, History, Logs, Runs, RunsCommand, Show, StateWord, Timing, Watch, WhatIf, Why};
pub use manual::{Completion, Man, Shell};
pub use project::{Bench, Check, Doctor, Fmt, Init, Plan, Schema, Test};
pub use queue::{QueueAct, QueueSet, Queues, QueuesCommand};
pub use rerun::Rerun;
pub use run::{IdentityWord, Mode, Run};
pub use schedule::{
    FlowName, FlowUrl, Flows, FlowsCommand, OverlapWord, Register, Schedule, ScheduleAct, ScheduleBackfill,
    ScheduleCommand, ScheduleList, ScheduleName, ScheduleNext, ScheduleSet,
};
pub use serve::{Addresses, Audit, Dev, Serve, Token, TokenCommand, TokenCreate};
pub use settings::{Config, ConfigCommand, ConfigShow};
pub use task::{Task, TaskAct, TaskCommand, TaskComplete};
pub use value::{Input, Label, Meant, RunRef};
pub use work::{
    Add, Batch, Blocked, Claim, Close, Delete, Dep, DepAdd, DepCommand, DepCycles, DepList, DepRemove, DepTree,
    ExportItems, Filters, Import, ImportForm, KindWord, List, Mcp, Moment, PhaseWord, Prime, Ready, Release, Reopen,
    SortWord, Stats, StatusWord, Toward, TypeWord, Update, WhenWord,
};
pub use worker::{Worker, WorkerAdd, WorkerCommand};

use crate::config::Flags;
use crate::exit::Exit;
use crate::output::Format;
use crate::style::ColorChoice;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use edgewise_core::name::Name;
use std::ffi::OsString;
use std::path::PathBuf;

/// Run graphs of work durably.
#[derive(Debug, Parser)]
#[command(name = "edgewise", version, disable_help_subcommand = true, disable_help_flag = true)]
#[command(arg_required_else_help = true, max_term_width = 100)]
pub struct Cli {
    /// What all commands have in common.
    #[command(flatten)]
    pub global: Global,
    /// What is asked for.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands that are wired.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Make a project here.
    Init(Init),
    /// Run a flow that is there already, and kill its engine if that is wished.
    Demo(Demo),
    /// Run a flow.
    Run(Run),
    /// Watch a run live until it ends.
    Watch(Watch),
    /// List runs, the newest first.
    Runs(Runs),
    /// List queues and limits, set what of them may begin, pause and resume them.
    Queues(Queues),
    /// Show an item, a gate, a run or a task.
    Show(Show),
    /// Say why an item, a run or a task is where it is, and who or what would move it.
    Why(Why),
    /// Show where the time of a run went, and which tasks decided when it ended.
    Timing(Timing),
    /// Say what would happen if something did; nothing is written.
    WhatIf(WhatIf),
    /// Draw a flow, a run, or what items wait for.
    Graph(Graph),
    /// Print what tasks wrote.
    Logs(Logs),
    /// Show the facts of a run, in order.
    Events(Events),
    /// Show everything that happened to an item, a run or a task.
    History(History),
    /// Cancel a run: nothing of it starts any more, and what runs is told to stop.
    Cancel(Cancel),
    /// Pause a run: what runs may finish, nothing new starts.
    Pause(Pause),
    /// Resume a paused run.
    Resume(Resume),
    /// Repair a run task by task.
    Task(Task),
    /// Declare a run dealt with: what is open in it is cancelled.
    Resolve(Resolve),
    /// Let the failures stand that a run holds.
    GiveUp(GiveUp),
    /// Freeze a run: nothing but reading works on it.
    Freeze(Freeze),
    /// Let a frozen run go on.
    Unfreeze(Unfreeze),
    /// Have finished work of a run done again, with all that follows it.
    Rerun(Rerun),
    /// See what waits for people and the world, and answer it.
    Gate(Gate),
    /// Add an item to the work graph.
    Add(Box<Add>),
    /// List items.
    List(List),
    /// List what somebody can begin with, the most urgent first.
    Ready(Ready),
    /// List what is blocked, with everything that is in the way.
    Blocked(Blocked),
    /// Change items.
    Update(Box<Update>),
    /// Close items.
    Close(Box<Close>),
    /// Open closed items again.
    Reopen(Reopen),
    /// Delete items: their dependencies go too, and their children belong to their parent.
    Delete(Delete),
    /// Have an item for a while: nobody else gets it.
    Claim(Claim),
    /// Give a claim back.
    Release(Release),
    /// See what waits for what, and change it.
    Dep(Dep),
    /// Count items by where they stand.
    Stats(Stats),
    /// Bring items in from elsewhere, all of them or none.
    Import(Import),
    /// Write all items, dependencies and gates, one JSON line each.
    Export(ExportItems),
    /// Do several things to items as one: all of them, or none.
    Batch(Batch),
    /// Print what an agent must know to work here.
    Prime(Prime),
    /// Serve the work graph to an agent, on stdin and stdout.
    Mcp(Mcp),
    /// Put flows under their names, with the schedules that stand in their text.
    Register(Register),
    /// List the flows that are registered.
    Flows(Flows),
    /// See when flows begin by themselves, and change it.
    Schedule(Schedule),
    /// Check a flow without running it; all problems are shown.
    Check(Check),
    /// Lay out programs canonically.
    Fmt(Fmt),
    /// Show the regions that a flow is compiled to.
    Plan(Plan),
    /// Print the schema of flow files, for editors.
    Schema(Schema),
    /// Rehearse a flow: perform its cases in virtual time, with stubs.
    Test(Test),
    /// Copy everything to a safe place, also while runs are at work.
    Backup(Backup),
    /// Bring a backup back into a data folder that is empty.
    Restore(Restore),
    /// Take runs away that are long over: their records, rows and logs.
    Retain(Retain),
    /// Look for damage: refold the ledger, compare the projections, check every invariant.
    Doctor(Doctor),
    /// Measure this machine.
    Bench(Bench),
    /// See which settings hold, and where each of them was said.
    Config(Config),
    /// Print what a shell needs to complete commands and options.
    Completion(Completion),
    /// Print the manual, or write it as one page for each command.
    Man(Man),
    /// Be the engine of the data folder until stopped: schedules tick only while there is one.
    Engine(Engine),
    /// Serve the API over HTTP: workers in any language take tasks from it.
    Serve(Serve),
    /// Serve the API for this machine, and do commands and requests of tasks.
    Dev(Dev),
    /// See who may use the server, and change it.
    Token(Token),
    /// See who did what at the server: acts, and what was refused.
    Audit(Audit),
    /// See what the outside world is told of runs, and acknowledge it.
    Domain(Domain),
    /// See which addresses are told of domain events, and change it.
    Webhook(Webhook),
    /// See which workers are called with their tasks, and change it.
    Worker(Worker),
}

/// Options of every command.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Everywhere")]
pub struct Global {
    /// How data is printed
    #[arg(short, long, global = true, value_enum, value_name = "FORMAT", conflicts_with = "json")]
    pub output: Option<Format>,
    /// The same as -o json; errors are JSON too
    #[arg(long, global = true)]
    pub json: bool,
    /// Print ids only, and no talk
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Who acts [default: who is logged in]
    #[arg(long = "as", global = true, value_name = "NAME", value_parser = Name::parse)]
    pub who: Option<Name>,
    /// The data folder [default: .edgewise, beside edgewise.toml]
    #[arg(long, global = true, value_name = "PATH")]
    pub dir: Option<PathBuf>,
    /// When colour is used
    #[arg(long, global = true, value_enum, value_name = "WHEN")]
    pub color: Option<ColorChoice>,
    /// Print help
    #[arg(short, long, global = true, action = clap::ArgAction::HelpShort)]
    help: Option<bool>,
}

impl Global {
    /// What the command line says about settings.
    pub fn flags(&self) -> Flags {
        let output = if self.json { Some(Format::Json) } else { self.output };
        Flags { dir: self.dir.clone(), who: self.who.clone(), output, color: self.color }
    }
}

impl Cli {
    /// All commands and options there are, with what is said about them.
    pub fn tree() -> clap::Command {
        Self::command().after_help(exit_codes())
    }

    /// Reads a command line. The error is also how help and the version come out.
    pub fn read(words: impl IntoIterator<Item = OsString>, color: ColorChoice) -> clap::error::Result<Self> {
        let color = match color {
            ColorChoice::Auto => clap::ColorChoice::Auto,
            ColorChoice::Always => clap::ColorChoice::Always,
            ColorChoice::Never => clap::ColorChoice::Never,
        };
        let words = words.into_iter().collect();
        let mut command = Self::tree().color(color);
        let matches = command.try_get_matches_from_mut(searched(helped(words)))?;
        Self::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
    }
}

/// `help run` is the same as `run --help`, as elsewhere.
fn helped(mut words: Vec<OsString>) -> Vec<OsString> {
    if words.get(1).is_some_and(|word| word == "help") {
        words.remove(1);
        words.push("--help".into());
    }
    words
}

/// In a search `-state:complete` is no option: there it is the same as `!state:complete`.
fn searched(mut words: Vec<OsString>) -> Vec<OsString> {
    if words.get(1).is_none_or(|word| word != "runs") {
        return words;
    }
    for word in words.iter_mut().skip(2) {
        let Some(rest) = word.to_str().and_then(|text| text.strip_prefix('-')) else { continue };
        let pair = rest
            .find([':', '='])
            .is_some_and(|at| rest[..at].chars().all(|c| c.is_alphanumeric() || "._/".contains(c)));
        if pair && rest.starts_with(|c: char| c.is_ascii_alphabetic()) {
            *word = format!("!{rest}").into();
        }
    }
    words
}

fn exit_codes() -> String {
    let codes = Exit::ALL.map(|(exit, means)| format!("  {:>3}  {means}", exit.code()));
    format!("Exit codes:\n{}", codes.join("\n"))
}

#[cfg(test)]
mod tests;
