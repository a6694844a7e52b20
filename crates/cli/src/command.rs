//! The commands, one file each: read the arguments, do it, hand the result to the printer.

mod bench;
mod init;

use crate::args::Command;
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
        Command::Bench(args) => bench::perform(args, context),
    }
}
