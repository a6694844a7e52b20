//! Urgency: an item is as urgent as the most urgent open item that waits for it, directly or not.
//!
//! Each node of the waits-for graph counts how many of those that wait for it have which level, so that a change
//! costs as much as the nodes whose level it changes, however many wait. After one change levels only fall or only
//! rise, and there are six of them: so a node changes five times at most.

use super::Work;
use super::waits::{Node, Part};

/// The level of a node that nothing open waits for: less urgent than every priority.
pub(super) const NONE: u8 = 6;

/// The urgency that reaches a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lent {
    /// How many of its waiters have level 1, 2, 3, 4, 5.
    counts: [u32; 5],
    /// The most urgent of them, and of itself if it is an open item.
    pub level: u8,
    /// Where it stands in the order.
    pub label: u64,
}

impl Default for Lent {
    fn default() -> Self {
        Self { counts: [0; 5], level: NONE, label: 0 }
    }
}

impl Lent {
    fn most_urgent(&self) -> u8 {
        self.counts.iter().position(|count| *count > 0).map_or(NONE, |at| at as u8 + 1)
    }

    fn count(&mut self, level: u8) -> Option<&mut u32> {
        self.counts.get_mut(usize::from(level) - 1)
    }
}

impl Work {
    /// One more thing that `from` waits for.
    pub(super) fn lend(&mut self, from: Node, to: Node) {
        let level = self.lent(from).level;
        if let Some(count) = self.lent_mut(to).count(level) {
            *count += 1;
            self.pending.nodes.push(to);
        }
    }

    /// One thing less that `from` waits for.
    pub(super) fn take_back(&mut self, from: Node, to: Node) {
        let level = self.lent(from).level;
        if let Some(count) = self.lent_mut(to).count(level) {
            *count -= 1;
            self.pending.nodes.push(to);
        }
    }

    /// Carries every change of urgency as far as it goes.
    pub(super) fn settle_urgency(&mut self) {
        while let Some(node) = self.pending.nodes.pop() {
            let own = match node.part() {
                Part::May(n) if !self.slot(n).over() => self.slot(n).item.fields.priority,
                _ => NONE,
            };
            let lent = self.lent_mut(node);
            let (before, now) = (lent.level, lent.most_urgent().min(own));
            if before == now {
                continue;
            }
            lent.level = now;
            if let Part::May(n) = node.part() {
                self.pending.touched.push(n);
            }
            let mut next = Vec::new();
            self.successors(node, &mut |to, still| next.extend(still.then_some(to)));
            for to in next {
                let lent = self.lent_mut(to);
                if let Some(count) = lent.count(before) {
                    *count -= 1;
                }
                if let Some(count) = lent.count(now) {
                    *count += 1;
                }
                self.pending.nodes.push(to);
            }
        }
    }
}
