//! Looking things up in the work graph.

use super::table::End;
use super::{
    Dependency, DependencyKey, DependencyKind, Item, ItemId, RunGateEnd, Standing, Status, Target, Work, WorkGate,
};
use crate::id::RunId;
use crate::state::RunState;
use crate::time::Time;

impl Work {
    /// An item, also a deleted one.
    pub fn item(&self, id: &str) -> Option<&Item> {
        self.number(id).map(|n| &self.slot(n).item)
    }

    /// A gate.
    pub fn gate(&self, id: &str) -> Option<&WorkGate> {
        self.gate_number(id).map(|n| &self.gates[n as usize].gate)
    }

    /// How a run ended, if that is known here.
    pub fn run_end(&self, run: RunId) -> Option<RunState> {
        self.run_numbers.get(&run).and_then(|n| self.runs[*n as usize].state)
    }

    /// How a gate of a run ended, if that is known here.
    pub fn run_gate_end(&self, run: RunId, path: &str) -> Option<RunGateEnd> {
        self.run_numbers.get(&run).and_then(|n| self.runs[*n as usize].gates.get(path).copied())
    }

    /// All items by their ids, deleted ones too.
    pub fn items(&self) -> impl Iterator<Item = &Item> {
        self.ids.keys().filter_map(|id| self.item(id.as_str()))
    }

    /// How many items there are, deleted ones too.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there is no item.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// All gates by their ids.
    pub fn gates(&self) -> impl Iterator<Item = &WorkGate> {
        self.ids.keys().filter_map(|id| self.gate(id.as_str()))
    }

    /// One dependency.
    pub fn dependency(&self, key: &DependencyKey) -> Option<&Dependency> {
        self.find(key).map(|n| &self.edge(n).dependency)
    }

    /// The key that a dependency is kept under: for `relates-to` between two items the smaller id stands first.
    pub fn key(&self, source: &ItemId, target: &Target, kind: DependencyKind) -> DependencyKey {
        let key = DependencyKey::new(source.clone(), target.clone(), kind);
        if kind != DependencyKind::RelatesTo {
            return key;
        }
        let turned = target.id().filter(|id| self.number(id.as_str()).is_some());
        match turned.map(|id| DependencyKey::new(id, source.clone().into(), kind)) {
            Some(turned) if turned.source < *source || self.find(&turned).is_some() => turned,
            _ => key,
        }
    }

    /// All dependencies, by source, kind and target.
    pub fn dependencies(&self) -> impl Iterator<Item = &Dependency> {
        self.items().flat_map(|item| self.dependencies_of(item.id.as_str()))
    }

    /// What an item is the source of, by kind and target; its parent too.
    pub fn dependencies_of(&self, id: &str) -> Vec<&Dependency> {
        let Some(n) = self.number(id) else { return Vec::new() };
        let slot = self.slot(n);
        let mut all: Vec<&Dependency> =
            slot.out.iter().chain(slot.parent.as_ref()).map(|n| &self.edge(*n).dependency).collect();
        all.sort_by(|a, b| (a.kind, &a.target).cmp(&(b.kind, &b.target)));
        all
    }

    /// What points to something, by kind and source; its children too.
    pub fn dependents_of(&self, target: &str) -> Vec<&Dependency> {
        let Ok(target) = Target::parse(target) else { return Vec::new() };
        let children = match self.end(&target) {
            End::Item(n) => self.slot(n).children.as_slice(),
            _ => &[],
        };
        let edges = self.into(&target).iter().chain(children).map(|n| &self.edge(*n).dependency);
        // Who waits for a gate of a run stands with those who wait for the run.
        let same = |dependency: &&Dependency| target.of_run().is_none() || dependency.target == target;
        let mut all: Vec<&Dependency> = edges.filter(same).collect();
        all.sort_by(|a, b| (a.kind, &a.source).cmp(&(b.kind, &b.source)));
        all
    }

    /// The parent of an item.
    pub fn parent(&self, id: &str) -> Option<&ItemId> {
        self.number(id).and_then(|n| self.parent_of(n)).map(|n| self.id(n))
    }

    /// The children of an item, by their ids.
    pub fn children(&self, id: &str) -> Vec<&ItemId> {
        let Some(n) = self.number(id) else { return Vec::new() };
        let mut all: Vec<&ItemId> = self.children_of(n).map(|n| self.id(n)).collect();
        all.sort();
        all
    }

    /// Where an item stands at an instant.
    pub fn standing(&self, id: &str, now: Time) -> Option<Standing> {
        self.number(id).map(|n| self.facts(n).standing(now))
    }

    /// Whether something is in the way of an item that is not over.
    pub fn is_blocked(&self, id: &str) -> bool {
        self.number(id).is_some_and(|n| self.slot(n).blocked() && !self.slot(n).over())
    }

    /// The status that is shown: `blocked` while something is in the way, the base status otherwise.
    pub fn shown_status(&self, id: &str) -> Option<&'static str> {
        let item = self.item(id)?;
        Some(if self.is_blocked(id) { "blocked" } else { item.status.name() })
    }

    /// The most urgent priority among an item and everything open that waits for it.
    pub fn effective_priority(&self, id: &str) -> Option<u8> {
        self.number(id).map(|n| self.slot(n).effective())
    }

    /// The messages of a thread, the first one first: all that answer what this one answers, directly or not.
    pub fn thread(&self, id: &str) -> Vec<&Item> {
        let Some(mut top) = self.number(id) else { return Vec::new() };
        let answered = |n: u32| {
            let replies = |edge: &&u32| self.edge(**edge).dependency.kind == DependencyKind::RepliesTo;
            self.slot(n).out.iter().find(replies).and_then(|edge| match self.edge(*edge).end {
                End::Item(target) => Some(target),
                _ => None,
            })
        };
        // A reply points to a message that was there before it, so this comes to an end.
        while let Some(before) = answered(top) {
            top = before;
        }
        let mut all = vec![top];
        let mut at = 0;
        while let Some(n) = all.get(at) {
            let into = self.slot(*n).into.iter().map(|edge| self.edge(*edge));
            let replies = into.filter(|edge| edge.dependency.kind == DependencyKind::RepliesTo).map(|edge| edge.source);
            all.extend(replies.collect::<Vec<u32>>());
            at += 1;
        }
        let mut items: Vec<&Item> = all.into_iter().map(|n| &self.slot(n).item).collect();
        items.sort_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
        items
    }
}

impl Status {
    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::InProgress => "in_progress",
            Self::Deferred => "deferred",
            Self::Backlog => "backlog",
            Self::Review => "review",
            Self::Closed => "closed",
            Self::Tombstone => "tombstone",
        }
    }
}
