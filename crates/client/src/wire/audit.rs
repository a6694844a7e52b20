//! The trail of who did what.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Lines of the trail, the oldest first.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Audit {
    /// The newest that there are, or those just before another page.
    pub lines: Vec<AuditLine>,
    /// The cursor of the page with the lines before these; absent where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// Somebody asked for something.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct AuditLine {
    /// When it was answered, RFC 3339.
    pub at: String,
    /// Who asked; absent for somebody who is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub who: Option<String>,
    /// What they are trusted with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The address they asked from.
    pub peer: String,
    /// The route, by its name.
    pub route: String,
    /// The path, which names what it was done to; absent where several are counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What it made, such as a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made: Option<String>,
    /// The status of the answer.
    pub status: u16,
    /// The code of a refusal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// How often.
    pub times: u64,
}
