//! The commands, one file each: read the arguments, do it, hand the result to the printer.

mod check;
mod doctor;
mod events;
mod gate_list;
mod history;
mod init;
mod logs;
mod runs;
mod show;
mod why;

use crate::args::{Command, GateCommand};
use crate::config::Config;
use crate::exit::Exit;
use crate::output::Printer;
use crate::problem::{Problem, Result};
use edgewise_core::Kind;
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
        Command::Runs(args) => runs::perform(args, context),
        Command::Show(args) => show::perform(args, context),
        Command::Events(args) => events::perform(args, context),
        Command::History(args) => history::perform(args, context),
        Command::Logs(args) => logs::perform(args, context),
        Command::Why(args) => why::perform(args, context),
        Command::Check(args) => check::perform(args, context),
        Command::Gate(gate) => match &gate.command {
            GateCommand::List(args) => gate_list::perform(args, context),
            GateCommand::Approve(_) | GateCommand::Withdraw(_) | GateCommand::Reject(_) => {
                Err(Problem::new(Kind::Unavailable, "no_engine", "no engine is there to hear an answer"))
            }
        },
        Command::Doctor(args) => doctor::perform(args, context),
    }
}
