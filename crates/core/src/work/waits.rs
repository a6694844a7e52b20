//! The waits-for graph: one graph that refuses cycles and carries urgency.
//!
//! Two nodes for each item, because of the subtree rule: "it may run or close", and "its outside obstacles", which
//! are in the way of everything below it. An item waits for its own prerequisites, for the outside obstacles of its
//! parent, and for its children; the outside obstacles of an item are its prerequisites outside its subtree, and those
//! of its parent. A run waits for the items that it made, and for its sub-runs. The graph is not stored: it is read off
//! the table.

use super::Work;
use super::table::End;
use super::urgency::Lent;

/// A node of the waits-for graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Node(u32);

/// What a node stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// The item may run or close.
    May(u32),
    /// The item's outside obstacles.
    Outer(u32),
    /// The run may end.
    Run(u32),
}

impl Node {
    pub const fn may(item: u32) -> Self {
        Self(item << 2)
    }

    pub const fn outer(item: u32) -> Self {
        Self(item << 2 | 1)
    }

    pub const fn run(run: u32) -> Self {
        Self(run << 2 | 2)
    }

    pub fn part(self) -> Part {
        let n = self.0 >> 2;
        match self.0 & 3 {
            0 => Part::May(n),
            1 => Part::Outer(n),
            _ => Part::Run(n),
        }
    }

    pub fn from_code(code: u32) -> Self {
        Self(code)
    }

    /// A number that no other node has.
    pub fn code(self) -> u32 {
        self.0
    }
}

impl End {
    /// The node that is waited for; a gate and a stranger wait for nobody here, so they have none.
    pub(super) fn node(self) -> Option<Node> {
        match self {
            Self::Item(n) => Some(Node::may(n)),
            Self::Run(n) => Some(Node::run(n)),
            Self::Gate(_) | Self::Nobody => None,
        }
    }
}

impl Work {
    /// What a node waits for, and whether it still does.
    pub(super) fn successors(&self, node: Node, visit: &mut impl FnMut(Node, bool)) {
        match node.part() {
            Part::May(n) => {
                self.prerequisites(n, false, visit);
                if let Some(parent) = self.parent_of(n) {
                    visit(Node::outer(parent), true);
                }
                for child in self.children_of(n) {
                    visit(Node::may(child), !self.slot(child).over());
                }
            }
            Part::Outer(n) => {
                self.prerequisites(n, true, visit);
                if let Some(parent) = self.parent_of(n) {
                    visit(Node::outer(parent), true);
                }
            }
            Part::Run(n) => {
                let slot = &self.runs[n as usize];
                for item in &slot.made {
                    visit(Node::may(*item), !self.slot(*item).over());
                }
                slot.below.iter().for_each(|run| visit(Node::run(*run), true));
            }
        }
    }

    fn prerequisites(&self, n: u32, outside_only: bool, visit: &mut impl FnMut(Node, bool)) {
        for edge in self.slot(n).out.iter().map(|edge| self.edge(*edge)) {
            if let Some(node) = edge.end.node().filter(|_| edge.waits() && (edge.outside || !outside_only)) {
                visit(node, edge.counted);
            }
        }
    }

    /// Which nodes wait for a node, and whether they still do.
    pub(super) fn predecessors(&self, node: Node, visit: &mut impl FnMut(Node, bool)) {
        match node.part() {
            Part::May(n) => {
                let slot = self.slot(n);
                self.waiters(&slot.into, visit);
                if let Some(parent) = self.parent_of(n) {
                    visit(Node::may(parent), !slot.over());
                }
                if let Some(run) = slot.item.waiter.as_ref().and_then(|waiter| self.run_numbers.get(&waiter.run)) {
                    visit(Node::run(*run), !slot.over());
                }
            }
            Part::Outer(n) => {
                for child in self.children_of(n) {
                    visit(Node::may(child), true);
                    visit(Node::outer(child), true);
                }
            }
            Part::Run(n) => {
                let slot = &self.runs[n as usize];
                self.waiters(&slot.into, visit);
                if let Some(run) = slot.within {
                    visit(Node::run(run), true);
                }
            }
        }
    }

    fn waiters(&self, into: &[u32], visit: &mut impl FnMut(Node, bool)) {
        for edge in into.iter().map(|edge| self.edge(*edge)).filter(|edge| edge.waits()) {
            visit(Node::may(edge.source), edge.counted);
            if edge.outside {
                visit(Node::outer(edge.source), edge.counted);
            }
        }
    }

    pub(super) fn lent(&self, node: Node) -> &Lent {
        match node.part() {
            Part::May(n) => &self.slot(n).may,
            Part::Outer(n) => &self.slot(n).outer,
            Part::Run(n) => &self.runs[n as usize].may,
        }
    }

    pub(super) fn lent_mut(&mut self, node: Node) -> &mut Lent {
        match node.part() {
            Part::May(n) => &mut self.slot_mut(n).may,
            Part::Outer(n) => &mut self.slot_mut(n).outer,
            Part::Run(n) => &mut self.run_mut(n).may,
        }
    }
}
