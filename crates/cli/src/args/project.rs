//! Commands about the project and the machine: `init`, `check`, `fmt`, `doctor`, `bench`.

use clap::Args;
use std::path::PathBuf;

/// Make a project here: edgewise.toml and the data folder.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise init
  edgewise init --demo && edgewise run demo.yaml")]
pub struct Init {
    /// Also write demo.yaml, a small flow to run
    #[arg(long)]
    pub demo: bool,
}

/// Check a flow without running it; all problems are shown.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise check build.yaml
  edgewise check build.yaml --json
  edgewise check - < build.yaml        from stdin")]
pub struct Check {
    /// The flow; `-` is stdin
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// Lay out programs canonically.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise fmt release.flow            written anew if its layout changes
  edgewise fmt --check *.flow          exit code 1 if one is not laid out
  edgewise fmt - < release.flow        from stdin to stdout")]
pub struct Fmt {
    /// The programs; `-` is stdin
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Change nothing; name the files that are not laid out
    #[arg(long)]
    pub check: bool,
}

/// Show the regions that a flow is compiled to.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise plan build.yaml
  edgewise plan etl.flow#load
  edgewise plan build.yaml --json     the plan as it is stored")]
pub struct Plan {
    /// The flow
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// Print the schema of flow files, for editors.
#[derive(Debug, Args)]
#[command(after_help = "\
JSON Schema, draft 2020-12, of flows written as YAML. An editor finds it by the first line of a file:
  # yaml-language-server: $schema=flow.schema.json

Examples:
  edgewise schema > flow.schema.json
  edgewise schema --cases > case.schema.json")]
pub struct Schema {
    /// The schema of case files (NAME.test.yaml) instead
    #[arg(long)]
    pub cases: bool,
}

/// Rehearse a flow: its cases are performed in virtual time, with stubs for everything outside of it.
#[derive(Debug, Args)]
#[command(after_help = "\
Cases stand in NAME.test.yaml beside the flow. Nothing is run, stored or waited for.

Examples:
  edgewise test etl.flow                    all cases of etl.test.yaml
  edgewise test examples/*.test.yaml        of several flows
  edgewise test etl.flow --filter retry     those with `retry` in their name
  edgewise test etl.flow --json")]
pub struct Test {
    /// Flows, or their case files
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Only cases whose names contain this
    #[arg(long, value_name = "TEXT")]
    pub filter: Option<String>,
}

/// Look for damage: refold the ledger, compare the projections, check every invariant.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise doctor             quick: heads, watermark, frozen runs
  edgewise doctor --verify    everything, every byte
  edgewise doctor --rebuild   make the rows anew from the ledger")]
pub struct Doctor {
    /// Read everything again and compare
    #[arg(long)]
    pub verify: bool,
    /// Delete what is derived and fold it again; only while no engine is at work
    #[arg(long)]
    pub rebuild: bool,
}

/// Measure this machine.
#[derive(Debug, Args)]
#[command(after_help = "\
Every load runs in a process of its own on a fresh store in this folder, with handlers that do nothing:
once to warm up, once to be measured; five times, and the median is shown. Compare figures of one run on one machine only.

Examples:
  edgewise bench              all loads
  edgewise bench w3           a chain of 1,000: the time of one durable step
  edgewise bench rerun        what failed of 10,000 tasks, done again: from the request to its answer
  edgewise bench server       a worker over HTTP
  edgewise bench authors      reading, checking and drawing large flows, beside their gates
  edgewise bench for-10k      a loop of 10,000 rounds; also spread-10k, steps-10k, and each with 100k
  edgewise bench --quick      each load once
  edgewise bench --json")]
pub struct Bench {
    /// Only this load: w1, w2, w3, w4, w4-100k, w4-1m, fold, rerun, schedules, backlog, limits, search, server, work,
    /// authors, or of programs for-10k, for-100k, spread-10k, spread-100k, steps-10k, steps-100k
    #[arg(value_name = "LOAD")]
    pub name: Option<String>,
    /// Each load in one process only
    #[arg(long)]
    pub quick: bool,
    /// For `server`: the command of a worker that is measured instead of ours. It takes tasks of $EDGEWISE_ACTION at
    /// $EDGEWISE_ADDR until it is killed
    #[arg(long, value_name = "COMMAND", requires = "name")]
    pub worker: Option<String>,
    /// Measure the load in this very process, once
    #[arg(long, hide = true, requires = "name")]
    pub once: bool,
    /// Fold this many events of a run of this many tasks, and nothing else
    #[arg(long, hide = true, num_args = 2, value_names = ["TASKS", "EVENTS"])]
    pub fold: Vec<u32>,
    /// Read a flow file, and nothing else: says how many microseconds that took at best
    #[arg(long, hide = true, value_name = "FILE")]
    pub read: Option<PathBuf>,
}
