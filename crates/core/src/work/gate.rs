//! Gates of the work graph: waits on the world that items share.

use super::ItemId;
use crate::gate::Approval;
use crate::name::Name;
use crate::time::Time;
use serde::{Deserialize, Serialize};

/// What opens a gate. The same four kinds as in flows, named as the specification names their metadata.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "gateType", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum GateWait {
    /// An instant, also one that passed while nothing was running.
    Timer {
        /// When it opens.
        wait_until: Time,
    },
    /// Different people, each of those named; anybody if none is named.
    Approval {
        /// Who may approve.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        required_approvers: Vec<Name>,
        /// How many of them it takes: all of them unless said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        approval_count: Option<u32>,
    },
    /// Another system says so.
    External {
        /// Which.
        external_system: String,
        /// What it is called there.
        external_id: String,
    },
    /// Somebody calls its address.
    Webhook,
}

/// A gate, and where it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkGate {
    /// Its id.
    pub id: ItemId,
    /// What opens it.
    #[serde(flatten)]
    pub wait: GateWait,
    /// What it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Who has said yes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approvals: Vec<Approval>,
    /// Open or rejected, since when, by whom and why. Nothing follows after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<GateEnded>,
    /// Who made it.
    pub created_by: Name,
    /// When.
    pub created_at: Time,
}

/// How a gate ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GateEnded {
    /// Whether it is open; rejected otherwise.
    pub satisfied: bool,
    /// Who; nobody for a timer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Name>,
    /// What they said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// When.
    pub at: Time,
}
