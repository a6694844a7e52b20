//! What DOT and Mermaid have in common: groups are written around what they hold, and phases have colours.

use super::{Node, Sketch};
use crate::state::Phase;

impl Sketch {
    /// Walks the tree of groups without a recursion.
    pub(super) fn nested<'a>(&'a self, mut see: impl FnMut(Nested<'a>)) {
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); self.nodes.len() + 1];
        for (number, node) in (0..).zip(&self.nodes) {
            members[node.inside.map_or(0, |group| group as usize + 1)].push(number);
        }
        members.iter_mut().for_each(|list| list.reverse());
        let mut begun = vec![0];
        while let Some(level) = begun.last().copied() {
            let depth = begun.len();
            let Some(number) = members[level].pop() else {
                begun.pop();
                if level > 0 {
                    see(Nested::Close(depth - 1));
                }
                continue;
            };
            let node = &self.nodes[number as usize];
            if members[number as usize + 1].is_empty() {
                see(Nested::Leaf(number, node, depth));
            } else {
                see(Nested::Open(number, node, depth));
                begun.push(number as usize + 1);
            }
        }
    }
}

/// What a walk over groups meets, with how deep it is.
pub(super) enum Nested<'a> {
    /// A group begins.
    Open(u32, &'a Node, usize),
    /// A node that holds nothing.
    Leaf(u32, &'a Node, usize),
    /// The innermost group ends.
    Close(usize),
}

pub(super) fn pad(depth: usize) -> String {
    // Deeper nesting is not easier to read for being indented further.
    "  ".repeat(depth.min(20))
}

/// The fill and the border of a phase, on light ground.
pub(super) fn colours(phase: Phase) -> (&'static str, &'static str) {
    match phase {
        Phase::Blocked | Phase::Skipped => ("#ffffff", "#8c959f"),
        Phase::Ready => ("#f6f8fa", "#59636e"),
        Phase::Running => ("#ddf4ff", "#0969da"),
        Phase::Waiting | Phase::Cancelled => ("#fff8c5", "#9a6700"),
        Phase::Succeeded => ("#dafbe1", "#1a7f37"),
        Phase::Failed => ("#ffebe9", "#cf222e"),
    }
}
