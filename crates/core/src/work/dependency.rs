//! Dependencies: typed links. For every blocking type the source waits and the target is waited for.

use super::{ItemId, Target};
use crate::error::{Error, Result};
use crate::name::Name;
use crate::time::Time;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a dependency says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DependencyKind {
    /// The source waits until the target is closed.
    Blocks,
    /// The source is a child of the target.
    ParentChild,
    /// The source waits for the target: a gate or a run.
    Awaits,
    /// The two have to do with each other: one row, the smaller id first, seen from both ends.
    RelatesTo,
    /// The source cites the target.
    References,
    /// The source takes the target's place.
    Supersedes,
    /// The source is the same as the target.
    Duplicates,
    /// The source came of the target.
    CausedBy,
    /// The source is a test of the target.
    Validates,
    /// The source names the target.
    Mentions,
    /// The target wrote the source.
    AuthoredBy,
    /// The target is to do the source.
    AssignedTo,
    /// The target signed the source off.
    ApprovedBy,
    /// The source answers the target.
    RepliesTo,
}

/// What a kind of dependency is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Group {
    /// Somebody waits.
    Blocking,
    /// Knowledge.
    Associative,
    /// Who.
    Attribution,
    /// Conversations.
    Threading,
}

/// Which end of what is waited for satisfies a blocking dependency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// Closed as done; a run that succeeded.
    #[default]
    Success,
    /// Any end.
    Any,
    /// Closed as failed; a run that failed.
    Failure,
}

/// A dependency: source, target and kind are its key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Dependency {
    /// Whose it is: the waiter.
    #[serde(rename = "sourceId")]
    pub source: ItemId,
    /// What it points to: the prerequisite.
    #[serde(rename = "targetId")]
    pub target: Target,
    /// What it says.
    #[serde(rename = "type")]
    pub kind: DependencyKind,
    /// What end satisfies it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub when: When,
    /// What else was said, such as `testType`, `result` and `details` of `validates`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Value>,
    /// Who made it.
    pub created_by: Name,
    /// When.
    pub created_at: Time,
}

fn is_default(when: &When) -> bool {
    *when == When::default()
}

impl DependencyKind {
    /// All kinds, in the order of their groups.
    pub const ALL: [DependencyKind; 14] = [
        Self::Blocks,
        Self::ParentChild,
        Self::Awaits,
        Self::RelatesTo,
        Self::References,
        Self::Supersedes,
        Self::Duplicates,
        Self::CausedBy,
        Self::Validates,
        Self::Mentions,
        Self::AuthoredBy,
        Self::AssignedTo,
        Self::ApprovedBy,
        Self::RepliesTo,
    ];

    /// What it is for.
    pub fn group(self) -> Group {
        match self {
            Self::Blocks | Self::ParentChild | Self::Awaits => Group::Blocking,
            Self::AuthoredBy | Self::AssignedTo | Self::ApprovedBy => Group::Attribution,
            Self::RepliesTo => Group::Threading,
            _ => Group::Associative,
        }
    }

    /// Whether the source waits for the target itself: `blocks` and `awaits`.
    pub fn is_waiting(self) -> bool {
        matches!(self, Self::Blocks | Self::Awaits)
    }

    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Blocks => "blocks",
            Self::ParentChild => "parent-child",
            Self::Awaits => "awaits",
            Self::RelatesTo => "relates-to",
            Self::References => "references",
            Self::Supersedes => "supersedes",
            Self::Duplicates => "duplicates",
            Self::CausedBy => "caused-by",
            Self::Validates => "validates",
            Self::Mentions => "mentions",
            Self::AuthoredBy => "authored-by",
            Self::AssignedTo => "assigned-to",
            Self::ApprovedBy => "approved-by",
            Self::RepliesTo => "replies-to",
        }
    }

    /// Refuses a `type` that there is not, where a dependency is asked for.
    pub fn check_in(asked: &Value) -> Result<()> {
        asked.get("type").and_then(Value::as_str).map_or(Ok(()), |text| Self::parse(text).map(drop))
    }

    /// Reads a name; the error lists all of them.
    pub fn parse(text: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == text).ok_or_else(|| {
            let all: Vec<_> = Self::ALL.iter().map(|kind| kind.name()).collect();
            let message = format!("{text:?} is no type of dependency: it is one of {}", all.join(", "));
            Error::invalid("unknown_dependency_type", message)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_reads_back_from_its_name_and_has_the_same_name_on_the_wire() {
        for kind in DependencyKind::ALL {
            assert_eq!(DependencyKind::parse(kind.name()).unwrap(), kind);
            assert_eq!(serde_json::to_string(&kind).unwrap(), format!("{:?}", kind.name()));
        }
        let error = DependencyKind::parse("block").unwrap_err();
        assert!(error.code == "unknown_dependency_type" && error.message.contains("parent-child"), "{error}");
    }
}
