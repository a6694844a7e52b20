//! `ItemDeleted`: an item is gone but for its tombstone. Its dependencies go with it, on both sides; its children
//! belong to its parent from now on. None of this can close a cycle: whoever could be reached before through the
//! item still can, and nobody else.

use super::said;
use crate::error::Result;
use crate::work::settle::Turn;
use crate::work::{DependencyKind, ItemAct, NoteKind, Status, Work};

pub(super) fn check(work: &Work, event: &ItemAct) -> Result<()> {
    work.alive(&event.id)?;
    said::why(event.why.as_ref())
}

pub(super) fn apply(work: &mut Work, turn: &mut Turn<'_>, event: &ItemAct) {
    let Some(n) = work.number(event.id.as_str()) else { return };
    turn.note(&event.id, NoteKind::Deleted { why: event.why.clone() });
    work.drop_claim(n);
    let slot = work.slot(n);
    let mut edges: Vec<u32> = slot.out.iter().chain(&slot.into).copied().collect();
    edges.sort_by_key(|edge| work.edge(*edge).key());
    for edge in edges {
        work.unlink(edge, turn);
    }
    let above = work.parent_of(n);
    let mut children: Vec<u32> = work.children_of(n).collect();
    children.sort_by(|a, b| work.id(*a).cmp(work.id(*b)));
    for child in children {
        work.set_parent(child, above, turn);
    }
    work.set_parent(n, None, turn);
    let item = &mut work.slot_mut(n).item;
    item.updated_at = turn.stamp.at;
    item.closed = None;
    if let Some(span) = item.fields.ephemeral {
        let at = item.created_at.plus(span);
        work.ephemeral.remove(&(at, n));
    }
    work.set_status(n, Status::Tombstone);
    debug_assert!(work.slot(n).out.iter().all(|edge| work.edge(*edge).dependency.kind != DependencyKind::ParentChild));
}
