//! `edgewise worker`: workers that are called with their tasks.

use clap::{Args, Subcommand};
use edgewise_core::name::Name;
use edgewise_core::time::Millis;

/// See which workers are called with their tasks, and change it. They are called while `edgewise serve` or
/// `edgewise dev` runs. Workers that ask for tasks themselves need not be said.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise worker add mailer https://example.org/tasks --action mail --slots 4
  edgewise worker pause mailer            no new tasks; what it has goes on
  edgewise worker rotate mailer           another secret; the old one is good for a day")]
pub struct Worker {
    /// What to do.
    #[command(subcommand)]
    pub command: WorkerCommand,
}

/// What can be done about push workers.
#[derive(Debug, Subcommand)]
pub enum WorkerCommand {
    /// Make a push worker; its secret is shown once and cannot be shown again.
    Add(WorkerAdd),
    /// List push workers, without their secrets.
    List,
    /// Show a push worker, without its secret.
    Show {
        /// Which
        #[arg(value_parser = Name::parse)]
        name: Name,
    },
    /// Give a push worker nothing for now; what it has goes on.
    Pause {
        /// Which
        #[arg(value_parser = Name::parse)]
        name: Name,
    },
    /// Give a push worker tasks again.
    Resume {
        /// Which
        #[arg(value_parser = Name::parse)]
        name: Name,
    },
    /// Give a push worker another secret; calls are signed with the one before too, for a day.
    Rotate {
        /// Which
        #[arg(value_parser = Name::parse)]
        name: Name,
    },
    /// Take a push worker away; what it has goes on.
    Remove {
        /// Which
        #[arg(value_parser = Name::parse)]
        name: Name,
    },
}

/// A new push worker.
#[derive(Debug, Args)]
pub struct WorkerAdd {
    /// What it is called
    #[arg(value_parser = Name::parse)]
    pub name: Name,
    /// Where its tasks are sent
    pub url: String,
    /// An action that it can do; may be said again
    #[arg(long = "action", value_name = "ACTION", required = true, value_parser = Name::parse)]
    pub actions: Vec<Name>,
    /// Takes tasks of this queue only; may be said again
    #[arg(long = "queue", value_name = "QUEUE", value_parser = Name::parse)]
    pub queues: Vec<Name>,
    /// How many tasks it takes at once [default: 1]
    #[arg(long, value_name = "NUMBER")]
    pub slots: Option<u32>,
    /// How long a task is its own without a sign of life [default: 30s]
    #[arg(long, value_name = "TIME", value_parser = Millis::parse)]
    pub lease: Option<Millis>,
    /// How long a call may stay open [default: 5m]
    #[arg(long, value_name = "TIME", value_parser = Millis::parse)]
    pub timeout: Option<Millis>,
}
