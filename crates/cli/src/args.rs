//! The command line: what can be typed. Parsing is validation; a command never sees a malformed id or duration.
//!
//! Each group of commands has its arguments in a file of `args/`. [`Command`] lists those that are wired.

mod act;
mod engine;
mod gate;
mod graph;
mod look;
mod project;
mod run;
mod schedule;
mod value;

pub use act::{Cancel, Pause, Resume};
pub use engine::Engine;
pub use gate::{Gate, GateAct, GateCommand, GateList};
pub use graph::{Form, Graph};
pub use look::{Events, History, Logs, Runs, Show, StateWord, Watch, Why};
pub use project::{Bench, Check, Doctor, Fmt, Init, Plan, Schema, Test};
pub use run::{Mode, Run};
pub use schedule::{
    Flows, OverlapWord, Register, Schedule, ScheduleAct, ScheduleBackfill, ScheduleCommand, ScheduleList, ScheduleName,
    ScheduleNext, ScheduleSet,
};
pub use value::{Input, Label, RunRef};

use crate::config::Flags;
use crate::exit::Exit;
use crate::output::Format;
use crate::style::ColorChoice;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use edgewise_core::name::Name;
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
    /// Run a flow.
    Run(Run),
    /// Watch a run live until it ends.
    Watch(Watch),
    /// List runs, the newest first.
    Runs(Runs),
    /// Show a run and its tasks.
    Show(Show),
    /// Say why a run or a task is where it is, and what would move it.
    Why(Why),
    /// Draw a flow or a run.
    Graph(Graph),
    /// Print what tasks wrote.
    Logs(Logs),
    /// Show the facts of a run, in order.
    Events(Events),
    /// Show every transition of a run and of its tasks.
    History(History),
    /// Cancel a run: nothing of it starts any more, and what runs is told to stop.
    Cancel(Cancel),
    /// Pause a run: what runs may finish, nothing new starts.
    Pause(Pause),
    /// Resume a paused run.
    Resume(Resume),
    /// See what waits for people, and answer it.
    Gate(Gate),
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
    /// Look for damage: refold the ledger, compare the projections, check every invariant.
    Doctor(Doctor),
    /// Measure this machine.
    Bench(Bench),
    /// Be the engine of the data folder until stopped: schedules tick only while there is one.
    Engine(Engine),
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
    /// Reads a command line. The error is also how help and the version come out.
    pub fn read(words: impl IntoIterator<Item = std::ffi::OsString>, color: ColorChoice) -> clap::error::Result<Self> {
        let color = match color {
            ColorChoice::Auto => clap::ColorChoice::Auto,
            ColorChoice::Always => clap::ColorChoice::Always,
            ColorChoice::Never => clap::ColorChoice::Never,
        };
        let mut command = Self::command().after_help(exit_codes()).color(color);
        let matches = command.try_get_matches_from_mut(words)?;
        Self::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
    }
}

fn exit_codes() -> String {
    let codes = Exit::ALL.map(|(exit, means)| format!("  {:>3}  {means}", exit.code()));
    format!("Exit codes:\n{}", codes.join("\n"))
}

#[cfg(test)]
mod tests;
