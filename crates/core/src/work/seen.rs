//! What a search has seen, and where it came from: a small table by number, as large as the search and no larger.

use super::waits::Node;

/// Nodes that were seen, each with the one before it.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// Code and code of the one before, by the hash of the code; a place is empty where `EMPTY` stands.
    places: Vec<(u32, u32)>,
    count: usize,
}

const EMPTY: u32 = u32::MAX;

impl Seen {
    /// Whether it is new.
    pub fn add(&mut self, node: Node, before: Node) -> bool {
        if self.count * 2 >= self.places.len() {
            self.grow();
        }
        let at = self.place(node.code());
        if self.places[at].0 != EMPTY {
            return false;
        }
        self.places[at] = (node.code(), before.code());
        self.count += 1;
        true
    }

    /// The code of the one before a node, if it was seen.
    pub fn before(&self, code: u32) -> Option<u32> {
        if self.places.is_empty() {
            return None;
        }
        let (found, before) = self.places[self.place(code)];
        (found != EMPTY).then_some(before)
    }

    pub fn has(&self, node: Node) -> bool {
        self.before(node.code()).is_some()
    }

    fn place(&self, code: u32) -> usize {
        let mask = self.places.len() - 1;
        let mut at = (u64::from(code).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & mask;
        while self.places[at].0 != EMPTY && self.places[at].0 != code {
            at = (at + 1) & mask;
        }
        at
    }

    fn grow(&mut self) {
        let wider = (self.places.len() * 2).max(32);
        let old = std::mem::replace(&mut self.places, vec![(EMPTY, EMPTY); wider]);
        for (code, before) in old {
            if code != EMPTY {
                let at = self.place(code);
                self.places[at] = (code, before);
            }
        }
    }
}
