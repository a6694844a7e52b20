//! Items from elsewhere, brought in as `edgewise import` does.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Bring items in from elsewhere: all of them, or none.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ImportItems {
    /// What to read, each as a file has it: an object a line, or an array of objects.
    pub texts: Vec<String>,
    /// What it is; as it looks if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<ImportForm>,
    /// Only say what would be brought in.
    #[serde(default)]
    pub dry_run: bool,
}

/// Where items come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ImportForm {
    /// What `edgewise export` wrote.
    Edgewise,
    /// Beads JSONL.
    Beads,
    /// Quarry JSONL: elements and dependencies.
    Quarry,
    /// The array of `gh issue list --json`.
    Github,
}

/// What was brought in, in the form of `edgewise import --json`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Imported {
    /// How many items.
    pub items: usize,
    /// How many dependencies.
    pub dependencies: usize,
    /// How many gates.
    pub gates: usize,
    /// What it was read as.
    pub form: ImportForm,
    /// Nothing was written.
    pub dry_run: bool,
    /// It was brought in before, under the same key.
    #[serde(default)]
    pub already: bool,
    /// What could not be carried over as it was.
    pub notes: Vec<String>,
    /// What the items are called here, in the order in which they were read.
    pub ids: Vec<String>,
}
