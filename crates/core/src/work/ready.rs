//! What is ready, in order. The order is maintained, so that asking for a few costs a few.

use super::standing::Facts;
use super::{Filter, Item, ItemId, ItemKind, Sort, Standing, Status, Work};
use crate::error::Result;
use crate::name::Name;
use crate::time::Time;
use std::collections::BTreeSet;

/// The place of an item in the ready order: tasks first, then effective priority, priority, created, id; and its number.
/// Who asks for a few tasks has not to look past all the plans that hold them.
pub(super) type Place = (bool, u8, u8, Time, ItemId, u32);

impl Work {
    /// Gives an item its place in the ready order, or takes it away.
    pub(super) fn place(&mut self, n: u32) {
        let slot = self.slot(n);
        let now = slot.structurally_ready().then(|| (slot.effective(), slot.item.fields.priority));
        if slot.ready == now {
            return;
        }
        let before = slot.ready.map(|level| slot.place(level, n));
        let after = now.map(|level| slot.place(level, n));
        if let Some(place) = before {
            self.ready.remove(&place);
        }
        self.ready.extend(after);
        self.slot_mut(n).ready = now;
    }

    /// What can be begun at an instant, in the order that the filter names; with what `who` has already begun.
    pub fn ready(&self, now: Time, filter: &Filter, who: Option<&Name>) -> Result<Vec<&Item>> {
        self.ready_counted(now, filter, who).map(|(found, _)| found)
    }

    /// The same, with how many places of the order were looked at: what it costs.
    pub fn ready_counted(&self, now: Time, filter: &Filter, who: Option<&Name>) -> Result<(Vec<&Item>, usize)> {
        let scope = self.scope(filter)?;
        let mut looked = 0;
        let mut fits = |n: u32| {
            looked += 1;
            // What costs less is asked first.
            if !self.fits(n, filter, &scope) {
                return false;
            }
            match self.facts(n).standing(now) {
                Standing::Ready => true,
                Standing::Ephemeral(_) => filter.ephemeral,
                Standing::Claimed(by, _) => {
                    who == Some(&by) && (filter.ephemeral || self.slot(n).around.ephemeral_in.is_none())
                }
                _ => false,
            }
        };
        let limit = filter.limit.unwrap_or(usize::MAX);
        let tasks = filter.kinds.iter().all(|kind| *kind == ItemKind::Task);
        let in_order = tasks && filter.sort == Sort::Effective;
        let most = if in_order { limit } else { usize::MAX };
        let places = self.ready.iter().take_while(|place| !(tasks && place.0));
        let mut found: Vec<u32> = places.map(|place| place.5).filter(|n| fits(*n)).take(most).collect();
        if !in_order {
            self.sort(&mut found, filter.sort);
            found.truncate(limit);
        }
        Ok((found.into_iter().map(|n| &self.slot(n).item).collect(), looked))
    }

    /// What something is in the way of, most urgent first.
    pub fn blocked(&self, now: Time, filter: &Filter) -> Result<Vec<&Item>> {
        let scope = self.scope(filter)?;
        let fits = |n: &u32| self.facts(*n).standing(now) == Standing::Blocked && self.fits(*n, filter, &scope);
        Ok(self.sorted((0..self.items.len() as u32).filter(fits).collect(), filter))
    }

    /// The items that fit, whether anything can be done about them or not.
    pub fn list(&self, filter: &Filter) -> Result<Vec<&Item>> {
        let scope = self.scope(filter)?;
        let fits = |n: &u32| self.fits(*n, filter, &scope);
        Ok(self.sorted((0..self.items.len() as u32).filter(fits).collect(), filter))
    }

    fn sorted(&self, mut found: Vec<u32>, filter: &Filter) -> Vec<&Item> {
        self.sort(&mut found, filter.sort);
        found.truncate(filter.limit.unwrap_or(usize::MAX));
        found.into_iter().map(|n| &self.slot(n).item).collect()
    }

    fn sort(&self, found: &mut [u32], sort: Sort) {
        let slot = |n: u32| self.slot(n);
        let item = |n: u32| &slot(n).item;
        let created = |n: u32| (item(n).created_at, &item(n).id);
        match sort {
            Sort::Effective => found.sort_by_key(|n| (slot(*n).effective(), item(*n).fields.priority, created(*n))),
            Sort::Priority => found.sort_by_key(|n| (item(*n).fields.priority, created(*n))),
            Sort::Unblocks => {
                found.sort_by_cached_key(|n| {
                    (
                        std::cmp::Reverse(self.unblocks(*n)),
                        slot(*n).effective(),
                        item(*n).created_at,
                        item(*n).id.clone(),
                    )
                });
            }
            Sort::Deadline => {
                found.sort_by_key(|n| {
                    (item(*n).fields.deadline.map_or(u64::MAX, |at| at.0), slot(*n).effective(), created(*n))
                });
            }
            Sort::Oldest => found.sort_by_key(|n| created(*n)),
        }
    }

