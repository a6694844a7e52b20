//! What follows: one consequence after the other, until nothing does any more.
//!
//! Their order is promised too, because what is stopped in the middle shows it: first whoever waits hears how a task
//! ended, breadth first in plan order; then its spread hears of the next scope that is over; then all spreads that are
//! ready make theirs, also those within.

use super::{Ends, Node, ROOT, Scope, Why};
use edgewise_core::plan::Resolution::{self, Cancelled, Failed, Skipped, Success};
use edgewise_core::plan::{Items, Join, OnFailure, Spread, Work};
use edgewise_core::template::Root;

impl Ends<'_> {
    pub(super) fn follow(&mut self) {
        loop {
            if let Some(n) = self.ended.pop_front() {
                self.tell(n);
            } else if let Some(scope) = self.over.pop_front() {
                self.scope_ends(scope);
            } else {
                if self.making.is_empty() {
                    return;
                }
                while let Some(n) = self.making.pop_front() {
                    self.spread_out(n);
                }
            }
        }
    }

    pub(super) fn make(&mut self, scope: Scope, region: u32, path: &str) {
        let shape = &self.plan.regions[region as usize];
        for node in 0..shape.len() {
            let path = match (path, shape.len()) {
                ("", _) => shape.name(node).to_owned(),
                (path, 1) => path.to_owned(),
                (path, _) => format!("{path}.{}", shape.name(node)),
            };
            let (ready, end, told, items, over, why) = Default::default();
            self.nodes.push(Node { path, scope, region, node, ready, end, told, items, over, why });
        }
        self.within(scope).into_iter().for_each(|n| self.decide(n, None));
    }

    pub(super) fn end(&mut self, n: usize, how: Resolution) {
        self.nodes[n].end = Some(how);
        self.ended.push_back(n);
        let scope = self.nodes[n].scope;
        if scope != ROOT && self.within(scope).iter().all(|n| self.nodes[*n].end.is_some()) {
            self.over.push_back(scope);
        }
    }

    /// Nothing of these is wanted any more.
    pub(super) fn stop(&mut self, nodes: &[usize], why: Option<Why>) {
        for n in nodes.iter().copied().filter(|n| self.nodes[*n].end.is_none()).collect::<Vec<_>>() {
            self.stop_below(n);
            self.end(n, Cancelled);
            self.nodes[n].why = why;
        }
    }

    /// Nothing is wanted of what a spread has made, or is still to make.
    pub(super) fn stop_below(&mut self, n: usize) {
        self.making.retain(|m| *m != n);
        self.scopes_of(n).iter().for_each(|scope| self.stop(scope, None));
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
            self.decide(beside[out.down as usize], how.map(|how| (n, how)));
        }
        let fails_fast = self.plan.on_failure == OnFailure::FailFast && self.nodes[n].scope == ROOT;
        if failed && fails_fast && !self.is_answered(n) {
            self.stop(&beside, Some(Why::Stopped(n)));
        }
    }

    /// Ready as soon as enough in-edges are accepted and its own `when` wants it, left out as soon as that cannot be any
    /// more: cancelled if the last edge was, which decided it, else skipped.
    pub(super) fn decide(&mut self, n: usize, last: Option<(usize, Resolution)>) {
        if self.nodes[n].ready || self.nodes[n].end.is_some() {
            return;
        }
        let (beside, region, node) = (self.beside(n), self.region(n), self.nodes[n].node);
        let (mut edges, mut accepted, mut refused) = (0, 0, 0);
        for (_, need) in region.needs(node) {
            let up = &self.nodes[beside[need.up as usize]];
            let how = up.end.filter(|_| up.told);
            edges += 1;
            accepted += u32::from(how.is_some_and(|how| need.accepts.contains(how)));
            refused += u32::from(how.is_some_and(|how| !need.accepts.contains(how)));
        }
        let wanted = match region.join(node) {
            Join::All => edges,
            Join::Any => edges.min(1),
            Join::Count(count) => edges.min(count),
        };
        if accepted >= wanted {
            self.begin(n);
        } else if refused + wanted > edges {
            let cancelled = last.is_some_and(|(_, how)| how == Cancelled);
            self.end(n, if cancelled { Cancelled } else { Skipped });
            self.nodes[n].why = last.map(|(up, _)| Why::Edge(up));
        }
    }

    /// What it needs allows it: its own `when` is asked.
    pub(super) fn begin(&mut self, n: usize) {
        let beside = self.beside(n);
        match self.is_wanted(n, &beside) {
            Some(true) => {
                self.nodes[n].ready = true;
                self.count_items(n, &beside);
            }
            Some(false) => self.end(n, Skipped),
            None => self.end(n, Failed),
        }
    }

    /// How a scope ended: with a failure that nobody answered, with something cancelled, or well.
    pub(super) fn ending(&self, scope: &[usize]) -> Resolution {
        let is = |n: &usize, how| self.nodes[*n].end == Some(how) && (how != Failed || !self.is_answered(*n));
        [Failed, Cancelled].into_iter().find(|how| scope.iter().any(|n| is(n, *how))).unwrap_or(Success)
    }

    /// A failure is answered by an edge that wants just that, or by a join that could do without.
    pub(super) fn is_answered(&self, n: usize) -> bool {
        let (region, beside) = (self.region(n), self.beside(n));
        region.needed_by(self.nodes[n].node).iter().any(|out| {
            let accepts = region.edge(out.edge).accepts;
            let wants = accepts.contains(Failed) && !accepts.contains(Success);
            (wants || region.join(out.down) != Join::All) && self.nodes[beside[out.down as usize]].ready
        })
    }

    /// A spread that became ready: of nothing it has ended, of what is no list it has failed.
    fn count_items(&mut self, n: usize, beside: &[usize]) {
        let Work::Spread(spread) = self.work(n) else { return };
        let output = |node: u32| &self.nodes[beside[node as usize]];
        self.nodes[n].items = match &spread.items {
            Items::Literal(list) => Some(list.len()),
            Items::Expr(list) => match list.as_root() {
                Some(Root::Output { node, .. }) => output(*node).items.filter(|_| output(*node).end == Some(Success)),
                _ => self.input,
            },
        };
        match self.nodes[n].items {
            None => self.end(n, Failed),
            Some(0) => self.end(n, Success),
            Some(_) => self.making.push_back(n),
        }
    }

    fn spread_out(&mut self, n: usize) {
        let Work::Spread(Spread { region, .. }) = self.work(n) else { return };
        let (path, items) = (self.nodes[n].path.clone(), self.nodes[n].items.unwrap_or(0));
        (0..items).for_each(|item| self.make((Some(n), item), *region, &format!("{path}[{item}]")));
    }

    /// The scopes that a spread has made.
    fn scopes_of(&self, n: usize) -> Vec<Vec<usize>> {
        let scopes = (0..self.nodes[n].items.unwrap_or(0)).map(|item| self.within((Some(n), item)));
        scopes.filter(|nodes| !nodes.is_empty()).collect()
    }

    /// A spread ends with its last scope, badly if more of them did than it tolerates; one that fails fast stops the
    /// others then.
    fn scope_ends(&mut self, scope: Scope) {
        let Some(n) = scope.0 else { return };
        let Work::Spread(Spread { tolerate, fail_fast, .. }) = self.work(n) else { return };
        let bad = self.ending(&self.within(scope)) != Success;
        let node = &mut self.nodes[n];
        node.over.0 += 1;
        node.over.1 += usize::from(bad);
        let (all, too_bad) = (Some(node.over.0) == node.items, node.over.1 > *tolerate as usize);
        if node.end.is_some() {
            // Ended in another way: its scopes only follow.
        } else if all {
            self.end(n, if too_bad { Failed } else { Success });
        } else if bad && too_bad && *fail_fast {
            self.scopes_of(n).iter().for_each(|scope| self.stop(scope, None));
        }
    }
}
