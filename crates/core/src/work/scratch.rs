//! The same from scratch: everything derived, computed straight from the definitions, slowly and without the table.
//!
//! What is maintained step by step must equal this at any time; `doctor` and the tests ask.

use super::{
    Blocker, Close, Dependency, DependencyKind, Item, ItemId, ItemKind, Obstacle, Phase, RunGateEnd, Status, Target,
    When, Work,
};
use crate::name::Name;
use crate::state;
use crate::time::Time;
use std::collections::{BTreeMap, BTreeSet};

/// What is derived of one item.
#[derive(Debug, Clone, PartialEq)]
pub struct Derived {
    /// Whether something is in the way of an item that is not over.
    pub blocked: bool,
    /// All of it.
    pub blockers: Vec<Blocker>,
    /// Its effective priority.
    pub effective: u8,
    /// Whether it could be begun, time and claims left aside.
    pub structurally_ready: bool,
}

/// A node of the waits-for graph: an item's "may run or close", its outside obstacles, or a run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Node {
    May(ItemId),
    Outer(ItemId),
    Run(Target),
}

/// Base facts alone, in plain maps.
struct Facts<'a> {
    work: &'a Work,
    items: BTreeMap<&'a ItemId, &'a Item>,
    parents: BTreeMap<&'a ItemId, ItemId>,
    waits: BTreeMap<&'a ItemId, Vec<&'a Dependency>>,
}

/// Everything derived, and the ready order.
pub fn derive(work: &Work) -> (BTreeMap<ItemId, Derived>, Vec<ItemId>) {
    let facts = Facts::new(work);
    let effective = facts.effective();
    let mut all = BTreeMap::new();
    for (id, item) in &facts.items {
        let blockers = facts.blockers(item);
        let blocked = !blockers.is_empty();
        let begun = matches!(item.status, Status::Open | Status::InProgress);
        let structurally_ready = item.kind.is_work() && begun && !blocked && !facts.in_draft(id);
        let effective = effective.get(*id).copied().unwrap_or(item.fields.priority).min(item.fields.priority);
        all.insert((*id).clone(), Derived { blocked, blockers, effective, structurally_ready });
    }
    let mut ready: Vec<&Item> = facts.items.values().copied().filter(|item| all[&item.id].structurally_ready).collect();
    ready.sort_by_key(|item| (all[&item.id].effective, item.fields.priority, item.created_at, item.id.clone()));
    let ready = ready.into_iter().map(|item| item.id.clone()).collect();
    (all, ready)
}

/// What is ready at an instant for somebody, in order, straight from the definition: a task that is open or in
/// progress, with nothing in its way, whose time has come, that nobody else has, in no draft, and in nothing ephemeral
/// unless that is asked for.
pub fn ready(work: &Work, now: Time, who: Option<&Name>, ephemeral: bool) -> Vec<ItemId> {
    let facts = Facts::new(work);
    let (all, order) = derive(work);
    let ready = |id: &ItemId| {
        let item = facts.items[id];
        let due = item.fields.scheduled_for.is_none_or(|at| at <= now);
        let taken = item.claim.as_ref().is_some_and(|claim| claim.until > now && Some(&claim.by) != who);
        let for_nobody = !ephemeral && facts.in_ephemeral(id);
        item.kind == ItemKind::Task && !all[id].blocked && due && !taken && !for_nobody && !facts.in_draft(id)
    };
    order.into_iter().filter(ready).collect()
}