    /// How many open items wait for an item, directly or not.
    fn unblocks(&self, n: u32) -> usize {
        let start = super::waits::Node::may(n);
        let mut seen = super::seen::Seen::default();
        seen.add(start, start);
        let mut open = vec![start];
        let mut items = 0;
        while let Some(node) = open.pop() {
            self.predecessors(node, &mut |next, still| {
                if still && seen.add(next, next) {
                    open.push(next);
                    if let super::waits::Part::May(m) = next.part() {
                        items += usize::from(!self.slot(m).over());
                    }
                }
            });
        }
        items
    }

    /// The items below the parent and the plan that a filter names.
    fn scope(&self, filter: &Filter) -> Result<Scope> {
        let find = |text: &Option<String>| {
            text.as_deref().map(|text| self.resolve(text).map(|id| self.number(id.as_str()))).transpose()
        };
        let parent = find(&filter.parent)?.flatten();
        let plan = find(&filter.plan)?.flatten();
        Ok(Scope { parent, plan })
    }

    fn fits(&self, n: u32, filter: &Filter, scope: &Scope) -> bool {
        let item = &self.slot(n).item;
        filter.fits(item)
            && scope.parent.is_none_or(|parent| self.parent_of(n) == Some(parent))
            && scope.plan.is_none_or(|plan| self.above(n).any(|above| above == plan))
    }

    pub(super) fn facts(&self, n: u32) -> Facts {
        let slot = self.slot(n);
        Facts {
            kind: slot.item.kind,
            status: slot.item.status,
            blocked: slot.blocked(),
            scheduled_for: slot.item.fields.scheduled_for,
            claim: slot.item.claim.as_ref().map(|claim| (claim.by.clone(), claim.until)),
            draft_in: slot.around.draft_in.map(|plan| self.id(plan).clone()),
            ephemeral_in: slot.around.ephemeral_in.map(|instance| self.id(instance).clone()),
        }
    }
}

struct Scope {
    parent: Option<u32>,
    plan: Option<u32>,
}

impl super::table::Slot {
    /// Where it stands in the ready order, with its effective and its own priority.
    pub(super) fn place(&self, (effective, priority): (u8, u8), n: u32) -> Place {
        let item = &self.item;
        (item.kind != ItemKind::Task, effective, priority, item.created_at, item.id.clone(), n)
    }

    /// Whether it could be begun, time and claims left aside.
    pub(super) fn structurally_ready(&self) -> bool {
        let item = &self.item;
        item.kind.is_work()
            && matches!(item.status, Status::Open | Status::InProgress)
            && !self.blocked()
            && self.around.draft_in.is_none()
    }

    /// The effective priority; its own once it is over.
    pub(super) fn effective(&self) -> u8 {
        self.may.level.min(self.item.fields.priority)
    }
}

impl Filter {
    /// Whether an item fits, its place in the hierarchy left aside.
    pub fn fits(&self, item: &Item) -> bool {
        let fields = &item.fields;
        let any = |set: &BTreeSet<Name>| set.is_empty() || set.iter().any(|tag| fields.tags.contains(tag));
        let status = if self.status.is_empty() { !item.status.is_over() } else { self.status.contains(&item.status) };
        let kind = if self.kinds.is_empty() { item.kind == ItemKind::Task } else { self.kinds.contains(&item.kind) };
        kind && status
            && (self.priority.is_empty() || self.priority.contains(&fields.priority))
            && (self.task_type.is_empty() || self.task_type.contains(&fields.task_type))
            && self.assignee.as_ref().is_none_or(|name| fields.assignee.as_ref() == Some(name))
            && !(self.unassigned && fields.assignee.is_some())
            && self.owner.as_ref().is_none_or(|name| fields.owner.as_ref() == Some(name))
            && self.tags.iter().all(|tag| fields.tags.contains(tag))
            && any(&self.any_tags)
            && !self.no_tags.iter().any(|tag| fields.tags.contains(tag))
            && self.due_before.is_none_or(|before| fields.deadline.is_some_and(|at| at < before))
            && self.text.as_ref().is_none_or(|text| has_text(item, text))
    }
}

/// Whether a text stands in the title, the description or the id, whatever the case of its letters.
fn has_text(item: &Item, text: &str) -> bool {
    let text = text.to_lowercase();
    let details = item.fields.details.as_ref();
    item.fields.title.to_lowercase().contains(&text)
        || item.id.as_str().contains(&text)
        || details.is_some_and(|details| details.description.to_lowercase().contains(&text))
}
