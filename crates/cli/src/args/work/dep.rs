//! `edgewise dep`: what waits for what, and what has to do with what.

use super::word::WhenWord;
use crate::args::value::Input;
use clap::{Args, Subcommand, ValueEnum};

/// See what waits for what, and change it.
#[derive(Debug, Args)]
#[command(after_help = "\
Types: blocks, parent-child, awaits (these block); relates-to, references, supersedes, duplicates, caused-by,
validates, mentions; authored-by, assigned-to, approved-by; replies-to.

Examples:
  edgewise dep add ew-b ew-a                  ew-b waits for ew-a
  edgewise dep ew-b --needs ew-a              the same
  edgewise dep ew-a --blocks ew-b             the same, said from the other end
  edgewise dep add ew-b ew-a --when any       however ew-a ends
  edgewise dep add ew-b ew-a --type relates-to
  edgewise dep add ew-b k3f9x2ab              ew-b waits for a run, or for a gate (awaits)
  edgewise dep add ew-b k3f9x2ab/approve      ew-b waits for a gate of a run
  edgewise dep remove ew-b ew-a
  edgewise dep list ew-b --direction both
  edgewise dep tree ew-b --depth 3
  edgewise dep cycles")]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Dep {
    /// What to do
    #[command(subcommand)]
    pub command: Option<DepCommand>,
    /// An item: its id, its beginning, or @ for the last one
    #[arg(value_name = "ID", required = true)]
    pub id: Option<String>,
    /// What it waits for
    #[arg(long, value_name = "ID", value_delimiter = ',', required_unless_present = "blocks")]
    pub needs: Vec<String>,
    /// What waits for it
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    pub blocks: Vec<String>,
    /// Which end counts
    #[arg(long, value_enum, value_name = "END", default_value_t = WhenWord::Success)]
    pub when: WhenWord,
}

/// What can be done with dependencies.
#[derive(Debug, Subcommand)]
pub enum DepCommand {
    /// Let one item wait for another, or say what they have to do with each other
    Add(DepAdd),
    /// Take a dependency away
    Remove(DepRemove),
    /// List the dependencies of an item
    List(DepList),
    /// Show what an item waits for, and what that waits for
    Tree(DepTree),
    /// Look for cycles: there are none, since every write refuses them
    Cycles(DepCycles),
}

/// Let one item wait for another.
#[derive(Debug, Args)]
pub struct DepAdd {
    /// Who waits
    #[arg(value_name = "ID")]
    pub id: String,
    /// What it waits for: an item, a gate, a run, or something outside
    #[arg(value_name = "ON")]
    pub on: String,
    /// What it says [default: blocks; awaits for a gate, a run or a gate of one]
    #[arg(short = 't', long = "type", value_name = "TYPE")]
    pub kind: Option<String>,
    /// Which end counts
    #[arg(long, value_enum, value_name = "END", default_value_t = WhenWord::Success)]
    pub when: WhenWord,
    /// What else is said, such as testType=unit result=pass of `validates`
    #[arg(long, value_name = "KEY=VALUE", value_parser = Input::parse)]
    pub metadata: Vec<Input>,
}

/// Take a dependency away.
#[derive(Debug, Args)]
pub struct DepRemove {
    /// Who waits
    #[arg(value_name = "ID")]
    pub id: String,
    /// What it waits for
    #[arg(value_name = "ON", required_unless_present = "all")]
    pub on: Option<String>,
    /// Only of this type [default: every type between the two]
    #[arg(short = 't', long = "type", value_name = "TYPE")]
    pub kind: Option<String>,
    /// All dependencies that it has, the one on its parent too; with --type those of that type
    #[arg(long, conflicts_with = "on")]
    pub all: bool,
}

/// Which end of dependencies is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Toward {
    /// What it waits for
    #[default]
    #[value(alias = "out")]
    Down,
    /// What waits for it
    #[value(alias = "in")]
    Up,
    /// Both
    Both,
}

/// List the dependencies of an item.
#[derive(Debug, Args)]
pub struct DepList {
    /// An item: its id, its beginning, or @ for the last one
    #[arg(value_name = "ID")]
    pub id: String,
    /// Which end
    #[arg(long, value_enum, value_name = "WAY", default_value_t = Toward::Both)]
    pub direction: Toward,
    /// Only of this type
    #[arg(short = 't', long = "type", value_name = "TYPE")]
    pub kind: Option<String>,
}

/// Show what an item waits for, and what that waits for.
#[derive(Debug, Args)]
pub struct DepTree {
    /// An item: its id, its beginning, or @ for the last one
    #[arg(value_name = "ID")]
    pub id: String,
    /// Which way
    #[arg(long, value_enum, value_name = "WAY", default_value_t = Toward::Down)]
    pub direction: Toward,
    /// How deep: 100 at most
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u8).range(0..=100))]
    pub depth: u8,
}

/// Look for cycles.
#[derive(Debug, Args)]
pub struct DepCycles {}
