//! `edgewise gate`: what waits for people and the world, and their answers. Gates of items and of runs alike.

use super::value::{Meant, RunRef};
use super::work::Moment;
use clap::{ArgGroup, Args, Subcommand};
use edgewise_core::name::Name;
use edgewise_core::time::Millis;
use edgewise_core::{Error, Result};
use serde_json::Value;

/// See what waits for people and the world, and answer it.
#[derive(Debug, Args)]
#[command(after_help = "\
A gate of an item has an id of its own; a gate of a run is named by its run and its task.

Examples:
  edgewise gate list
  edgewise gate approve @ release --comment 'looks good'
  edgewise gate approve @ release --as lead
  edgewise gate withdraw @ release
  edgewise gate reject @ release --why 'not on a Friday'
  edgewise gate create --approver ann --approver bob --count 1 --for ew-7k2
  edgewise gate create --until 2027-01-31 --for ew-7k2
  edgewise gate create --external ci 4711 --for ew-7k2
  edgewise gate approve ew-g41
  edgewise gate show @ release
  edgewise gate satisfy ew-g42 --comment 'build 4711 is green'
  edgewise gate satisfy @ signed --with '{\"by\": \"legal\"}'
  edgewise gate create --webhook --for ew-7k2
  edgewise gate url ew-g43 --server https://work.example.org --expires 7d
  edgewise gate url @ signed")]
pub struct Gate {
    /// What to do.
    #[command(subcommand)]
    pub command: GateCommand,
}

/// What can be done with gates.
#[derive(Debug, Subcommand)]
pub enum GateCommand {
    /// List the gates that wait
    List(GateList),
    /// Show a gate, with what somebody must know to decide
    Show(GateShow),
    /// Say yes
    Approve(GateAct),
    /// Take a yes back, while the gate is still closed
    Withdraw(GateAct),
    /// Say no: the task fails, or its items can not be satisfied
    Reject(GateAct),
    /// Open a gate that waits for another system or a webhook
    Satisfy(GateOpen),
    /// Make a gate for items to wait for
    Create(GateCreate),
    /// Print the address of a webhook gate: whoever knows it can open the gate, once
    Url(GateUrl),
}

/// Which gates to list.
#[derive(Debug, Args)]
pub struct GateList {
    /// Only of this item or run
    #[arg(value_name = "ID", value_parser = Meant::parse)]
    pub of: Option<Meant>,
    /// Also those that are open or rejected
    #[arg(long)]
    pub all: bool,
}

/// Which gate to show.
#[derive(Debug, Args)]
pub struct GateShow {
    /// A gate's id; or a run, its beginning, or @ for the last run
    #[arg(value_name = "GATE|RUN", value_parser = Meant::parse)]
    pub what: Meant,
    /// The gate's task, of a run
    #[arg(value_name = "TASK")]
    pub task: Option<String>,
    /// Show what these tasks of the run made, instead of those that the flow names or that come just before
    #[arg(long, value_name = "TASK", value_delimiter = ',')]
    pub tasks: Vec<String>,
}

/// An answer to a gate.
#[derive(Debug, Args)]
pub struct GateAct {
    /// A gate's id; or a run, its beginning, or @ for the last run
    #[arg(value_name = "GATE|RUN", value_parser = Meant::parse)]
    pub what: Meant,
    /// The gate's task, of a run
    #[arg(value_name = "TASK")]
    pub task: Option<String>,
    /// What you want to say
    #[arg(long, visible_alias = "why", value_name = "TEXT")]
    pub comment: Option<String>,
}

/// A gate to open from outside.
#[derive(Debug, Args)]
pub struct GateOpen {
    /// A gate's id; or a run, its beginning, or @ for the last run
    #[arg(value_name = "GATE|RUN", value_parser = Meant::parse)]
    pub what: Meant,
    /// The gate's task, of a run
    #[arg(value_name = "TASK")]
    pub task: Option<String>,
    /// What you want to say
    #[arg(long, visible_alias = "why", value_name = "TEXT")]
    pub comment: Option<String>,
    /// What comes with it: the output of a gate of a run, kept with a gate of items
    #[arg(long, value_name = "JSON", value_parser = json)]
    pub with: Option<Value>,
}

/// A gate whose address is wanted.
#[derive(Debug, Args)]
pub struct GateUrl {
    /// A gate's id; or a run, its beginning, or @ for the last run
    #[arg(value_name = "GATE|RUN", value_parser = Meant::parse)]
    pub what: Meant,
    /// The gate's task, of a run
    #[arg(value_name = "TASK")]
    pub task: Option<String>,
    /// For how long the address is good
    #[arg(long, value_name = "DURATION", default_value = "30d", value_parser = Millis::parse)]
    pub expires: Millis,
    /// Where others reach the server [default: EDGEWISE_ADDR, or http://127.0.0.1:7420]
    #[arg(long, value_name = "URL")]
    pub server: Option<String>,
}

/// Reads a value.
fn json(text: &str) -> Result<Value> {
    serde_json::from_str(text).map_err(|error| {
        Error::invalid("bad_json", format!("{text:?} is not JSON ({error}): a text stands in quotes, as in '\"done\"'"))
    })
}

/// What was typed names a gate of a run: which run, and the gate's task. `None` for a gate of items.
pub fn gate_of_run(what: &Meant, task: Option<&String>) -> Result<Option<(RunRef, String)>> {
    match (what, task) {
        (Meant::Task(run, task), None) => Ok(Some((run.clone(), task.clone()))),
        (what, Some(task)) => Ok(Some((RunRef::parse(&what.to_string())?, task.clone()))),
        (_, None) => Ok(None),
    }
}

/// A gate to make.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("opens").required(true).args(["until", "approval", "approver", "external", "webhook"]))]
pub struct GateCreate {
    /// It opens at an instant: 2027-01-31, or +3d
    #[arg(long, value_name = "TIME", value_parser = Moment::parse)]
    pub until: Option<Moment>,
    /// It opens when anybody approves
    #[arg(long)]
    pub approval: bool,
    /// It opens when this person approves; may be repeated
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = Name::parse)]
    pub approver: Vec<Name>,
    /// How many must approve [default: all of them]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), conflicts_with_all = ["until", "external", "webhook"])]
    pub count: Option<u32>,
    /// It opens when another system says so: which, and what it is called there
    #[arg(long, num_args = 2, value_names = ["SYSTEM", "ID"])]
    pub external: Vec<String>,
    /// It opens when its address is called, which `gate url` prints
    #[arg(long)]
    pub webhook: bool,
    /// What it is about
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// Items that wait for it from now on
    #[arg(long = "for", value_name = "ID", value_delimiter = ',')]
    pub items: Vec<String>,
}
