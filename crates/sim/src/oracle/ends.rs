//! How everything in a plan ends, given how its tasks did: a fixpoint over the graph.
//!
//! It keeps how each task ended and looks at the graph anew for every question: no counters, no caches. One
//! consequence follows after the other until nothing does any more. Their order is promised too, because what
//! is stopped in the middle shows it: first whoever waits hears how a task ended, breadth first in plan order;
//! then all spreads end of which all scopes have; then the next spread makes its scopes. Edges, joins and
//! failures need about 150 lines; what spreads need more, because they make nodes while it goes on, is in `spread`.

mod spread;

use edgewise_core::plan::{Join, OnFailure, Plan, Region, Resolution, Work};
use std::collections::{BTreeMap, VecDeque};

use Resolution::{Cancelled, Failed, Skipped, Success};

/// A scope: the spread that made it and for which item; the first one is of no spread.
type Scope = (Option<usize>, usize);
const ROOT: Scope = (None, 0);

struct Node {
    path: String,
    scope: Scope,
    region: u32,
    node: u32,
    ready: bool,
    end: Option<Resolution>,
    /// Whether its out-edges are resolved.
    told: bool,
    /// Of how many items it is, or how many its output has.
    items: Option<usize>,
}

/// How everything ends, as far as it is known.
pub(super) struct Ends<'a> {
    plan: &'a Plan,
    input: Option<usize>,
    nodes: Vec<Node>,
    cancelled: bool,
    /// Somebody said that the run is dealt with, or that the failures which it holds stand.
    resolved: bool,
    given_up: bool,
    /// Tasks that ended and whose out-edges are open, and spreads that are still to be made; both in turn.
    ended: VecDeque<usize>,
    making: VecDeque<usize>,
}

impl<'a> Ends<'a> {
    pub fn new(plan: &'a Plan) -> Self {
        let (nodes, ended, making) = Default::default();
        let (cancelled, resolved, given_up) = Default::default();
        Self { plan, input: None, nodes, cancelled, resolved, given_up, ended, making }
    }

    /// The run has its plan, and so many items in the list that it was given.
    pub fn begin(&mut self, input: Option<usize>) {
        self.input = input;
        self.make(ROOT, 0, "");
        self.follow();
    }

    /// A cancel resolves every open edge.
    pub fn cancel(&mut self) {
        self.cancelled = true;
        self.stop(&self.within(ROOT));
        self.follow();
    }

    /// Somebody says that the run is dealt with: everything open is cancelled, as by a cancel.
    pub fn resolve(&mut self) {
        self.resolved = true;
        self.stop(&self.within(ROOT));
        self.follow();
    }

    /// The failures that are held stand, and travel like those that follow.
    pub fn give_up(&mut self) {
        self.given_up = true;
        self.ended.extend((0..self.nodes.len()).filter(|n| self.nodes[*n].end == Some(Failed)));
        self.follow();
    }

    /// An operator says how a task ended; what is below it is not wanted any more.
    pub fn overrule(&mut self, path: &str, how: Resolution, items: Option<usize>) {
        let Some(n) = self.nodes.iter().position(|node| node.path == path) else { return };
        self.making.retain(|m| *m != n);
        self.scopes_of(n).iter().for_each(|scope| self.stop(scope));
        self.nodes[n].items = items;
        self.end(n, how);
        self.follow();
    }

    /// A task ended, with a list of so many items if it made one.
    pub fn accept(&mut self, path: &str, how: Resolution, items: Option<usize>) {
        let Some(n) = self.nodes.iter().position(|node| node.path == path) else { return };
        self.nodes[n].items = items;
        self.end(n, how);
        self.follow();
    }

    /// Whether a task has ended.
    pub fn has_ended(&self, path: &str) -> bool {
        self.nodes.iter().any(|node| node.path == path && node.end.is_some())
    }

    /// How each task ended; those that did not have no resolution.
    pub fn of_tasks(&self) -> BTreeMap<String, Option<Resolution>> {
        self.nodes.iter().map(|node| (node.path.clone(), node.end)).collect()
    }

    /// How the run ended, unless somebody said that it is dealt with.
    pub fn of_the_run(&self) -> Option<Resolution> {
        match (self.cancelled, self.resolved) {
            (true, _) => Some(Cancelled),
            (_, true) => None,
            _ => Some(self.ending(&self.within(ROOT))),
        }
    }

    fn follow(&mut self) {
        loop {
            if let Some(n) = self.ended.pop_front() {
                self.tell(n);
            } else if (0..self.nodes.len()).filter(|n| self.spread_ends(*n)).count() == 0 {
                let Some(n) = self.making.pop_front() else { return };
                self.spread_out(n);
            }
        }
    }

