//! Views: items and gates as they are shown, with what is derived of them.

use edgewise_core::Result;
use edgewise_core::time::Time;
use edgewise_core::work::{Blocker, Dependency, Item, ItemId, ItemRow, Standing, Work, WorkGate};
use serde::{Deserialize, Serialize};

/// An item, and where it stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ItemView {
    /// The item itself.
    #[serde(flatten)]
    pub item: Item,
    /// `blocked` while it is, else its status.
    pub shown: String,
    /// What it is at this instant.
    pub standing: Standing,
    /// The most urgent priority of all that wait for it, and its own.
    pub effective_priority: u8,
    /// Everything in its way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blockers: Vec<Blocker>,
    /// What it is a part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<ItemId>,
    /// Its dependencies; only where one item is shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<Dependency>,
    /// Those that point to it; only where one item is shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependents: Vec<Dependency>,
}

/// A gate, and who waits for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GateView {
    /// The gate itself.
    #[serde(flatten)]
    pub gate: WorkGate,
    /// The items that wait for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waiters: Vec<ItemId>,
}

impl ItemView {
    /// An item as a list shows it.
    pub fn of(work: &Work, now: Time, item: &Item) -> Self {
        let id = item.id.as_str();
        Self {
            item: item.clone(),
            shown: work.shown_status(id).unwrap_or_default().to_owned(),
            standing: work.standing(id, now).unwrap_or(Standing::NotWork),
            effective_priority: work.effective_priority(id).unwrap_or(item.fields.priority),
            blockers: work.blockers(id),
            parent: work.parent(id).cloned(),
            dependencies: Vec::new(),
            dependents: Vec::new(),
        }
    }

    /// The same of an item's row.
    pub fn of_row(row: &ItemRow, now: Time) -> Result<Self> {
        Ok(Self {
            item: row.item()?,
            shown: if row.blocked { "blocked" } else { row.status.name() }.to_owned(),
            standing: row.facts().standing(now),
            effective_priority: row.effective,
            blockers: row.blockers()?,
            parent: row.parent.clone(),
            dependencies: Vec::new(),
            dependents: Vec::new(),
        })
    }

    /// Names all that is shown of an item here: another one as soon as anything of it is different.
    pub fn version(&self) -> String {
        version(self)
    }

    /// An item as it is shown by itself.
    pub fn whole(work: &Work, now: Time, item: &Item) -> Self {
        Self {
            dependencies: work.dependencies_of(item.id.as_str()).into_iter().cloned().collect(),
            dependents: work.dependents_of(item.id.as_str()).into_iter().cloned().collect(),
            ..Self::of(work, now, item)
        }
    }
}

impl GateView {
    /// A gate as it is shown.
    pub fn of(work: &Work, gate: &WorkGate) -> Self {
        let waiters = work.dependents_of(gate.id.as_str()).into_iter().map(|known| known.source.clone()).collect();
        Self { gate: gate.clone(), waiters }
    }

    /// Names all that is shown of a gate: another one as soon as anything of it is different.
    pub fn version(&self) -> String {
        version(self)
    }
}

/// A hash of what is shown: the same wherever it is computed, and nothing more has to be kept.
fn version(shown: &impl Serialize) -> String {
    // Our own types always have a JSON form.
    let text = serde_json::to_vec(shown).unwrap_or_default();
    blake3::hash(&text).to_hex()[..16].to_owned()
}
