//! `edgewise config`: which settings hold, and who said so.

use clap::{Args, Subcommand};

/// See which settings hold, and where each of them was said.
#[derive(Debug, Args)]
#[command(after_help = "\
A flag wins over an EDGEWISE_* variable, that over edgewise.toml, that over your own file, that over the default.

Examples:
  edgewise config show
  edgewise config show --origin
  edgewise config show --json")]
pub struct Config {
    /// What is asked for.
    #[command(subcommand)]
    pub command: ConfigCommand,
}

/// What can be asked about settings.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Show every setting with its value.
    Show(ConfigShow),
}

/// Show every setting with its value.
#[derive(Debug, Args)]
pub struct ConfigShow {
    /// Also show where each was said: a flag, a variable, a line of a file
    #[arg(long)]
    pub origin: bool,
}