/// Where what is maintained differs from what follows from the base facts: nothing, unless there is a bug.
pub fn disagreements(work: &Work) -> Vec<String> {
    let (all, ready) = derive(work);
    let mut found = Vec::new();
    for (id, expected) in &all {
        let Some(row) = work.item_row(id.as_str()) else { continue };
        let kept = Derived {
            blocked: work.is_blocked(id.as_str()),
            blockers: work.blockers(id.as_str()),
            effective: row.effective,
            structurally_ready: row.structurally_ready,
        };
        if kept != *expected {
            found.push(format!("{id} is kept as {kept:?}, and follows as {expected:?}"));
        }
    }
    let kept: Vec<ItemId> = work.ready.iter().map(|place| place.4.clone()).collect();
    let is_task = |id: &ItemId| work.item(id.as_str()).is_some_and(|item| item.kind == ItemKind::Task);
    let (tasks, others): (Vec<ItemId>, Vec<ItemId>) = ready.into_iter().partition(is_task);
    let ready = [tasks, others].concat();
    if kept != ready {
        found.push(format!("the ready order is kept as {kept:?}, and follows as {ready:?}"));
    }
    if !work.finds_all_waiters() {
        found.push("tasks are looked for at other gates than those that they wait for".to_owned());
    }
    if work.out_of_order() > 0 {
        found.push(format!("{} edges of the waits-for graph go against its order", work.out_of_order()));
    }
    if let Some(cycle) = Facts::new(work).cycle() {
        found.push(format!("there is a cycle in what waits for what, at {cycle:?}"));
    }
    found
}

impl<'a> Facts<'a> {
    fn new(work: &'a Work) -> Self {
        let items = work.items().map(|item| (&item.id, item)).collect();
        let mut parents = BTreeMap::new();
        let mut waits: BTreeMap<&ItemId, Vec<&Dependency>> = BTreeMap::new();
        for dependency in work.dependencies() {
            match (dependency.kind, dependency.target.id()) {
                (DependencyKind::ParentChild, Some(parent)) => drop(parents.insert(&dependency.source, parent)),
                (DependencyKind::Blocks | DependencyKind::Awaits, _) => {
                    waits.entry(&dependency.source).or_default().push(dependency);
                }
                _ => {}
            }
        }
        Self { work, items, parents, waits }
    }

    fn above(&self, id: &ItemId) -> Vec<ItemId> {
        std::iter::successors(self.parents.get(id).cloned(), |id| self.parents.get(id).cloned()).collect()
    }

