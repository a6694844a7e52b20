//! The rows of a work graph in memory.

use crate::projections::{ItemOrder, ItemRows, WorkChange};
use edgewise_core::Result;
use edgewise_core::id::{EventId, RunId};
use edgewise_core::work::{
    DependencyKey, DependencyKind, DependencyRow, GateRow, ItemId, ItemRow, Note, RunEndRow, Target, WorkRows,
};
use std::collections::BTreeMap;

/// A dependency's place: by source, kind and target.
type Edge = (ItemId, DependencyKind, Target);

#[derive(Debug, Clone, Default)]
pub(super) struct WorkEntry {
    pub applied_seq: u64,
    version: EventId,
    items: BTreeMap<ItemId, ItemRow>,
    dependencies: BTreeMap<Edge, DependencyRow>,
    gates: BTreeMap<ItemId, GateRow>,
    runs: BTreeMap<RunId, RunEndRow>,
    notes: Vec<Note>,
}

impl WorkEntry {
    /// What goes away goes first.
    pub fn apply(&mut self, change: &WorkChange) {
        (self.applied_seq, self.version) = (change.applied_seq, change.version);
        change.items_gone.iter().for_each(|id| drop(self.items.remove(id)));
        for DependencyKey { source, target, kind } in &change.dependencies_gone {
            self.dependencies.remove(&(source.clone(), *kind, target.clone()));
        }
        change.gates_gone.iter().for_each(|id| drop(self.gates.remove(id)));
        for run in &change.runs_gone {
            self.runs.remove(run);
        }
        self.items.extend(change.items.iter().map(|row| (row.id.clone(), row.clone())));
        self.dependencies.extend(change.dependencies.iter().map(|row| (place_of(row), row.clone())));
        self.gates.extend(change.gates.iter().map(|row| (row.id.clone(), row.clone())));
        self.runs.extend(change.runs.iter().map(|row| (row.run, row.clone())));
        self.notes.extend(change.notes.iter().cloned());
    }

    pub fn rows(&self) -> WorkRows {
        WorkRows {
            applied_seq: self.applied_seq,
            version: self.version,
            items: self.items.values().cloned().collect(),
            dependencies: self.dependencies.values().cloned().collect(),
            gates: self.gates.values().cloned().collect(),
            runs: self.runs.values().cloned().collect(),
        }
    }

    pub fn item(&self, id: &str) -> Option<ItemRows> {
        let item = self.items.get(id)?.clone();
        let (mut dependencies, mut dependents) = (Vec::new(), Vec::new());
        for row in self.dependencies.values() {
            if row.source.as_str() == id {
                dependencies.push(row.clone());
            }
            if row.target.as_str() == id {
                dependents.push(row.clone());
            }
        }
        dependents.sort_by(|a: &DependencyRow, b| (a.kind, &a.source).cmp(&(b.kind, &b.source)));
        Some(ItemRows { applied_seq: self.applied_seq, item, dependencies, dependents })
    }

    pub fn ids(&self, prefix: &str, limit: usize) -> Vec<ItemId> {
        let items = self.items.keys().chain(self.gates.keys());
        let mut found: Vec<ItemId> = items.filter(|id| id.as_str().starts_with(prefix)).cloned().collect();
        found.sort_unstable();
        found.truncate(limit);
        found
    }

    pub fn walk(&self, order: ItemOrder, see: &mut dyn FnMut(ItemRow) -> Result<bool>) -> Result<()> {
        let mut rows: Vec<&ItemRow> = self.items.values().collect();
        if order == ItemOrder::Ready {
            rows.retain(|row| row.structurally_ready);
            rows.sort_by(|a, b| place(a).cmp(&place(b)));
        }
        for row in rows {
            if !see(row.clone())? {
                break;
            }
        }
        Ok(())
    }

    pub fn notes(&self, item: &str) -> Vec<Note> {
        self.notes.iter().filter(|note| note.item.as_str() == item).cloned().collect()
    }
}

fn place_of(row: &DependencyRow) -> Edge {
    (row.source.clone(), row.kind, row.target.clone())
}

fn place(row: &ItemRow) -> (u8, u8, u64, &str) {
    (row.effective, row.priority, row.created_at.0, row.id.as_str())
}
