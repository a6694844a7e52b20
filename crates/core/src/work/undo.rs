//! Undo: what the graph was before some events, kept while they are folded, as much of it as they touch.
//!
//! A command of many events that is refused at its last one costs what it touched, not a graph that is loaded anew. What
//! the lists of the table hold is kept as it was when it was first touched; what is found through indexes follows from
//! that, and what was not there yet is only counted.

use super::order::Order;
use super::table::{Edge, GateSlot, RunSlot, Slot};
use super::waits::Node;
use super::{Status, Target, Work};
use crate::id::EventId;
use std::collections::BTreeMap;

/// What the graph was.
#[derive(Debug, Clone, Default)]
pub(super) struct Before {
    seq: u64,
    last: EventId,
    items: Kept<Slot>,
    gates: Kept<GateSlot>,
    runs: Kept<RunSlot>,
    edges: Kept<Option<Edge>>,
    /// Numbers of dependencies that were taken into use (which) or given back.
    numbers: Vec<Option<u32>>,
    strangers: BTreeMap<Target, Option<Vec<u32>>>,
}

/// A list as it was: how long, and those of its places that were touched.
#[derive(Debug, Clone)]
struct Kept<T> {
    count: usize,
    places: BTreeMap<u32, T>,
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self { count: 0, places: BTreeMap::new() }
    }
}

impl<T: Clone> Kept<T> {
    fn of(list: &[T]) -> Self {
        Self { count: list.len(), ..Self::default() }
    }

    fn keep(&mut self, n: u32, list: &[T]) {
        if (n as usize) < self.count {
            self.places.entry(n).or_insert_with(|| list[n as usize].clone());
        }
    }

    /// The numbers of what was touched or is new.
    fn numbers(&self, list: &[T]) -> Vec<u32> {
        self.places.keys().copied().chain(self.count as u32..list.len() as u32).collect()
    }

    /// Puts back what was there; gives what was not.
    fn put_back(self, list: &mut Vec<T>) -> Vec<T> {
        let new = list.split_off(self.count);
        for (n, was) in self.places {
            list[n as usize] = was;
        }
        new
    }
}

impl Before {
    pub fn item(&mut self, n: u32, list: &[Slot]) {
        self.items.keep(n, list);
    }

    pub fn gate(&mut self, n: u32, list: &[GateSlot]) {
        self.gates.keep(n, list);
    }

    pub fn run(&mut self, n: u32, list: &[RunSlot]) {
        self.runs.keep(n, list);
    }

    pub fn edge(&mut self, n: u32, list: &[Option<Edge>]) {
        self.edges.keep(n, list);
    }

    pub fn number_taken(&mut self, n: u32) {
        self.numbers.push(Some(n));
    }

    pub fn number_given_back(&mut self) {
        self.numbers.push(None);
    }

    pub fn stranger(&mut self, target: &Target, all: &BTreeMap<Target, Vec<u32>>) {
        if !self.strangers.contains_key(target.as_str()) {
            self.strangers.insert(target.clone(), all.get(target.as_str()).cloned());
        }
    }
}

impl Work {
    /// From now on everything that changes can be undone, until it is said that it stays.
    pub fn remember(&mut self) {
        self.before = Some(Box::new(Before {
            seq: self.seq,
            last: self.last,
            items: Kept::of(&self.items),
            gates: Kept::of(&self.gates),
            runs: Kept::of(&self.runs),
            edges: Kept::of(&self.edges),
            ..Before::default()
        }));
    }

    /// Whether what changes now can be undone.
    pub fn remembers(&self) -> bool {
        self.before.is_some()
    }

    /// What changed since [`Work::remember`] stays.
    pub fn stay(&mut self) {
        self.before = None;
    }

    /// Makes the graph what it was at [`Work::remember`]; whether anybody remembers.
    pub fn undo(&mut self) -> bool {
        let Some(before) = self.before.take() else { return false };
        let (items, runs) = (before.items.numbers(&self.items), before.runs.numbers(&self.runs));
        let gates = before.gates.numbers(&self.gates);
        // All that is found goes before anything that was there comes: a place in the order may have another node now.
        items.iter().for_each(|n| self.find_item(*n, false));
        gates.iter().for_each(|n| self.find_gate(*n, false));
        runs.iter().for_each(|n| self.order.set(Node::run(*n), self.runs[*n as usize].may.label, false));
        for new in before.items.put_back(&mut self.items) {
            self.ids.remove(new.item.id.as_str());
        }
        for new in before.gates.put_back(&mut self.gates) {
            self.ids.remove(new.gate.id.as_str());
        }
        for new in before.runs.put_back(&mut self.runs) {
            self.run_numbers.remove(&new.run);
        }
        before.edges.put_back(&mut self.edges);
        for taken in before.numbers.into_iter().rev() {
            match taken {
                Some(n) => self.free_edges.push(n),
                None => drop(self.free_edges.pop()),
            }
        }
        for (target, was) in before.strangers {
            match was {
                Some(was) => drop(self.strangers.insert(target, was)),
                None => drop(self.strangers.remove(target.as_str())),
            }
        }
        let (items_left, gates_left) = (left(items, self.items.len()), left(gates, self.gates.len()));
        items_left.for_each(|n| self.find_item(n, true));
        gates_left.for_each(|n| self.find_gate(n, true));
        left(runs, self.runs.len()).for_each(|n| self.order.set(Node::run(n), self.runs[n as usize].may.label, true));
        (self.seq, self.last) = (before.seq, before.last);
        true
    }

    /// Lets an item be found through the indexes as it stands, or not be found any more.
    fn find_item(&mut self, n: u32, found: bool) {
        let slot = &self.items[n as usize];
        let item = &slot.item;
        if let Some(level) = slot.ready {
            set(&mut self.ready, slot.place(level, n), found);
        }
        if let Some(claim) = &item.claim {
            set(&mut self.claims, (claim.until, n), found);
        }
        if let Some(span) = item.fields.ephemeral.filter(|_| item.status != Status::Tombstone) {
            set(&mut self.ephemeral, (item.created_at.plus(span), n), found);
        }
        self.order.set(Node::may(n), slot.may.label, found);
        self.order.set(Node::outer(n), slot.outer.label, found);
    }

    fn find_gate(&mut self, n: u32, found: bool) {
        if let Some(at) = self.gates[n as usize].gate.opens_at() {
            set(&mut self.timers, (at, n), found);
        }
        self.find_waiters(n, found);
    }
}

/// Those numbers that something has.
fn left(numbers: Vec<u32>, count: usize) -> impl Iterator<Item = u32> {
    numbers.into_iter().filter(move |n| (*n as usize) < count)
}

fn set<T: Ord>(all: &mut std::collections::BTreeSet<T>, one: T, there: bool) {
    if there {
        all.insert(one);
    } else {
        all.remove(&one);
    }
}

impl Order {
    /// Lets a node stand at a label, or nobody.
    fn set(&mut self, node: Node, label: u64, there: bool) {
        if there {
            self.places.insert(label, node);
        } else {
            self.places.remove(&label);
        }
    }
}
