//! The order of lines: each node after its upstreams, and what follows a node as near to it as can be.

use crate::sketch::Sketch;

/// A sketch, ready to be walked.
pub(super) struct Walk<'a> {
    sketch: &'a Sketch,
    ups: Vec<Vec<u32>>,
    downs: Vec<Vec<u32>>,
    members: Vec<Vec<u32>>,
    roots: Vec<u32>,
}

impl<'a> Walk<'a> {
    pub fn of(sketch: &'a Sketch) -> Self {
        let count = sketch.nodes().len();
        let (mut ups, mut downs) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        for edge in sketch.edges() {
            ups[edge.to as usize].push(edge.from);
            downs[edge.from as usize].push(edge.to);
        }
        // Two edges between the same nodes are one track.
        ups.iter_mut().chain(&mut downs).for_each(|list: &mut Vec<u32>| {
            list.sort_unstable();
            list.dedup();
        });
        let (mut members, mut roots) = (vec![Vec::new(); count], Vec::new());
        for (number, node) in (0..).zip(sketch.nodes()) {
            match node.inside {
                Some(group) => members[group as usize].push(number),
                None => roots.push(number),
            }
        }
        Self { sketch, ups, downs, members, roots }
    }

    pub fn ups(&self, node: u32) -> &[u32] {
        &self.ups[node as usize]
    }

    pub fn downs(&self, node: u32) -> &[u32] {
        &self.downs[node as usize]
    }

    pub fn is_group(&self, node: u32) -> bool {
        !self.members[node as usize].is_empty()
    }

    pub fn count(&self) -> usize {
        self.sketch.nodes().len()
    }

    /// The nodes of a group, or of the root, in the order of their lines.
    pub fn order(&self, group: Option<u32>) -> Vec<u32> {
        let members = group.map_or(&self.roots, |group| &self.members[group as usize]);
        let mut open: std::collections::BTreeMap<u32, usize> =
            members.iter().map(|node| (*node, self.ups(*node).len())).collect();
        let mut ready: Vec<u32> = members.iter().rev().copied().filter(|node| self.ups(*node).is_empty()).collect();
        let mut order = Vec::with_capacity(members.len());
        while let Some(node) = ready.pop() {
            order.push(node);
            for down in self.downs(node).iter().rev() {
                if let Some(left) = open.get_mut(down) {
                    *left -= 1;
                    if *left == 0 {
                        ready.push(*down);
                    }
                }
            }
        }
        order
    }
}
