//! What several events do alike: links with their notes, another parent, the end of a gate.

use super::settle::Turn;
use super::{Dependency, DependencyKey, DependencyKind, GateEnded, ItemKind, NoteKind, Phase, Target, When, Work};
use serde_json::Value;

impl Work {
    /// Makes a dependency, and says so on both ends.
    pub(super) fn link(&mut self, source: u32, dependency: Dependency, turn: &mut Turn<'_>) {
        let n = self.add_edge(source, dependency);
        let key = self.edge(n).key();
        self.both_ends(key, turn, NoteKind::DependencyAdded);
    }

    /// Takes a dependency away, and says so on both ends.
    pub(super) fn unlink(&mut self, n: u32, turn: &mut Turn<'_>) {
        let key = self.edge(n).key();
        self.remove_edge(n);
        self.both_ends(key, turn, NoteKind::DependencyRemoved);
    }

    fn both_ends(&mut self, key: DependencyKey, turn: &mut Turn<'_>, what: fn(DependencyKey) -> NoteKind) {
        let target = self.ids.get_key_value(key.target.as_str()).map(|(id, _)| id.clone());
        for id in [Some(key.source.clone()), target].into_iter().flatten() {
            turn.note(&id, what(key.clone()));
        }
        turn.changed.dependencies.insert(key);
    }

    /// Gives an item another parent, or none, with what that means for whoever waits for something below it.
    pub(super) fn set_parent(&mut self, item: u32, parent: Option<u32>, turn: &mut Turn<'_>) {
        self.set_parent_with(item, parent, None, turn);
    }

    /// The same, with what else was said of it.
    pub(super) fn set_parent_with(
        &mut self,
        item: u32,
        parent: Option<u32>,
        metadata: Option<Value>,
        turn: &mut Turn<'_>,
    ) {
        if self.parent_of(item) == parent {
            return;
        }
        let relink = self.relink(item, parent);
        if let Some(old) = self.slot(item).parent {
            self.unlink(old, turn);
        }
        self.flip(&relink);
        let Some(parent) = parent else { return };
        let created_by = turn.by.clone().unwrap_or_else(|| self.slot(item).item.created_by.clone());
        let dependency = Dependency {
            source: self.id(item).clone(),
            target: Target::from(self.id(parent).clone()),
            kind: DependencyKind::ParentChild,
            when: When::default(),
            metadata,
            created_by,
            created_at: turn.stamp.at,
        };
        self.link(item, dependency, turn);
    }

    /// Ends a gate, and looks at whoever waits for it.
    pub(super) fn end_gate(&mut self, n: u32, ended: GateEnded, turn: &mut Turn<'_>) {
        if let Some(at) = self.gates[n as usize].gate.opens_at() {
            self.timers.remove(&(at, n));
        }
        let slot = self.gate_mut(n);
        let (id, into) = (slot.gate.id.clone(), slot.into.clone());
        let why = ended.why.clone();
        let what = if ended.satisfied { NoteKind::Satisfied { why } } else { NoteKind::Rejected { why } };
        slot.gate.ended = Some(ended);
        turn.note(&id, what);
        turn.changed.gates.insert(id);
        self.weigh_all(&into);
    }

    /// An instance is at work when something in it is.
    pub(super) fn begin_instances(&mut self, n: u32, turn: &mut Turn<'_>) {
        let above: Vec<u32> = self.above(n).collect();
        for n in above {
            let item = &mut self.slot_mut(n).item;
            if item.kind == ItemKind::Instance && item.phase == Some(Phase::Pending) {
                item.phase = Some(Phase::Running);
                item.updated_at = turn.stamp.at;
                self.pending.touched.push(n);
            }
        }
    }
}
