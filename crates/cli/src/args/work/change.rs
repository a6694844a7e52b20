//! Commands that change items: `update`, `close`, `reopen`, `delete`.

use super::filter::Filters;
use super::moment::Moment;
use super::word::{PhaseWord, StatusWord, TypeWord, priority};
use crate::args::value::Input;
use clap::Args;
use edgewise_core::id::Token;
use edgewise_core::name::Name;
use edgewise_core::time::Millis;

/// Change items.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise update ew-7k2 --priority 1 --assignee ann
  edgewise update @ --status review
  edgewise update ew-7k2 ew-9q1 --tag web --untag later
  edgewise update ew-7k2 --parent ew-1aa       it belongs to another item now
  edgewise update ew-7k2 --no-deadline --unassign")]
pub struct Update {
    /// Items: ids, their beginnings, or @ for the last one
    #[arg(value_name = "ID", required = true)]
    pub ids: Vec<String>,
    /// What it is about, in one line
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// 1 first, 5 last
    #[arg(short, long, value_name = "1..5", value_parser = priority)]
    pub priority: Option<u8>,
    /// What kind of task
    #[arg(short = 't', long = "type", value_enum, value_name = "TYPE")]
    pub task_type: Option<TypeWord>,
    /// Where it is; `close`, `reopen` and `delete` are commands of their own
    #[arg(short, long, value_enum, value_name = "STATUS")]
    pub status: Option<StatusWord>,
    /// The phase of a plan or an instance
    #[arg(long, value_enum, value_name = "PHASE")]
    pub phase: Option<PhaseWord>,
    /// Who does it
    #[arg(short, long, value_name = "NAME", value_parser = Name::parse)]
    pub assignee: Option<Name>,
    /// Nobody does it
    #[arg(long, conflicts_with = "assignee")]
    pub unassign: bool,
    /// Who answers for it
    #[arg(long, value_name = "NAME", value_parser = Name::parse)]
    pub owner: Option<Name>,
    /// Nobody answers for it
    #[arg(long, conflicts_with = "owner")]
    pub no_owner: bool,
    /// Tags to add
    #[arg(long, value_name = "TAG", value_delimiter = ',', value_parser = Name::parse)]
    pub tag: Vec<Name>,
    /// Tags to take away
    #[arg(long, value_name = "TAG", value_delimiter = ',', value_parser = Name::parse)]
    pub untag: Vec<Name>,
    /// When it should be done: 2027-01-31, or +3d
    #[arg(long, value_name = "TIME", value_parser = Moment::parse)]
    pub deadline: Option<Moment>,
    /// It is not due any more
    #[arg(long, conflicts_with = "deadline")]
    pub no_deadline: bool,
    /// Not ready before: 2027-01-31, or +3d
    #[arg(long, value_name = "TIME", value_parser = Moment::parse)]
    pub scheduled_for: Option<Moment>,
    /// Ready as soon as nothing is in its way
    #[arg(long, conflicts_with = "scheduled_for")]
    pub no_schedule: bool,
    /// The item that it is a part of
    #[arg(long, value_name = "ID")]
    pub parent: Option<String>,
    /// It is not a part of another any more
    #[arg(long, conflicts_with = "parent")]
    pub no_parent: bool,
    /// What it is called elsewhere
    #[arg(long, value_name = "TEXT")]
    pub external_ref: Option<String>,
    /// Whether it closes by itself when its last child is closed
    #[arg(long, value_name = "BOOL")]
    pub auto_complete: Option<bool>,
    /// What is to be done; - reads it from stdin
    #[arg(short, long, value_name = "TEXT")]
    pub description: Option<String>,
    /// When it counts as done
    #[arg(long, value_name = "TEXT")]
    pub acceptance: Option<String>,
    /// Something a program keeps with it: key=text or key:=json; key:=null takes it away
    #[arg(long, value_name = "KEY=VALUE", value_parser = Input::parse)]
    pub metadata: Vec<Input>,
}

/// Close items.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise close ew-7k2 --reason 'merged in 4f2a'
  edgewise close @ --claim-next              and take the next that is ready
  edgewise close ew-7k2 --failed --reason 'cannot be done with this library'
  edgewise close ew-7k2 --cancelled
  edgewise close ew-1aa --force              although something of it is open")]
pub struct Close {
    /// Items: ids, their beginnings, or @ for the last one
    #[arg(value_name = "ID", required = true)]
    pub ids: Vec<String>,
    /// It was tried, and did not work
    #[arg(long, conflicts_with = "cancelled")]
    pub failed: bool,
    /// It is not wanted any more
    #[arg(long)]
    pub cancelled: bool,
    /// Why, for whoever reads it later
    #[arg(short, long, visible_alias = "why", value_name = "TEXT")]
    pub reason: Option<String>,
    /// Although it is blocked, has open children, or is somebody else's
    #[arg(long)]
    pub force: bool,
    /// The token of your claim
    #[arg(long, value_name = "TOKEN", value_parser = Token::parse)]
    pub token: Option<Token>,
    /// Take the first ready item in the same commit
    #[arg(long)]
    pub claim_next: bool,
    /// With --claim-next: for how long, without a heartbeat
    #[arg(long, value_name = "DURATION", default_value = "30m", value_parser = Millis::parse)]
    pub lease: Millis,
    /// With --claim-next: which ones
    #[command(flatten)]
    pub filters: Filters,
}

/// Open closed items again.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise reopen ew-7k2 --reason 'it came back'
  edgewise reopen ew-7k2 --force     although the item that it is in is closed")]
pub struct Reopen {
    /// Items: ids, their beginnings, or @ for the last one
    #[arg(value_name = "ID", required = true)]
    pub ids: Vec<String>,
    /// Although the item that it is in is closed
    #[arg(long)]
    pub force: bool,
    /// Why
    #[arg(short, long, visible_alias = "why", value_name = "TEXT")]
    pub reason: Option<String>,
}

/// Delete items: their dependencies go too, and their children belong to their parent.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise delete ew-7k2 --reason 'made by mistake'

Its history stays. What is not wanted any more is closed: `edgewise close ID --cancelled`.")]
pub struct Delete {
    /// Items: ids, their beginnings, or @ for the last one
    #[arg(value_name = "ID", required = true)]
    pub ids: Vec<String>,
    /// Why
    #[arg(short, long, visible_alias = "why", value_name = "TEXT")]
    pub reason: Option<String>,
}
