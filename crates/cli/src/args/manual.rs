//! What a shell and a manual know of the commands: `completion`, `man`.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Print what a shell needs to complete commands and options.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise completion bash > ~/.local/share/bash-completion/completions/edgewise
  edgewise completion zsh > ~/.zfunc/_edgewise         with ~/.zfunc in fpath
  edgewise completion fish > ~/.config/fish/completions/edgewise.fish")]
pub struct Completion {
    /// Which shell
    #[arg(value_enum, value_name = "SHELL")]
    pub shell: Shell,
}

/// The shells that are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    /// GNU Bash.
    Bash,
    /// The Z shell.
    Zsh,
    /// The friendly interactive shell.
    Fish,
}

/// Print the manual, or write it as one page for each command.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise man | man -l -                   read it
  edgewise man gate approve | man -l -      the page of a command
  edgewise man --to ~/.local/share/man/man1")]
pub struct Man {
    /// The page of this command
    #[arg(value_name = "COMMAND")]
    pub command: Vec<String>,
    /// Write all pages into this folder
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    pub to: Option<PathBuf>,
}
