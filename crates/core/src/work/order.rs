//! The order: every node of the waits-for graph has a label, and waits only for nodes with a larger one.
//!
//! So whoever looks for a cycle need not look past the labels of both ends of a new edge. An edge against the order is
//! mended by moving the smaller of two sets: what its end leads to behind its start, or what leads to its start before
//! its end. Labels have room between them; where it runs out, those around are spread anew.

use super::Work;
use super::seen::Seen;
use super::waits::Node;
use std::collections::{BTreeMap, VecDeque};

/// The room behind the last label.
const ROOM: u64 = 1 << 32;
/// The room that labels have after they were spread.
const SPREAD: u64 = 1 << 16;

/// Which node has which label.
#[derive(Debug, Clone, Default)]
pub(super) struct Order {
    pub(super) places: BTreeMap<u64, Node>,
    /// While rows are read labels are not kept: they are given once, at the end.
    pub loading: bool,
}

impl Work {
    /// A new node stands last.
    pub(super) fn stand_last(&mut self, node: Node) {
        if self.order.loading {
            return;
        }
        let label = self.order.places.last_key_value().map_or(0, |(label, _)| *label) + ROOM;
        self.order.places.insert(label, node);
        self.lent_mut(node).label = label;
    }

    /// Brings the ends of new edges into order. They close no cycle: that was checked.
    pub(super) fn arrange(&mut self, edges: &[(Node, Node)]) {
        for (from, to) in edges {
            let (start, end) = (self.lent(*from).label, self.lent(*to).label);
            if start < end || self.order.loading {
                continue;
            }
            let (behind, mut moved) = self.smaller_side(*from, *to);
            moved.sort_by_key(|node| self.lent(*node).label);
            for node in &moved {
                let label = self.lent(*node).label;
                self.order.places.remove(&label);
            }
            let after =
                if behind { start } else { self.order.places.range(..end).next_back().map_or(0, |(label, _)| *label) };
            self.insert_after(after, &moved);
        }
    }

    /// What is moved so that `from` comes before `to`: whether behind `from`, and which nodes.
    fn smaller_side(&self, from: Node, to: Node) -> (bool, Vec<Node>) {
        let (start, end) = (self.lent(from).label, self.lent(to).label);
        let (mut down, mut up) = (Walk::new(to), Walk::new(from));
        loop {
            match down.open.pop() {
                None => return (true, down.all),
                Some(node) => self.successors(node, &mut |next, _| {
                    if self.lent(next).label <= start {
                        down.seen(next);
                    }
                }),
            }
            match up.open.pop() {
                None => return (false, up.all),
                Some(node) => self.predecessors(node, &mut |next, _| {
                    if self.lent(next).label >= end {
                        up.seen(next);
                    }
                }),
            }
        }
    }

    /// Gives nodes labels behind a label and before the next one, spreading those behind where there is no room.
    fn insert_after(&mut self, after: u64, nodes: &[Node]) {
        let mut all = nodes.to_vec();
        let mut window = 0;
        loop {
            let mut behind = self.order.places.range(after + 1..);
            let near: Vec<(u64, Node)> = behind.by_ref().take(window).map(|(label, node)| (*label, *node)).collect();
            let next = behind.next().map(|(label, _)| *label);
            let count = (nodes.len() + near.len()) as u64 + 1;
            let room = next.map_or(ROOM, |next| (next - after) / count);
            if room < if window == 0 { 1 } else { SPREAD } && next.is_some() {
                window = (window * 2).max(32);
                continue;
            }
            for (label, node) in near {
                self.order.places.remove(&label);
                all.push(node);
            }
            for (at, node) in all.iter().enumerate() {
                let label = after + room * (at as u64 + 1);
                self.order.places.insert(label, *node);
                self.lent_mut(*node).label = label;
            }
            return;
        }
    }

    /// Edges that go against the order: none, unless there is a bug.
    pub(super) fn out_of_order(&self) -> usize {
        let items = (0..self.items.len() as u32).flat_map(|n| [Node::may(n), Node::outer(n)]);
        let mut wrong = 0;
        for node in items.chain((0..self.runs.len() as u32).map(Node::run)) {
            let label = self.lent(node).label;
            self.successors(node, &mut |to, _| wrong += usize::from(self.lent(to).label <= label));
        }
        wrong
    }

    /// Gives every node a label: first those that nobody waits for, then those that only they wait for, and so on.
    pub(super) fn arrange_all(&mut self) {
        self.order = Order::default();
        let items = (0..self.items.len() as u32).flat_map(|n| [Node::may(n), Node::outer(n)]);
        let all: Vec<Node> = items.chain((0..self.runs.len() as u32).map(Node::run)).collect();
        let mut waited: Vec<u32> = vec![0; all.iter().map(|node| node.code() as usize + 1).max().unwrap_or(0)];
        for node in &all {
            self.successors(*node, &mut |to, _| waited[to.code() as usize] += 1);
        }
        let mut free: VecDeque<Node> = all.iter().copied().filter(|node| waited[node.code() as usize] == 0).collect();
        let mut label = 0;
        while let Some(node) = free.pop_front() {
            label += ROOM;
            self.order.places.insert(label, node);
            self.lent_mut(node).label = label;
            self.successors(node, &mut |to, _| {
                let count = &mut waited[to.code() as usize];
                *count -= 1;
                if *count == 0 {
                    free.push_back(to);
                }
            });
        }
        // Only a graph with a cycle in it, which no check let through, leaves any.
        for node in all.into_iter().filter(|node| waited[node.code() as usize] > 0) {
            self.stand_last(node);
        }
    }
}

/// One side of a search.
struct Walk {
    known: Seen,
    all: Vec<Node>,
    open: Vec<Node>,
}

impl Walk {
    fn new(start: Node) -> Self {
        let mut walk = Self { known: Seen::default(), all: Vec::new(), open: Vec::new() };
        walk.seen(start);
        walk
    }

    fn seen(&mut self, node: Node) {
        if self.known.add(node, node) {
            self.all.push(node);
            self.open.push(node);
        }
    }
}
