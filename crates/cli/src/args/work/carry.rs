//! Commands that carry whole graphs: `import`, `export`, `batch`.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Bring items in from elsewhere, all of them or none.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise import .beads/issues.jsonl
  edgewise import elements.jsonl dependencies.jsonl
  gh issue list --state all --limit 1000 --json number,title,body,state,stateReason,labels,assignees,url | edgewise import
  edgewise import work.jsonl --dry-run

What was exported here, Beads JSONL, Quarry JSONL and `gh issue list --json` are told apart by what stands in them.
Ids stay as they are; issues of GitHub become gh-12. A cycle or an id that is there already refuses it all.")]
pub struct Import {
    /// What to read [default: stdin]
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// What it is [default: as it looks]
    #[arg(long, value_enum, value_name = "FORM")]
    pub form: Option<ImportForm>,
    /// Only say what would be brought in
    #[arg(long)]
    pub dry_run: bool,
}

/// Where items come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ImportForm {
    /// What `edgewise export` wrote
    Edgewise,
    /// Beads JSONL
    Beads,
    /// Quarry JSONL: elements and dependencies
    Quarry,
    /// The array of `gh issue list --json`
    Github,
}

/// Write all items, dependencies and gates, one JSON line each, always in the same order.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  edgewise export > work.jsonl
  edgewise export --to work.jsonl          for git: the same graph is the same file")]
pub struct ExportItems {
    /// The file to write
    #[arg(long, value_name = "FILE")]
    pub to: Option<PathBuf>,
}

/// Do several things as one: all of them, or none.
#[derive(Debug, Args)]
#[command(after_help = "\
One JSON object a line. What `as` names can be used behind it as $name.

Examples:
  edgewise batch <<'END'
  {\"op\":\"add\",\"title\":\"Build\",\"as\":\"build\"}
  {\"op\":\"add\",\"title\":\"Ship\",\"priority\":1,\"needs\":[\"$build\"]}
  {\"op\":\"close\",\"id\":\"ew-7k2\",\"why\":\"superseded\"}
  END

Operations: add, update, close, reopen, delete, move, claim, claim_next, extend, release, depend, undepend,
make_gate, approve, withdraw, satisfy, reject, deliver, expect.")]
pub struct Batch {
    /// What to read [default: stdin]
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Done once under this key, however often it is asked
    #[arg(long, value_name = "KEY")]
    pub key: Option<String>,
}
