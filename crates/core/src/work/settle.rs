//! Settling: after an event has changed base facts, everything derived follows, as far as it goes and no further.
//!
//! Nothing is derived while an event is applied: it only notes where to look. So the order in which an event changes
//! things does not matter, and what is derived is looked at when the base facts are whole.

use super::table::Around;
use super::waits::Node;
use super::{Changed, Close, Closed, ItemKind, Note, NoteKind, Phase, Status, Work};
use crate::fold::Stamp;
use crate::name::Name;
use std::collections::BTreeSet;

/// Where to look.
#[derive(Debug, Clone, Default)]
pub(super) struct Pending {
    /// Nodes that urgency may have changed of.
    pub nodes: Vec<Node>,
    /// Items that may have something else from the items around them, or for those below.
    pub around: Vec<u32>,
    /// Items whose row may differ.
    pub touched: Vec<u32>,
    /// Items whose outside obstacles changed: the rows of everything below differ.
    pub below: Vec<u32>,
    /// Items whose last open child may be over.
    pub complete: Vec<u32>,
}

/// One event being folded: who, when, and what changed.
pub(super) struct Turn<'a> {
    pub stamp: Stamp,
    pub seq: u64,
    pub by: Option<Name>,
    pub changed: &'a mut Changed,
}

impl Turn<'_> {
    pub fn note(&mut self, item: &super::ItemId, what: NoteKind) {
        let (item, by) = (item.clone(), self.by.clone());
        self.changed.notes.push(Note { item, seq: self.seq, at: self.stamp.at, by, what });
    }

    /// A note that nobody did: it followed.
    fn followed(&mut self, item: &super::ItemId, what: NoteKind) {
        self.changed.notes.push(Note { item: item.clone(), seq: self.seq, at: self.stamp.at, by: None, what });
    }
}

impl Work {
    /// Brings everything derived up to date.
    pub(super) fn settle(&mut self, turn: &mut Turn<'_>) {
        loop {
            self.settle_around();
            self.settle_urgency();
            self.settle_below();
            self.settle_touched(turn);
            if !self.settle_complete(turn) {
                return;
            }
        }
    }

    /// The same where nobody is to be told: after loading.
    pub(super) fn settle_silently(&mut self) {
        self.settle_around();
        // The most urgent first: then each node gets its level once.
        let mut items: Vec<u32> = (0..self.items.len() as u32).collect();
        items.sort_by_key(|n| std::cmp::Reverse(self.slot(*n).item.fields.priority));
        self.pending.nodes = items.into_iter().map(Node::may).collect();
        self.settle_urgency();
        self.pending = Pending::default();
        for n in 0..self.items.len() as u32 {
            self.place(n);
            let slot = self.slot_mut(n);
            slot.shown_blocked = slot.blocked() && !slot.over();
        }
    }

    fn settle_around(&mut self) {
        let mut open = std::mem::take(&mut self.pending.around);
        let mut told = BTreeSet::new();
        while let Some(n) = open.pop() {
            let now = self.around(n);
            let before = std::mem::replace(&mut self.slot_mut(n).around, now);
            if before != now {
                self.pending.touched.push(n);
            }
            if told.insert(n) || before != now {
                let stale = |child: &u32| self.around(*child) != self.slot(*child).around;
                open.extend(self.children_of(n).filter(stale));
            }
        }
    }

    /// What an item has from its parent as that one stands.
    fn around(&self, n: u32) -> Around {
        let item = &self.slot(n).item;
        let mut around = match self.parent_of(n) {
            None => Around::default(),
            Some(parent) => Around { inherited: self.slot(parent).locks(), ..self.slot(parent).around },
        };
        if item.kind == ItemKind::Plan && item.phase == Some(Phase::Draft) {
            around.draft_in = Some(n);
        }
        if item.kind == ItemKind::Instance && item.fields.ephemeral.is_some() {
            around.ephemeral_in = Some(n);
        }
        around
    }

    fn settle_below(&mut self) {
        let mut tops = std::mem::take(&mut self.pending.below);
        tops.sort_unstable();
        tops.dedup();
        for top in tops {
            for n in self.subtree(top) {
                if !self.slot(n).over() {
                    self.pending.touched.push(n);
                }
            }
        }
    }

