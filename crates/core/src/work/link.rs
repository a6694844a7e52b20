//! Links: the only place where dependencies come, go and change what they mean, with all that is counted of them.

use super::cycle::Difference;
use super::table::{Edge, End};
use super::waits::Node;
use super::{Dependency, DependencyKind, Target, Work};
use crate::id::RunId;

/// What another parent would change: the waits-for graph, and which dependencies are within a subtree.
#[derive(Debug, Default)]
pub(super) struct Relink {
    pub difference: Difference,
    /// Dependencies whose prerequisite leaves or enters the waiter's own subtree.
    flips: Vec<(u32, bool)>,
}

impl Work {
    /// Whether what is waited for would be outside the waiter's own subtree.
    pub(super) fn is_outside(&self, source: u32, end: End) -> bool {
        match end {
            End::Item(target) => !self.above(target).any(|above| above == source),
            _ => true,
        }
    }

    /// What a new dependency of a waiter would add to the waits-for graph.
    pub(super) fn wait_difference(&self, source: u32, end: End) -> Difference {
        let mut added = Vec::new();
        if let Some(node) = end.node() {
            added.push((Node::may(source), node));
            if self.is_outside(source, end) {
                added.push((Node::outer(source), node));
            }
        }
        Difference { added, ..Difference::default() }
    }

    /// What another parent of an item would change.
    pub(super) fn relink(&self, item: u32, parent: Option<u32>) -> Relink {
        let mut relink = Relink::default();
        let Difference { added, gone } = &mut relink.difference;
        let old = self.parent_of(item);
        let chain = |first: Option<u32>| first.into_iter().chain(first.into_iter().flat_map(|n| self.above(n)));
        let before: std::collections::BTreeSet<u32> = chain(old).collect();
        let after: std::collections::BTreeSet<u32> = chain(parent).collect();
        for below in self.subtree(item) {
            for n in &self.slot(below).into {
                let edge = self.edge(*n);
                let (was, will) = (before.contains(&edge.source), after.contains(&edge.source));
                if !edge.waits() || was == will {
                    continue;
                }
                relink.flips.push((*n, !will));
                let between = (Node::outer(edge.source), Node::may(below));
                if will {
                    gone.insert(between);
                } else {
                    added.push(between);
                }
            }
        }
        if let Some(old) = old {
            gone.extend([(Node::may(item), Node::outer(old)), (Node::outer(item), Node::outer(old))]);
            let also_waits = self.slot(old).out.iter().any(|n| {
                let edge = self.edge(*n);
                edge.waits() && edge.end == End::Item(item)
            });
            if !also_waits {
                gone.insert((Node::may(old), Node::may(item)));
            }
        }
        if let Some(parent) = parent {
            added.push((Node::may(item), Node::outer(parent)));
            added.push((Node::outer(item), Node::outer(parent)));
            added.push((Node::may(parent), Node::may(item)));
        }
        relink
    }

    /// Adds a dependency that was checked.
    pub(super) fn add_edge(&mut self, source: u32, dependency: Dependency) -> u32 {
        let target = dependency.target.clone();
        let mut end = self.end(&target);
        let run = target.of_run().filter(|_| end == End::Nobody && dependency.kind.is_waiting());
        if let Some(run) = run {
            end = End::Run(self.run_number(run));
        }
        let outside = self.is_outside(source, end);
        let edge = Edge { dependency, source, end, outside, counted: false };
        let n = self.free_number();
        let (kind, waits) = (edge.dependency.kind, edge.waits());
        *self.edge_place(n) = Some(edge);
        match end {
            End::Item(parent) if kind == DependencyKind::ParentChild => self.attach(n, source, parent),
            _ => {
                self.slot_mut(source).out.push(n);
                self.pointing_to(end, &target).push(n);
            }
        }
        if waits {
            self.arrange_edge(n);
            self.weigh(n);
        }
        n
    }

    /// Takes a dependency away, with all that was counted of it.
    pub(super) fn remove_edge(&mut self, n: u32) -> Option<Dependency> {
        self.set_counted(n, false);
        let (source, end, kind) = {
            let edge = self.edge(n);
            (edge.source, edge.end, edge.dependency.kind)
        };
        match end {
            End::Item(parent) if kind == DependencyKind::ParentChild => self.detach(n, source, parent),
            _ => {
                let target = self.edge(n).dependency.target.clone();
                forget(&mut self.slot_mut(source).out, n);
                forget(self.pointing_to(end, &target), n);
                self.forget_stranger(&target);
            }
        }
        self.free_edges.push(n);
        if let Some(before) = &mut self.before {
            before.number_given_back();
        }
        self.edge_place(n).take().map(|edge| edge.dependency)
    }

    /// A number that no dependency has.
    fn free_number(&mut self) -> u32 {
        let Some(n) = self.free_edges.pop() else {
            self.edges.push(None);
            return self.edges.len() as u32 - 1;
        };
        if let Some(before) = &mut self.before {
            before.number_taken(n);
        }
        n
    }

    fn forget_stranger(&mut self, target: &Target) {
        if self.strangers.get(target.as_str()).is_some_and(Vec::is_empty) {
            self.keep_stranger(target);
            self.strangers.remove(target.as_str());
        }
    }

