//! A problem, in the form of RFC 9457.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why something was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Problem {
    /// Names the kind of problem: `urn:edgewise:problem:` and its code.
    #[serde(rename = "type")]
    pub kind: String,
    /// The kind of problem in words, the same for all of its kind.
    pub title: String,
    /// The status of the answer.
    pub status: u16,
    /// What was expected, what was found, what to do next.
    pub detail: String,
    /// Stable and machine-readable, such as `run_not_found`.
    pub code: String,
}
