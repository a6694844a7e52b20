//! A region: nodes and edges as two CSR tables.

use super::{Accepts, Join, Statement};
use crate::mark::mark;
use std::fmt::Write;

/// "I need `up`", seen from the downstream node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InEdge {
    /// The upstream node.
    pub up: u32,
    /// What resolutions are accepted.
    pub accepts: Accepts,
}

/// "`down` needs me", seen from the upstream node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutEdge {
    /// The downstream node.
    pub down: u32,
    /// The number of the edge in the region.
    pub edge: u32,
}

/// A sub-graph of a plan, or a chain if it has a script. Edges are numbered by downstream node, then in the author's order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Region {
    pub(super) names: Names,
    pub(super) specs: Vec<u32>,
    pub(super) joins: Vec<Join>,
    pub(super) in_start: Vec<u32>,
    pub(super) in_edges: Vec<InEdge>,
    pub(super) out_start: Vec<u32>,
    pub(super) out_edges: Vec<OutEdge>,
    pub(super) script: Option<Vec<Statement>>,
    /// For each node of a chain the statement that starts it.
    pub(super) started_at: Vec<u32>,
}

impl Region {
    /// How many nodes there are.
    pub fn len(&self) -> u32 {
        self.specs.len() as u32
    }

    /// Whether there is no node at all.
    pub fn is_empty(&self) -> bool {
        self.specs.is_empty()
    }

    /// How many edges there are.
    pub fn edge_count(&self) -> u32 {
        self.in_edges.len() as u32
    }

    /// A node's name.
    pub fn name(&self, node: u32) -> &str {
        self.names.get(node)
    }

    /// The node of a name. Looks at every name: for people, not for the fold.
    pub fn find(&self, name: &str) -> Option<u32> {
        (0..self.len()).find(|n| self.name(*n) == name)
    }

    /// The number of a node's spec.
    pub fn spec(&self, node: u32) -> u32 {
        self.specs[node as usize]
    }

    /// A node's join.
    pub fn join(&self, node: u32) -> Join {
        self.joins[node as usize]
    }

    /// How many in-edges a node has.
    pub fn in_degree(&self, node: u32) -> u32 {
        self.in_start[node as usize + 1] - self.in_start[node as usize]
    }

    /// A node's in-edges with their numbers.
    pub fn needs(&self, node: u32) -> impl Iterator<Item = (u32, InEdge)> + '_ {
        let (from, to) = (self.in_start[node as usize], self.in_start[node as usize + 1]);
        (from..to).map(|edge| (edge, self.in_edges[edge as usize]))
    }

    /// A node's out-edges, in plan order.
    pub fn needed_by(&self, node: u32) -> &[OutEdge] {
        let (from, to) = (self.out_start[node as usize], self.out_start[node as usize + 1]);
        &self.out_edges[from as usize..to as usize]
    }

    /// The statements, if it is a chain.
    pub fn script(&self) -> Option<&[Statement]> {
        self.script.as_deref()
    }

    /// The statement of a chain that starts a node.
    pub fn statement_of(&self, node: u32) -> Option<u32> {
        self.started_at.get(node as usize).copied()
    }

    /// An edge by its number.
    pub fn edge(&self, edge: u32) -> InEdge {
        self.in_edges[edge as usize]
    }
}

/// Many short names in one text: a million of them cost no million allocations.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Names {
    text: String,
    ends: Vec<u32>,
}

impl Names {
    /// A name, or the same with a number behind it from the second time on.
    pub(super) fn push(&mut self, name: &str, time: u32) {
        self.text.push_str(name);
        if time > 1 {
            // Writing into a text cannot fail.
            let _ = write!(self.text, "-{time}");
        }
        self.ends.push(self.text.len() as u32);
    }

    pub(super) fn get(&self, n: u32) -> &str {
        let from = if n == 0 { 0 } else { self.ends[n as usize - 1] as usize };
        &self.text[from..self.ends[n as usize] as usize]
    }

    /// Whether two names may be the same. Numbers are sorted instead of names: there may be a million of them.
    pub(super) fn repeat(&self) -> bool {
        if self.ends.len() < 2 {
            return false;
        }
        let mut marks: Vec<u64> = self.iter().map(mark).collect();
        marks.sort_unstable();
        marks.windows(2).any(|pair| pair[0] == pair[1])
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.ends.len() as u32).map(|n| self.get(n))
    }
}