    fn alive(&self, target: &Target) -> Option<&'a Item> {
        let id = target.id()?;
        self.items.get(&id).copied().filter(|item| item.status != Status::Tombstone)
    }

    /// Why a dependency is in the way.
    fn obstacle(&self, dependency: &Dependency) -> Option<Obstacle> {
        let (well, badly) = if let Some(item) = self.alive(&dependency.target) {
            if item.status != Status::Closed {
                return Some(Obstacle::Open);
            }
            let how = item.closed.as_ref().map(|closed| closed.how);
            (how == Some(Close::Done), how == Some(Close::Failed))
        } else if let Some(gate) = self.work.gate(dependency.target.as_str()) {
            match &gate.ended {
                None => return Some(Obstacle::Gate),
                Some(ended) => (ended.satisfied, !ended.satisfied),
            }
        } else if let Some(run) = dependency.target.as_run() {
            match self.work.run_end(run).map(state::RunState::phase) {
                None => return Some(Obstacle::Run),
                Some(phase) => (phase == state::Phase::Succeeded, phase == state::Phase::Failed),
            }
        } else if let Some((run, path)) = dependency.target.as_task() {
            match self.work.run_gate_end(run, path) {
                None => return Some(Obstacle::Gate),
                Some(end) => (end == RunGateEnd::Open, end == RunGateEnd::Rejected),
            }
        } else {
            return Some(Obstacle::Unresolved);
        };
        let satisfied = match dependency.when {
            When::Success => well,
            When::Failure => badly,
            When::Any => true,
        };
        (!satisfied).then_some(Obstacle::Unsatisfiable)
    }

    /// Whether what is waited for is outside the waiter's own subtree.
    fn outside(&self, dependency: &Dependency) -> bool {
        self.alive(&dependency.target).is_none_or(|item| !self.above(&item.id).contains(&dependency.source))
    }

    fn blockers(&self, item: &Item) -> Vec<Blocker> {
        if item.status.is_over() {
            return Vec::new();
        }
        let mut all = Vec::new();
        let mut of = |id: &ItemId, around: bool| {
            let mut some = Vec::new();
            for dependency in self.waits.get(id).into_iter().flatten() {
                if let Some(reason) = self.obstacle(dependency).filter(|_| !around || self.outside(dependency)) {
                    some.push(Blocker { by: dependency.target.clone(), reason, through: around.then(|| id.clone()) });
                }
            }
            some.sort();
            all.extend(some);
        };
        of(&item.id, false);
        for above in self.above(&item.id) {
            of(&above, true);
        }
        all
    }

    fn in_draft(&self, id: &ItemId) -> bool {
        let draft = |id: &ItemId| {
            self.items.get(id).is_some_and(|item| item.kind == ItemKind::Plan && item.phase == Some(Phase::Draft))
        };
        draft(id) || self.above(id).iter().any(draft)
    }

    fn in_ephemeral(&self, id: &ItemId) -> bool {
        let ephemeral = |id: &ItemId| {
            self.items.get(id).is_some_and(|item| item.kind == ItemKind::Instance && item.fields.ephemeral.is_some())
        };
        ephemeral(id) || self.above(id).iter().any(ephemeral)
    }

    /// The waits-for graph: from, to, and whether from still waits.
    fn edges(&self) -> Vec<(Node, Node, bool)> {
        let mut edges = Vec::new();
        for dependency in self.waits.values().flatten() {
            let to = match (self.alive(&dependency.target), dependency.target.of_run()) {
                (Some(item), _) => Node::May(item.id.clone()),
                (None, Some(run)) => Node::Run(Target::run(run)),
                _ => continue,
            };
            let still = self.obstacle(dependency).is_some();
            edges.push((Node::May(dependency.source.clone()), to.clone(), still));
            if self.outside(dependency) {
                edges.push((Node::Outer(dependency.source.clone()), to, still));
            }
        }
        for (child, parent) in &self.parents {
            let open = self.items.get(child).is_some_and(|item| !item.status.is_over());
            edges.push((Node::May((*child).clone()), Node::Outer(parent.clone()), true));
            edges.push((Node::Outer((*child).clone()), Node::Outer(parent.clone()), true));
            edges.push((Node::May(parent.clone()), Node::May((*child).clone()), open));
        }
        for item in self.items.values() {
            if let Some(waiter) = &item.waiter {
                let run = |run| Node::Run(Target::run(run));
                edges.push((run(waiter.run), Node::May(item.id.clone()), !item.status.is_over()));
                edges.extend(waiter.pairs().map(|(inner, outer)| (run(outer), run(inner), true)));
            }
        }
        edges
    }

    /// The most urgent priority of the open items that reach each item.
    fn effective(&self) -> BTreeMap<ItemId, u8> {
        let mut next: BTreeMap<Node, Vec<Node>> = BTreeMap::new();
        for (from, to, still) in self.edges() {
            if still {
                next.entry(from).or_default().push(to);
            }
        }
        let mut found = BTreeMap::new();
        let mut seen: BTreeSet<Node> = BTreeSet::new();
        for priority in crate::limits::WORK_PRIORITY {
            let lends = |item: &&&Item| item.fields.priority == priority && !item.status.is_over();
            let mut open: Vec<Node> =
                self.items.values().filter(lends).map(|item| Node::May(item.id.clone())).collect();
            while let Some(node) = open.pop() {
                if !seen.insert(node.clone()) {
                    continue;
                }
                open.extend(next.get(&node).into_iter().flatten().cloned());
                if let Node::May(id) = node {
                    found.insert(id, priority);
                }
            }
        }
        found
    }

    /// A node that is on a cycle or behind one: what is left when nodes that nobody waits for are taken away in turn.
    fn cycle(&self) -> Option<Node> {
        let mut waited: BTreeMap<Node, usize> = BTreeMap::new();
        let mut next: BTreeMap<Node, Vec<Node>> = BTreeMap::new();
        for (from, to, _) in self.edges() {
            waited.entry(from.clone()).or_default();
            *waited.entry(to.clone()).or_default() += 1;
            next.entry(from).or_default().push(to);
        }
        let mut free: Vec<Node> =
            waited.iter().filter(|(_, count)| **count == 0).map(|(node, _)| node.clone()).collect();
        while let Some(node) = free.pop() {
            waited.remove(&node);
            for to in next.remove(&node).unwrap_or_default() {
                if let Some(count) = waited.get_mut(&to) {
                    *count -= 1;
                    if *count == 0 {
                        free.push(to);
                    }
                }
            }
        }
        waited.into_keys().next()
    }
}
