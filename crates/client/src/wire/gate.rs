//! Gates: of items and of runs, and what opens them from outside.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Make a gate for items to wait for.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MakeGate {
    /// `timer`, `approval`, `external` or `webhook`.
    pub gate_type: String,
    /// Of a timer: when it opens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_until: Option<String>,
    /// Of an approval: who may approve; anybody if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub required_approvers: Vec<String>,
    /// Of an approval: how many of them it takes; all if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_count: Option<u32>,
    /// Of an external gate: which system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_system: Option<String>,
    /// Of an external gate: what it is called there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external_id: Option<String>,
    /// What it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its id; made up if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// A page of gates.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct Gates {
    /// The gates of runs and of items, in the form of `edgewise gate list --json`.
    pub gates: Vec<Value>,
    /// What `after` takes for the next page; absent on the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// Ask for the address of a webhook gate.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HookRequest {
    /// For how long the address is good, such as `7d`; 30 days if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<String>,
}

/// The address of a webhook gate. Whoever knows it can open the gate, once.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct Hook {
    /// Which gate.
    pub gate: String,
    /// Where to `POST` to, at this server.
    pub path: String,
    /// Not good from here on.
    pub expires_at: String,
}

/// An external system says that something is so.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ExternalReport {
    /// Which system.
    pub external_system: String,
    /// What it is called there.
    pub external_id: String,
    /// What is kept with the gate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Value>,
}

/// What came of a call from outside.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct Opened {
    /// The gates that are open now.
    pub gates: Vec<String>,
    /// They were open already, because of the same delivery.
    pub already: bool,
    /// Gates that stay closed because their run is frozen: report it again when it goes on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frozen: Vec<String>,
}
