//! `edgewise add`: a new item, or a whole plan of items from a flow.

use super::moment::Moment;
use super::word::{KindWord, TypeWord, priority};
use crate::args::value::Input;
use clap::Args;
use edgewise_core::name::Name;
use edgewise_core::time::Millis;
use edgewise_core::work::ItemId;
use std::path::PathBuf;

/// Add an item.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise add 'Mend the login' --priority 1 --type bug
  edgewise add 'Write the guide' --needs ew-7k2 --assignee ann --deadline 2027-01-31
  edgewise add 'Release 2' --kind plan --auto-complete
  edgewise add 'Tag it' --parent @
  edgewise add --template release.yaml         an item for each task of a flow
  edgewise add --template release.yaml --ephemeral 7d
  edgewise add 'I saw this too' --kind message --replies-to ew-9q1")]
pub struct Add {
    /// What it is about, in one line
    #[arg(value_name = "TITLE", required_unless_present = "template")]
    pub title: Option<String>,
    /// 1 first, 5 last [default: 3]
    #[arg(short, long, value_name = "1..5", value_parser = priority)]
    pub priority: Option<u8>,
    /// What kind of task [default: task]
    #[arg(short = 't', long = "type", value_enum, value_name = "TYPE")]
    pub task_type: Option<TypeWord>,
    /// What it is [default: task]
    #[arg(long, value_enum, value_name = "KIND")]
    pub kind: Option<KindWord>,
    /// What is to be done; - reads it from stdin
    #[arg(short, long, value_name = "TEXT")]
    pub description: Option<String>,
    /// When it counts as done
    #[arg(long, value_name = "TEXT")]
    pub acceptance: Option<String>,
    /// Who does it
    #[arg(short, long, value_name = "NAME", value_parser = Name::parse)]
    pub assignee: Option<Name>,
    /// Who answers for it
    #[arg(long, value_name = "NAME", value_parser = Name::parse)]
    pub owner: Option<Name>,
    /// To find it by; may be repeated
    #[arg(long, value_name = "TAG", value_delimiter = ',', value_parser = Name::parse)]
    pub tag: Vec<Name>,
    /// When it should be done: 2027-01-31, or +3d
    #[arg(long, value_name = "TIME", value_parser = Moment::parse)]
    pub deadline: Option<Moment>,
    /// Not ready before: 2027-01-31, or +3d
    #[arg(long, value_name = "TIME", value_parser = Moment::parse)]
    pub scheduled_for: Option<Moment>,
    /// The item that it is a part of
    #[arg(long, value_name = "ID")]
    pub parent: Option<String>,
    /// What it waits for: items, gates, runs; may be repeated
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    pub needs: Vec<String>,
    /// What waits for it; may be repeated
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    pub blocks: Vec<String>,
    /// The message that it answers
    #[arg(long, value_name = "ID")]
    pub replies_to: Option<String>,
    /// What it is called elsewhere
    #[arg(long, value_name = "TEXT")]
    pub external_ref: Option<String>,
    /// Close it by itself when its last child is closed
    #[arg(long)]
    pub auto_complete: bool,
    /// A plan that is being written: nothing in it is ready yet
    #[arg(long)]
    pub draft: bool,
    /// Something a program keeps with it: key=text or key:=json; may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = Input::parse)]
    pub metadata: Vec<Input>,
    /// Its id [default: a short new one]
    #[arg(long, value_name = "ID", value_parser = ItemId::parse, conflicts_with = "template")]
    pub id: Option<ItemId>,
    /// Make an item for each task of this flow
    #[arg(long, value_name = "FLOW", conflicts_with_all = ["kind", "draft", "replies_to"])]
    pub template: Option<PathBuf>,
    /// With --template or --kind instance: it all goes away after so long, and is ready only for who asks
    #[arg(long, value_name = "DURATION", value_parser = Millis::parse)]
    pub ephemeral: Option<Millis>,
}
