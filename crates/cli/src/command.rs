//! The commands, one file each: read the arguments, do it, hand the result to the printer.

mod act;
mod bench;
mod cancel;
mod check;
mod doctor;
mod engine;
mod events;
mod fmt;
mod gate_act;
mod gate_list;
mod graph;
mod history;
mod init;
mod lock;
mod logs;
mod pause;
mod plan;
mod register;
mod resume;
mod run;
mod runs;
mod schedule;
mod schema;
mod show;
mod test;
mod watch;
mod why;

use crate::args::{Command, GateCommand, ScheduleCommand};
use crate::config::Config;
use crate::exit::Exit;
use crate::output::Printer;
use crate::problem::Result;
use std::path::Path;

/// What every command gets.
pub struct Context<'a> {
    /// The settings that hold.
    pub config: &'a Config,
    /// The working directory.
    pub cwd: &'a Path,
    /// Where everything is printed.
    pub printer: &'a mut Printer,
}

/// Does what was asked.
pub fn perform(command: &Command, context: &mut Context<'_>) -> Result<Exit> {
    match command {
        Command::Init(args) => init::perform(args, context),
        Command::Run(args) => run::perform(args, context),
        Command::Watch(args) => watch::perform(args, context),
        Command::Runs(args) => runs::perform(args, context),
        Command::Show(args) => show::perform(args, context),
        Command::Why(args) => why::perform(args, context),
        Command::Graph(args) => graph::perform(args, context),
        Command::Logs(args) => logs::perform(args, context),
        Command::Events(args) => events::perform(args, context),
        Command::History(args) => history::perform(args, context),
        Command::Cancel(args) => cancel::perform(args, context),
        Command::Pause(args) => pause::perform(args, context),
        Command::Resume(args) => resume::perform(args, context),
        Command::Gate(gate) => match &gate.command {
            GateCommand::List(args) => gate_list::perform(args, context),
            GateCommand::Approve(args) => gate_act::approve(args, context),
            GateCommand::Withdraw(args) => gate_act::withdraw(args, context),
            GateCommand::Reject(args) => gate_act::reject(args, context),
        },
        Command::Register(args) => register::register(args, context),
        Command::Flows(args) => register::list(args, context),
        Command::Schedule(schedule) => match &schedule.command {
            ScheduleCommand::List(args) => schedule::list(args, context),
            ScheduleCommand::Show(args) => schedule::show(args, context),
            ScheduleCommand::Set(args) => schedule::set(args, context),
            ScheduleCommand::Pause(args) => schedule::pause(args, context),
            ScheduleCommand::Resume(args) => schedule::resume(args, context),
            ScheduleCommand::Remove(args) => schedule::remove(args, context),
            ScheduleCommand::Next(args) => schedule::next(args, context),
            ScheduleCommand::Backfill(args) => schedule::backfill(args, context),
        },
        Command::Check(args) => check::perform(args, context),
        Command::Fmt(args) => fmt::perform(args, context),
        Command::Plan(args) => plan::perform(args, context),
        Command::Schema(_) => schema::perform(context),
        Command::Test(args) => test::perform(args, context),
        Command::Doctor(args) => doctor::perform(args, context),
        Command::Bench(args) => bench::perform(args, context),
        Command::Engine(args) => engine::perform(args, context),
    }
}
