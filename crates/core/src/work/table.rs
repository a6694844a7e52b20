//! The table: everything of the work graph under dense numbers, with the links that lead from one to the other.
//!
//! A number is a place in a list and never leaves this program; ids are what is written down.

use super::RunGateEnd;
use super::urgency::Lent;
use super::{Dependency, DependencyKey, DependencyKind, Item, ItemId, Status, Target, Work, WorkGate};
use crate::id::RunId;
use crate::state::RunState;
use std::collections::BTreeMap;

/// An item and what is derived of it.
#[derive(Debug, Clone)]
pub(super) struct Slot {
    pub item: Item,
    /// Dependencies that it is the source of; the one on its parent stands apart.
    pub out: Vec<u32>,
    /// Dependencies that point to it; those of its children stand apart.
    pub into: Vec<u32>,
    /// The dependency on its parent.
    pub parent: Option<u32>,
    /// The dependencies of its children.
    pub children: Vec<u32>,
    /// How many children are not over.
    pub open_children: u32,
    /// How many of its own prerequisites are in the way.
    pub own: u32,
    /// How many of those are outside its own subtree.
    pub exo: u32,
    /// What it has from its parents.
    pub around: Around,
    /// Whether it was last shown as blocked.
    pub shown_blocked: bool,
    /// Urgency that reaches "it may run or close".
    pub may: Lent,
    /// Urgency that reaches "its outside obstacles".
    pub outer: Lent,
    /// The first part of its place in the ready order, while it has one.
    pub ready: Option<(u8, u8)>,
}

/// What an item has from the items around it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Around {
    /// Something outside is in the way of one of them.
    pub inherited: bool,
    /// The plan that is being written, itself or around it.
    pub draft_in: Option<u32>,
    /// The ephemeral instance, itself or around it.
    pub ephemeral_in: Option<u32>,
}

/// A dependency, and what is derived of it.
#[derive(Debug, Clone)]
pub(super) struct Edge {
    pub dependency: Dependency,
    pub source: u32,
    pub end: End,
    /// Whether what is waited for is outside the waiter's own subtree.
    pub outside: bool,
    /// Whether it is in the way, and counted as such.
    pub counted: bool,
}

/// What a dependency points to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Item(u32),
    Gate(u32),
    Run(u32),
    /// Nobody here knows it.
    Nobody,
}

/// A gate, and who waits for it.
#[derive(Debug, Clone)]
pub(super) struct GateSlot {
    pub gate: WorkGate,
    pub into: Vec<u32>,
}

/// A run, who waits for it, and which items and sub-runs it waits for.
#[derive(Debug, Clone)]
pub(super) struct RunSlot {
    pub run: RunId,
    pub state: Option<RunState>,
    /// How those of its gates ended that are known to have, by their paths.
    pub gates: BTreeMap<Box<str>, RunGateEnd>,
    /// Dependencies on it, and on gates of it: whoever waits for one waits for the run as far as cycles go.
    pub into: Vec<u32>,
    pub made: Vec<u32>,
    /// The run that it is a sub-run of, and its own sub-runs, as far as they have to do with items.
    pub within: Option<u32>,
    pub below: Vec<u32>,
    pub may: Lent,
}

impl RunSlot {
    fn new(run: RunId) -> Self {
        let (into, made, below) = (Vec::new(), Vec::new(), Vec::new());
        let gates = BTreeMap::new();
        Self { run, state: None, gates, into, made, within: None, below, may: Lent::default() }
    }
}

/// What an id stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    Item(u32),
    Gate(u32),
}

impl Slot {
    pub fn new(item: Item) -> Self {
        Self {
            item,
            out: Vec::new(),
            into: Vec::new(),
            parent: None,
            children: Vec::new(),
            open_children: 0,
            own: 0,
            exo: 0,
            around: Around::default(),
            shown_blocked: false,
            may: Lent::default(),
            outer: Lent::default(),
            ready: None,
        }
    }

    /// Whether it is closed or deleted.
    pub fn over(&self) -> bool {
        self.item.status.is_over()
    }

    /// Whether something is in its way.
    pub fn blocked(&self) -> bool {
        self.own > 0 || self.around.inherited
    }

    /// Whether it is in the way of its children.
    pub fn locks(&self) -> bool {
        self.exo > 0 || self.around.inherited
    }
}

impl Edge {
    /// Whether somebody waits through it, the hierarchy left aside.
    pub fn waits(&self) -> bool {
        matches!(self.dependency.kind, DependencyKind::Blocks | DependencyKind::Awaits)
    }

    pub fn key(&self) -> DependencyKey {
        let Dependency { source, target, kind, .. } = &self.dependency;
        DependencyKey::new(source.clone(), target.clone(), *kind)
    }
}

impl Work {
    pub(super) fn slot(&self, n: u32) -> &Slot {
        &self.items[n as usize]
    }

    pub(super) fn slot_mut(&mut self, n: u32) -> &mut Slot {
        if let Some(before) = &mut self.before {
            before.item(n, &self.items);
        }
        &mut self.items[n as usize]
    }

