//! Reasons: why an item is not ready, as a tree whose leaves say who or what can help.

use super::{Standing, Target};
use serde::{Deserialize, Serialize};

/// Why something stands as it does, and what is behind it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reason {
    /// An item, a gate, a run, a task of a run, or something outside.
    pub id: Target,
    /// What it is called.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// Where an item stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standing: Option<Standing>,
    /// In a sentence.
    pub says: String,
    /// Who or what can move it, at a leaf: a command to type, or a person.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub help: Vec<Help>,
    /// What it waits for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub because: Vec<Reason>,
    /// It stands further up already, with its own reasons.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub seen: bool,
}

/// What can be done about it. Never something that destroys.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Help {
    /// Who: a name, `anybody`, `time`, `a worker`.
    pub who: String,
    /// In words.
    pub does: String,
    /// What they would type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}