    fn settle_touched(&mut self, turn: &mut Turn<'_>) {
        let mut touched = std::mem::take(&mut self.pending.touched);
        touched.sort_unstable();
        touched.dedup();
        touched.sort_by(|a, b| self.id(*a).cmp(self.id(*b)));
        for n in touched {
            self.place(n);
            let slot = self.slot_mut(n);
            let blocked = slot.blocked() && !slot.over();
            let (status, id) = (slot.item.status, slot.item.id.clone());
            if std::mem::replace(&mut slot.shown_blocked, blocked) != blocked && !slot.over() {
                let what = if blocked {
                    NoteKind::AutoBlocked { previous: status }
                } else {
                    NoteKind::AutoUnblocked { status }
                };
                turn.followed(&id, what);
                if !blocked && !self.slot(n).children.is_empty() && self.slot(n).open_children == 0 {
                    self.pending.complete.push(n);
                }
            }
            turn.changed.items.insert(id);
        }
    }

    /// Items whose children are all over are told so, or close by themselves. Whether one of them closed.
    fn settle_complete(&mut self, turn: &mut Turn<'_>) -> bool {
        let mut closed = false;
        let candidates: BTreeSet<u32> = std::mem::take(&mut self.pending.complete).into_iter().collect();
        for n in candidates {
            let slot = self.slot(n);
            if slot.over() || slot.open_children > 0 || slot.children.is_empty() || slot.blocked() {
                continue;
            }
            let id = slot.item.id.clone();
            turn.followed(&id, NoteKind::CompletionEligible);
            if slot.item.fields.auto_complete {
                let how = self.how_children_ended(n);
                turn.followed(&id, NoteKind::AutoCompleted { how });
                let by = turn.by.clone().unwrap_or_else(|| slot.item.created_by.clone());
                self.close(n, Closed { how, why: None, by, at: turn.stamp.at });
                closed = true;
            }
        }
        closed
    }

    /// Failed if a child failed, cancelled if all of them were, done otherwise.
    fn how_children_ended(&self, n: u32) -> Close {
        let ends: BTreeSet<Close> =
            self.children_of(n).filter_map(|child| Some(self.slot(child).item.closed.as_ref()?.how)).collect();
        match (ends.contains(&Close::Failed), ends.contains(&Close::Done)) {
            (true, _) => Close::Failed,
            (false, true) => Close::Done,
            (false, false) => Close::Cancelled,
        }
    }

    /// Closes an item, with all that is counted of it being open.
    pub(super) fn close(&mut self, n: u32, closed: Closed) {
        let phase = ended_phase(self.slot(n).item.kind, closed.how);
        self.drop_claim(n);
        let item = &mut self.slot_mut(n).item;
        item.updated_at = closed.at;
        item.closed = Some(closed);
        item.phase = phase;
        self.set_status(n, Status::Closed);
    }

    /// Another base status, and what follows for whoever waits.
    pub(super) fn set_status(&mut self, n: u32, status: Status) {
        let was = self.slot(n).over();
        self.slot_mut(n).item.status = status;
        self.pending.touched.push(n);
        self.pending.around.push(n);
        let is = status.is_over();
        if was != is {
            self.pending.nodes.push(Node::may(n));
            let run = self.slot(n).item.waiter.as_ref().and_then(|waiter| self.run_numbers.get(&waiter.run)).copied();
            let parent = self.parent_of(n);
            let waiting = parent.map(Node::may).into_iter().chain(run.map(Node::run));
            for from in waiting {
                if is { self.take_back(from, Node::may(n)) } else { self.lend(from, Node::may(n)) }
            }
            match parent {
                Some(parent) if is => self.child_over(parent),
                Some(parent) => self.slot_mut(parent).open_children += 1,
                None => {}
            }
        }
        let into = self.slot(n).into.clone();
        self.weigh_all(&into);
    }

    /// Nobody has it any more.
    pub(super) fn drop_claim(&mut self, n: u32) -> Option<super::Claimed> {
        let claim = self.slot_mut(n).item.claim.take()?;
        self.claims.remove(&(claim.until, n));
        self.pending.touched.push(n);
        Some(claim)
    }
}

/// The phase of what was closed.
pub(super) fn ended_phase(kind: ItemKind, how: Close) -> Option<Phase> {
    match (kind, how) {
        (ItemKind::Plan | ItemKind::Instance, Close::Done) => Some(Phase::Completed),
        (ItemKind::Instance, Close::Failed) => Some(Phase::Failed),
        (ItemKind::Plan, Close::Failed) | (ItemKind::Plan | ItemKind::Instance, Close::Cancelled) => {
            Some(Phase::Cancelled)
        }
        _ => None,
    }
}