    fn region(&self, n: usize) -> &'a Region {
        &self.plan.regions[self.nodes[n].region as usize]
    }

    fn work(&self, n: usize) -> &'a Work {
        &self.plan.spec(self.nodes[n].region, self.nodes[n].node).work
    }

    /// The nodes of a scope, in plan order.
    fn within(&self, scope: Scope) -> Vec<usize> {
        (0..self.nodes.len()).filter(|n| self.nodes[*n].scope == scope).collect()
    }

    fn beside(&self, n: usize) -> Vec<usize> {
        self.within(self.nodes[n].scope)
    }

    fn make(&mut self, scope: Scope, region: u32, path: &str) {
        let shape = &self.plan.regions[region as usize];
        for node in 0..shape.len() {
            let path = match (path, shape.len()) {
                ("", _) => shape.name(node).to_owned(),
                (path, 1) => path.to_owned(),
                (path, _) => format!("{path}.{}", shape.name(node)),
            };
            self.nodes.push(Node { path, scope, region, node, ready: false, end: None, told: false, items: None });
        }
        self.within(scope).into_iter().for_each(|n| self.decide(n, None));
    }

    fn end(&mut self, n: usize, how: Resolution) {
        self.nodes[n].end = Some(how);
        self.ended.push_back(n);
    }

    /// Nothing of these is wanted any more.
    fn stop(&mut self, nodes: &[usize]) {
        for n in nodes.iter().copied().filter(|n| self.nodes[*n].end.is_none()).collect::<Vec<_>>() {
            self.making.retain(|m| *m != n);
            self.scopes_of(n).iter().for_each(|scope| self.stop(scope));
            self.end(n, Cancelled);
        }
    }

    /// Out-edges resolve as their task ended; those of a held failure stay open, and an unanswered one stops the rest
    /// where the plan fails fast.
    fn tell(&mut self, n: usize) {
        let how = self.nodes[n].end;
        let failed = how == Some(Failed);
        let decided = self.cancelled || self.resolved || self.given_up;
        if failed && self.plan.on_failure == OnFailure::Hold && !decided {
            return;
        }
        self.nodes[n].told = true;
        let beside = self.beside(n);
        for out in self.region(n).needed_by(self.nodes[n].node) {
            self.decide(beside[out.down as usize], how);
        }
        let fails_fast = self.plan.on_failure == OnFailure::FailFast && self.nodes[n].scope == ROOT;
        if failed && fails_fast && !self.is_answered(n) {
            self.stop(&beside);
        }
    }

    /// Ready as soon as enough in-edges are accepted, left out as soon as that cannot be any more: cancelled if the last
    /// edge was, which decided it, else skipped.
    fn decide(&mut self, n: usize, last: Option<Resolution>) {
        if self.nodes[n].ready || self.nodes[n].end.is_some() {
            return;
        }
        let (beside, region, node) = (self.beside(n), self.region(n), self.nodes[n].node);
        let (mut edges, mut accepted, mut refused) = (0, 0, 0);
        for (_, need) in region.needs(node) {
            let up = &self.nodes[beside[need.up as usize]];
            edges += 1;
            match up.end.filter(|_| up.told) {
                Some(how) if need.accepts.contains(how) => accepted += 1,
                Some(_) => refused += 1,
                None => {}
            }
        }
        let wanted = match region.join(node) {
            Join::All => edges,
            Join::Any => edges.min(1),
            Join::Count(count) => edges.min(count),
        };
        if accepted >= wanted {
            self.nodes[n].ready = true;
            self.count_items(n, &beside);
        } else if refused + wanted > edges {
            self.end(n, if last == Some(Cancelled) { Cancelled } else { Skipped });
        }
    }

    /// How a scope ended: with a failure that nobody answered, with something cancelled, or well.
    fn ending(&self, scope: &[usize]) -> Resolution {
        let any =
            |how| scope.iter().any(|n| self.nodes[*n].end == Some(how) && (how != Failed || !self.is_answered(*n)));
        [Failed, Cancelled].into_iter().find(|how| any(*how)).unwrap_or(Success)
    }

    /// A failure is answered by an edge that wants just that, or by a join that could do without.
    fn is_answered(&self, n: usize) -> bool {
        let (region, beside) = (self.region(n), self.beside(n));
        region.needed_by(self.nodes[n].node).iter().any(|out| {
            let accepts = region.edge(out.edge).accepts;
            let wants = accepts.contains(Failed) && !accepts.contains(Success);
            (wants || region.join(out.down) != Join::All) && self.nodes[beside[out.down as usize]].ready
        })
    }
}