    fn attach(&mut self, n: u32, item: u32, parent: u32) {
        self.slot_mut(item).parent = Some(n);
        self.slot_mut(parent).children.push(n);
        self.arrange(&[
            (Node::may(parent), Node::may(item)),
            (Node::may(item), Node::outer(parent)),
            (Node::outer(item), Node::outer(parent)),
        ]);
        self.lend(Node::may(item), Node::outer(parent));
        self.lend(Node::outer(item), Node::outer(parent));
        if !self.slot(item).over() {
            self.slot_mut(parent).open_children += 1;
            self.lend(Node::may(parent), Node::may(item));
        }
        self.pending.around.push(item);
        self.pending.touched.push(item);
        self.pending.below.push(item);
    }

    fn detach(&mut self, n: u32, item: u32, parent: u32) {
        self.take_back(Node::may(item), Node::outer(parent));
        self.take_back(Node::outer(item), Node::outer(parent));
        if !self.slot(item).over() {
            self.take_back(Node::may(parent), Node::may(item));
            self.child_over(parent);
        }
        self.slot_mut(item).parent = None;
        forget(&mut self.slot_mut(parent).children, n);
        self.pending.around.push(item);
        self.pending.touched.push(item);
        self.pending.below.push(item);
    }

    /// One child less is open.
    pub(super) fn child_over(&mut self, parent: u32) {
        let slot = self.slot_mut(parent);
        slot.open_children -= 1;
        if slot.open_children == 0 {
            self.pending.complete.push(parent);
        }
    }

    /// Says of dependencies whether they are within the waiter's subtree now, as [`Work::relink`] found them.
    pub(super) fn flip(&mut self, relink: &Relink) {
        // First what enters a subtree: so there is never more in the graph than before, or than in the end.
        let (leave, enter): (Vec<_>, Vec<_>) = relink.flips.iter().partition(|(_, outside)| *outside);
        for (n, outside) in enter.into_iter().chain(leave) {
            let counted = self.edge(n).counted;
            self.set_counted(n, false);
            self.edge_mut(n).outside = outside;
            self.arrange_edge(n);
            self.set_counted(n, counted);
        }
    }

    /// Looks again whether a dependency is in the way.
    pub(super) fn weigh(&mut self, n: u32) {
        let stands = self.obstacle(self.edge(n)).is_some();
        self.set_counted(n, stands);
        let source = self.edge(n).source;
        self.pending.touched.push(source);
        if self.edge(n).outside {
            self.pending.below.push(source);
        }
    }

    /// Looks again at all who wait for something.
    pub(super) fn weigh_all(&mut self, into: &[u32]) {
        for n in into {
            if self.edge(*n).waits() {
                self.weigh(*n);
            }
        }
    }

    fn set_counted(&mut self, n: u32, counted: bool) {
        let edge = self.edge_mut(n);
        if edge.counted == counted {
            return;
        }
        edge.counted = counted;
        let (source, end, outside) = (edge.source, edge.end, edge.outside);
        let slot = self.slot_mut(source);
        if counted {
            slot.own += 1;
            slot.exo += u32::from(outside);
        } else {
            slot.own -= 1;
            slot.exo -= u32::from(outside);
        }
        self.pending.touched.push(source);
        if outside {
            self.pending.around.push(source);
            self.pending.below.push(source);
        }
        let Some(to) = end.node() else { return };
        let sides = [Some(Node::may(source)), outside.then_some(Node::outer(source))];
        for from in sides.into_iter().flatten() {
            if counted {
                self.lend(from, to);
            } else {
                self.take_back(from, to);
            }
        }
    }

    /// Those who pointed to a text that nobody knew point to somebody now.
    pub(super) fn introduce(&mut self, target: &Target) {
        self.keep_stranger(target);
        let Some(edges) = self.strangers.remove(target.as_str()) else { return };
        let end = self.end(target);
        for n in edges {
            self.set_counted(n, false);
            let outside = self.is_outside(self.edge(n).source, end);
            let edge = self.edge_mut(n);
            edge.end = end;
            edge.outside = outside;
            let waits = edge.waits();
            self.pointing_to(end, target).push(n);
            if waits {
                self.arrange_edge(n);
                self.weigh(n);
            }
        }
    }

    /// Those who pointed to a run that nobody knew, or to a task of it, point to the run now.
    pub(super) fn introduce_run(&mut self, run: RunId) {
        let first = Target::run(run);
        let names = |(target, _): &(&Target, &Vec<u32>)| target.as_str().starts_with(first.as_str());
        let known: Vec<Target> =
            self.strangers.range(first.clone()..).take_while(names).map(|(target, _)| target.clone()).collect();
        known.iter().filter(|target| target.of_run() == Some(run)).for_each(|target| self.introduce(target));
    }

    /// Brings what a dependency means for the waits-for graph into order.
    fn arrange_edge(&mut self, n: u32) {
        let edge = self.edge(n);
        let Some(to) = edge.end.node() else { return };
        let edges = [(Node::may(edge.source), to), (Node::outer(edge.source), to)];
        let count = if edge.outside { 2 } else { 1 };
        self.arrange(&edges[..count]);
    }
}

fn forget(list: &mut Vec<u32>, n: u32) {
    if let Some(at) = list.iter().position(|held| *held == n) {
        list.swap_remove(at);
    }
}
