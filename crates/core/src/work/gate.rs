//! Gates of the work graph: waits on the world that items share.

use super::{GateWaiters, ItemId};
use crate::error::{Error, Result};
use crate::gate::Approval;
use crate::limits;
use crate::name::Name;
use crate::time::Time;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;

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
    /// The tasks of runs that open with it, or did.
    #[serde(default, skip_serializing_if = "GateWaiters::is_empty")]
    pub tasks: GateWaiters,
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
    /// What came with it from outside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Value>,
}

impl WorkGate {
    /// When it opens by itself, if it does and has not ended.
    pub fn opens_at(&self) -> Option<Time> {
        match self.wait {
            GateWait::Timer { wait_until } if self.ended.is_none() => Some(wait_until),
            _ => None,
        }
    }

    /// How many people it takes; `None` where people do not open it.
    pub fn needed(&self) -> Option<usize> {
        self.wait.needed()
    }
}

impl GateWait {
    /// Its name on the wire.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Timer { .. } => "timer",
            Self::Approval { .. } => "approval",
            Self::External { .. } => "external",
            Self::Webhook => "webhook",
        }
    }

    /// How many people it takes: all that are named unless said, one if none is named.
    pub fn needed(&self) -> Option<usize> {
        match self {
            Self::Approval { required_approvers, approval_count: None } => Some(required_approvers.len().max(1)),
            Self::Approval { approval_count: Some(count), .. } => Some(*count as usize),
            _ => None,
        }
    }

    /// Whether a person may speak to it.
    pub fn may_speak(&self, who: &Name) -> bool {
        match self {
            Self::Approval { required_approvers, .. } => {
                required_approvers.is_empty() || required_approvers.contains(who)
            }
            _ => true,
        }
    }

    /// Refuses a gate that could never open as it is meant to.
    pub fn check(&self) -> Result<()> {
        let bad = |what: String| Err(Error::invalid("bad_gate", what));
        match self {
            Self::Timer { wait_until: Time::NEVER } => bad("a timer gate needs `waitUntil`, an instant".into()),
            Self::Timer { .. } | Self::Webhook => Ok(()),
            Self::External { external_system, external_id } => {
                for (name, text) in [("externalSystem", external_system), ("externalId", external_id)] {
                    if text.trim().is_empty() || text.len() > limits::WORK_REFERENCE_BYTES {
                        let most = limits::WORK_REFERENCE_BYTES;
                        return bad(format!("an external gate needs `{name}`, a text of 1 to {most} bytes"));
                    }
                }
                Ok(())
            }
            Self::Approval { required_approvers, approval_count } => {
                let named = required_approvers.len();
                let different: BTreeSet<&Name> = required_approvers.iter().collect();
                match approval_count {
                    _ if named > limits::APPROVERS => {
                        bad(format!("a gate names at most {} approvers, this one names {named}", limits::APPROVERS))
                    }
                    _ if different.len() < named => bad("`requiredApprovers` names somebody twice".into()),
                    Some(0) => bad("`approvalCount` is 0: at least one person must approve".into()),
                    Some(count) if named > 0 && *count as usize > named => bad(format!(
                        "`approvalCount` is {count}, but only {named} may approve: name more people, or ask for fewer"
                    )),
                    Some(count) if *count as usize > limits::APPROVERS => {
                        bad(format!("`approvalCount` is {count}: {} at most", limits::APPROVERS))
                    }
                    _ => Ok(()),
                }
            }
        }
    }

    /// Reads the metadata of an `awaits` dependency as the specification has it; anything missing or unknown is
    /// refused, since a gate that nobody understands must not count as open.
    pub fn from_metadata(metadata: &Value) -> Result<Self> {
        let known: &[&str] = match metadata.get("gateType").and_then(Value::as_str) {
            Some("timer") => &["waitUntil"],
            Some("approval") => &["requiredApprovers", "approvalCount"],
            Some("external") => &["externalSystem", "externalId"],
            Some("webhook") => &[],
            found => {
                let found = found.map_or("nothing".to_owned(), |found| format!("{found:?}"));
                let message = format!("`gateType` is {found}: expected one of timer, approval, external, webhook");
                return Err(Error::invalid("bad_gate", message));
            }
        };
        let keys = metadata.as_object().into_iter().flat_map(serde_json::Map::keys);
        if let Some(key) = keys.filter(|key| *key != "gateType").find(|key| !known.contains(&key.as_str())) {
            let message = format!("a gate of this type has no {key:?}: it has {}", known.join(", "));
            return Err(Error::invalid("bad_gate", message));
        }
        let wait: Self = serde_json::from_value(metadata.clone())
            .map_err(|error| Error::invalid("bad_gate", format!("the gate cannot be read: {error}")))?;
        wait.check()?;
        Ok(wait)
    }
}
