//! The rows of a work graph in memory.

use crate::projections::{ItemOrder, WorkChange};
use edgewise_core::Result;
use edgewise_core::id::{EventId, RunId};
use edgewise_core::time::Time;
use edgewise_core::work::part::Drawer;
use edgewise_core::work::{
    DependencyKey, DependencyKind, DependencyRow, GateRow, ItemId, ItemKind, ItemRow, Note, RunEndRow, Status, Target,
    WorkRows,
};
use std::collections::BTreeMap;

/// A dependency's place: by source, kind and target.
type Edge = (ItemId, DependencyKind, Target);

#[derive(Debug, Clone, Default)]
pub(super) struct WorkEntry {
    pub applied_seq: u64,
    version: EventId,
    pub due: Option<Time>,
    items: BTreeMap<ItemId, ItemRow>,
    dependencies: BTreeMap<Edge, DependencyRow>,
    gates: BTreeMap<ItemId, GateRow>,
    runs: BTreeMap<RunId, RunEndRow>,
    notes: Vec<Note>,
}

impl WorkEntry {
    /// What goes away goes first.
    pub fn apply(&mut self, change: &WorkChange) {
        (self.applied_seq, self.version, self.due) = (change.applied_seq, change.version, change.due);
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

    pub fn ids(&self, prefix: &str, limit: usize) -> Vec<ItemId> {
        let items = self.items.keys().chain(self.gates.keys());
        let mut found: Vec<ItemId> = items.filter(|id| id.as_str().starts_with(prefix)).cloned().collect();
        found.sort_unstable();
        found.truncate(limit);
        found
    }

    pub fn walk(&self, order: ItemOrder, see: &mut dyn FnMut(ItemRow) -> Result<bool>) -> Result<()> {
        let mut rows: Vec<&ItemRow> = self.items.values().collect();
        if order != ItemOrder::Id {
            rows.retain(|row| match order {
                ItemOrder::Tasks => row.structurally_ready && row.kind == ItemKind::Task,
                ItemOrder::Ready => row.structurally_ready,
                ItemOrder::Blocked | ItemOrder::Id => row.blocked,
            });
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

impl Drawer for WorkEntry {
    fn item(&mut self, id: &str) -> Result<Option<ItemRow>> {
        Ok(self.items.get(id).cloned())
    }

    fn gate(&mut self, id: &str) -> Result<Option<GateRow>> {
        Ok(self.gates.get(id).cloned())
    }

    fn run(&mut self, run: RunId) -> Result<Option<RunEndRow>> {
        Ok(self.runs.get(&run).cloned())
    }

    fn dependencies(&mut self, id: &str) -> Result<Vec<DependencyRow>> {
        Ok(self.dependencies.values().filter(|row| row.source.as_str() == id).cloned().collect())
    }

    fn dependents(&mut self, target: &str) -> Result<Vec<DependencyRow>> {
        let on = self.dependencies.values().filter(|row| row.target.as_str() == target);
        let mut found: Vec<DependencyRow> = on.cloned().collect();
        found.sort_by(|a, b| (a.kind, &a.source).cmp(&(b.kind, &b.source)));
        Ok(found)
    }

    fn ids_from(&mut self, text: &str, limit: usize) -> Result<Vec<ItemId>> {
        let alive = self.items.values().filter(|row| row.status != Status::Tombstone).map(|row| &row.id);
        let mut found: Vec<ItemId> = alive.chain(self.gates.keys()).filter(|id| id.as_str() >= text).cloned().collect();
        found.sort_unstable();
        found.truncate(limit);
        Ok(found)
    }
}

fn place_of(row: &DependencyRow) -> Edge {
    (row.source.clone(), row.kind, row.target.clone())
}

fn place(row: &ItemRow) -> (u8, u8, u64, &str) {
    (row.effective, row.priority, row.created_at.0, row.id.as_str())
}
