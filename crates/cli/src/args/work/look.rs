//! Commands that look at items: `list`, `ready`, `blocked`, `stats`.

use super::filter::Filters;
use super::word::{KindWord, StatusWord};
use clap::Args;
use edgewise_core::time::Millis;

/// List items.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise list                         what is not closed
  edgewise list login --type bug        with this in title, description or id
  edgewise list --status closed --limit 20
  edgewise list --all                   also what is closed
  edgewise list --plan ew-1aa --sort deadline
  edgewise list --kind plan,message -o jsonl")]
pub struct List {
    /// Only with this in title, description or id
    #[arg(value_name = "TEXT")]
    pub text: Option<String>,
    /// Only in these statuses
    #[arg(short, long, value_enum, value_name = "STATUS", value_delimiter = ',')]
    pub status: Vec<StatusWord>,
    /// Also what is closed
    #[arg(long, conflicts_with = "status")]
    pub all: bool,
    /// Only of these kinds [default: task, plan, instance]
    #[arg(long, value_enum, value_name = "KIND", value_delimiter = ',')]
    pub kind: Vec<KindWord>,
    /// Which ones
    #[command(flatten)]
    pub filters: Filters,
}

/// List what somebody can begin with, the most urgent first.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise ready
  edgewise ready --limit 1 --claim         take the first one, before anybody else does
  edgewise ready --explain                 why each is where it is, and what is not ready
  edgewise ready --unassigned --type bug --no-tag later
  edgewise ready --sort unblocks --plan ew-1aa")]
pub struct Ready {
    /// Take the first one of them
    #[arg(long, conflicts_with = "explain")]
    pub claim: bool,
    /// With --claim: for how long, without a heartbeat
    #[arg(long, value_name = "DURATION", default_value = "30m", value_parser = Millis::parse)]
    pub lease: Millis,
    /// Say why each is where it is, and why others are not here
    #[arg(long)]
    pub explain: bool,
    /// Which ones
    #[command(flatten)]
    pub filters: Filters,
}

/// List what is blocked, with everything that is in the way.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise blocked
  edgewise blocked --assignee ann --json")]
pub struct Blocked {
    /// Which ones
    #[command(flatten)]
    pub filters: Filters,
}

/// Count items by where they stand.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise stats
  edgewise stats --json")]
pub struct Stats {}