    pub(super) fn gate_mut(&mut self, n: u32) -> &mut GateSlot {
        if let Some(before) = &mut self.before {
            before.gate(n, &self.gates);
        }
        &mut self.gates[n as usize]
    }

    pub(super) fn run_mut(&mut self, n: u32) -> &mut RunSlot {
        if let Some(before) = &mut self.before {
            before.run(n, &self.runs);
        }
        &mut self.runs[n as usize]
    }

    /// The dependency under a number that is in use.
    pub(super) fn edge(&self, n: u32) -> &Edge {
        self.edges[n as usize].as_ref().expect("a number in a list of dependencies is one that is in use")
    }

    /// What stands under a number of a dependency, in use or not.
    pub(super) fn edge_place(&mut self, n: u32) -> &mut Option<Edge> {
        if let Some(before) = &mut self.before {
            before.edge(n, &self.edges);
        }
        &mut self.edges[n as usize]
    }

    pub(super) fn edge_mut(&mut self, n: u32) -> &mut Edge {
        self.edge_place(n).as_mut().expect("a number in a list of dependencies is one that is in use")
    }

    pub(super) fn id(&self, n: u32) -> &ItemId {
        &self.slot(n).item.id
    }

    /// The number of an item that was not deleted, or was.
    pub(super) fn number(&self, id: &str) -> Option<u32> {
        match self.ids.get(id) {
            Some(Known::Item(n)) => Some(*n),
            _ => None,
        }
    }

    pub(super) fn gate_number(&self, id: &str) -> Option<u32> {
        match self.ids.get(id) {
            Some(Known::Gate(n)) => Some(*n),
            _ => None,
        }
    }

    pub(super) fn parent_of(&self, n: u32) -> Option<u32> {
        let edge = self.edge(self.slot(n).parent?);
        match edge.end {
            End::Item(parent) => Some(parent),
            _ => None,
        }
    }

    pub(super) fn children_of(&self, n: u32) -> impl Iterator<Item = u32> + '_ {
        self.slot(n).children.iter().map(|edge| self.edge(*edge).source)
    }

    /// The parent, its parent, and so on.
    pub(super) fn above(&self, n: u32) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors(self.parent_of(n), |n| self.parent_of(*n))
    }

    /// An item and everything below it.
    pub(super) fn subtree(&self, n: u32) -> Vec<u32> {
        let mut all = vec![n];
        let mut at = 0;
        while let Some(n) = all.get(at) {
            let children: Vec<u32> = self.children_of(*n).collect();
            all.extend(children);
            at += 1;
        }
        all
    }

    /// What a text stands for: an item, a gate, a run or a gate of one, or nothing that is known here.
    pub(super) fn end(&self, target: &Target) -> End {
        match self.ids.get(target.as_str()) {
            Some(Known::Item(n)) if self.slot(*n).item.status == Status::Tombstone => End::Nobody,
            Some(Known::Item(n)) => End::Item(*n),
            Some(Known::Gate(n)) => End::Gate(*n),
            None => target.of_run().and_then(|run| self.run_numbers.get(&run)).map_or(End::Nobody, |n| End::Run(*n)),
        }
    }

    /// The dependencies that point to something.
    pub(super) fn into(&self, target: &Target) -> &[u32] {
        match self.end(target) {
            End::Item(n) => &self.slot(n).into,
            End::Gate(n) => &self.gates[n as usize].into,
            End::Run(n) => &self.runs[n as usize].into,
            End::Nobody => self.strangers.get(target.as_str()).map_or(&[], Vec::as_slice),
        }
    }

    pub(super) fn pointing_to(&mut self, end: End, target: &Target) -> &mut Vec<u32> {
        match end {
            End::Item(n) => &mut self.slot_mut(n).into,
            End::Gate(n) => &mut self.gate_mut(n).into,
            End::Run(n) => &mut self.run_mut(n).into,
            End::Nobody => {
                self.keep_stranger(target);
                self.strangers.entry(target.clone()).or_default()
            }
        }
    }

    pub(super) fn keep_stranger(&mut self, target: &Target) {
        if let Some(before) = &mut self.before {
            before.stranger(target, &self.strangers);
        }
    }

    /// The number of a dependency.
    pub(super) fn find(&self, key: &DependencyKey) -> Option<u32> {
        let source = self.slot(self.number(key.source.as_str())?);
        let fits = |n: &&u32| {
            let Dependency { target, kind, .. } = &self.edge(**n).dependency;
            *kind == key.kind && *target == key.target
        };
        source.out.iter().chain(source.parent.as_ref()).find(fits).copied()
    }

    /// The number of a run, given one if it has none.
    pub(super) fn run_number(&mut self, run: RunId) -> u32 {
        let next = self.runs.len() as u32;
        let n = *self.run_numbers.entry(run).or_insert(next);
        if n == next {
            self.runs.push(RunSlot::new(run));
            self.stand_last(super::waits::Node::run(n));
            self.introduce_run(run);
        }
        n
    }
}
