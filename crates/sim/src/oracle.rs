//! The oracle: how a run must end, said from the plan and from what was accepted about the tasks that ran.
//!
//! Written from the promises and not from the fold: no counters, no caches, no timers. It keeps only how each
//! task ended and looks at the graph anew for every question, until nothing follows any more.

use crate::violation::{Held, ensure};
use crate::witness::Book;
use edgewise_core::event::{Event, Failure, TimerFired, TimerKind};
use edgewise_core::gate::{OnDeadline, Wait};
use edgewise_core::name::Name;
use edgewise_core::plan::{Items, Join, OnFailure, Plan, Resolution, Spread, Work};
use edgewise_core::retry::Retry;
use edgewise_core::state::{RunState, TaskState};
use edgewise_core::template::Root;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

struct Node {
    region: u32,
    node: u32,
    scope: usize,
    ready: bool,
    end: Option<Resolution>,
    /// Whether those behind it know how it ended: they hear it in turn.
    told: bool,
    /// How many items its output has, if it is a list.
    items: Option<usize>,
    scopes: Vec<usize>,
    yes: BTreeSet<Name>,
    /// The last attempt that took too long without a worker.
    timed_out: u16,
}

struct Scope {
    region: u32,
    first: usize,
    parent: Option<usize>,
    over: bool,
}

struct Oracle<'a> {
    plan: &'a Plan,
    input: Value,
    nodes: Vec<Node>,
    scopes: Vec<Scope>,
    paths: BTreeMap<String, usize>,
    cancelled: bool,
    /// Tasks that ended and whose out-edges were not looked at, and spreads that are still to be made.
    ended: VecDeque<usize>,
    making: VecDeque<usize>,
}

/// Every task and the run itself ended as they must.
pub fn compare(book: &Book) -> Held {
    let run = &book.run;
    let (input, nodes, scopes, paths) = Default::default();
    let (ended, making) = Default::default();
    let mut oracle = Oracle { plan: &run.plan, input, nodes, scopes, paths, cancelled: false, ended, making };
    for entry in &book.entries {
        let path = entry.event.task().map(|task| run.path(task)).unwrap_or_default();
        oracle.hear(&path, &entry.event);
        oracle.follow();
    }
    let found: BTreeMap<String, TaskState> = (0..run.total())
        .map(edgewise_core::event::TaskIx)
        .map(|task| (run.path(task), run.tasks[task.0 as usize].state))
        .collect();
    let expected: BTreeMap<String, TaskState> =
        oracle.paths.iter().map(|(path, n)| (path.clone(), oracle.state(*n))).collect();
    let (outcome, is) = (oracle.outcome(), run.state);
    let said = |what: &str| format!("{what} of {}: expected {outcome:?} {expected:?}, found {is:?} {found:?}", run.id);
    ensure(found == expected, "tasks_end_as_promised", || said("the tasks"))?;
    ensure(outcome == is, "runs_end_as_promised", || said("the run"))
}

impl Oracle<'_> {
    fn work(&self, n: usize) -> &Work {
        &self.plan.spec(self.nodes[n].region, self.nodes[n].node).work
    }

    /// One accepted fact.
    fn hear(&mut self, path: &str, event: &Event) {
        let n = self.paths.get(path).copied().unwrap_or(0);
        match event {
            Event::RunTriggered(e) => self.input = serde_json::from_str(e.input.get()).unwrap_or_default(),
            Event::PlanCreated(_) => self.make(0, None, |_, name| name.to_owned()),
            Event::RunCancelRequested(_) => {
                self.cancelled = true;
                self.stop(0);
            }
            Event::TaskFinished(e) => match &e.error {
                None => {
                    let output: Option<Value> = e.output.as_ref().and_then(|o| serde_json::from_str(o.get()).ok());
                    self.nodes[n].items = output.and_then(|o| o.as_array().map(Vec::len));
                    self.end(n, Resolution::Success);
                }
                Some(failure) if self.is_last(n, e.attempt, failure) => self.end(n, Resolution::Failed),
                Some(_) => {}
            },
            // What is told of a child that its task went on without changes nothing.
            Event::LinkResolved(e) if self.nodes[n].end.is_some() || e.link.attempt <= self.nodes[n].timed_out => {}
            Event::LinkResolved(e) => match &e.error {
                None => {
                    let output: Option<Value> = e.output.as_ref().and_then(|o| serde_json::from_str(o.get()).ok());
                    self.nodes[n].items = output.and_then(|o| o.as_array().map(Vec::len));
                    self.end(n, Resolution::Success);
                }
                Some(failure) if self.is_last(n, e.link.attempt, failure) => self.end(n, Resolution::Failed),
                Some(_) => {}
            },
            Event::TimerFired(e) => self.timer(n, e),
            Event::ApprovalWithdrawn(e) => drop(self.nodes[n].yes.remove(&e.by)),
            Event::GateRejected(_) => self.end(n, Resolution::Failed),
            Event::ApprovalGiven(e) => {
                self.nodes[n].yes.insert(e.by.clone());
                let Work::Gate(gate) = self.work(n) else { return };
                if matches!(gate.wait, Wait::Approval { count, .. } if self.nodes[n].yes.len() >= count as usize) {
                    self.end(n, Resolution::Success);
                }
            }
            _ => {}
        }
    }

    /// Whether no attempt follows this one: the definition is the bound, and the worker can only narrow it.
    fn is_last(&self, n: usize, attempt: u16, failure: &Failure) -> bool {
        let Retry { max_attempts, retryable, on, never, .. } =
            &self.plan.spec(self.nodes[n].region, self.nodes[n].node).retry;
        let hopeless = ["panic", "handler_not_found", "bad_input", "output_too_large"].contains(&&*failure.kind);
        let wanted = on.is_empty() || on.contains(&failure.kind);
        attempt >= *max_attempts
            || !retryable
            || !failure.retryable
            || hopeless
            || !wanted
            || never.contains(&failure.kind)
    }

    fn timer(&mut self, n: usize, e: &TimerFired) {
        let opens = matches!(self.work(n), Work::Gate(gate) if gate.on_deadline == OnDeadline::Open);
        match e.timer.kind {
            TimerKind::Retry => {}
            TimerKind::Attempt => {
                self.nodes[n].timed_out = e.timer.attempt;
                if self.is_last(n, e.timer.attempt, &Failure::new("timeout", "")) {
                    self.end(n, Resolution::Failed);
                }
            }
            TimerKind::Gate => self.end(n, Resolution::Success),
            TimerKind::Deadline if opens => self.end(n, Resolution::Success),
            TimerKind::Deadline | TimerKind::Queue | TimerKind::Overall => self.end(n, Resolution::Failed),
        }
    }

    fn make(&mut self, region: u32, parent: Option<usize>, path: impl Fn(u32, &str) -> String) {
        let (first, scope, plan) = (self.nodes.len(), self.scopes.len(), self.plan);
        let shape = &plan.regions[region as usize];
        self.scopes.push(Scope { region, first, parent, over: false });
        for node in 0..shape.len() {
            self.paths.insert(path(shape.len(), shape.name(node)), self.nodes.len());
            let (ready, end, told, items, scopes, yes, timed_out) = Default::default();
            self.nodes.push(Node { region, node, scope, ready, end, told, items, scopes, yes, timed_out });
        }
        if let Some(parent) = parent {
            self.nodes[parent].scopes.push(scope);
        }
        (first..first + shape.len() as usize).for_each(|n| self.decide(n));
    }

    fn end(&mut self, n: usize, how: Resolution) {
        self.nodes[n].end = Some(how);
        self.ended.push_back(n);
    }

    /// Whatever follows from what is known, until nothing does.
    fn follow(&mut self) {
        loop {
            if let Some(n) = self.ended.pop_front() {
                self.behind(n);
            } else if let Some(scope) = self.scopes.iter().position(|s| self.is_over(s)) {
                self.scope_over(scope);
            } else if let Some(n) = self.making.pop_front() {
                self.spread_out(n);
            } else {
                return;
            }
        }
    }

    /// Whether all of a spread's scope has ended, and the spread does not know yet.
    fn is_over(&self, scope: &Scope) -> bool {
        !scope.over && scope.parent.is_some() && self.nodes[self.range(scope)].iter().all(|n| n.end.is_some())
    }

    fn range(&self, scope: &Scope) -> std::ops::Range<usize> {
        scope.first..scope.first + self.plan.regions[scope.region as usize].len() as usize
    }

    /// How an edge from a task ended, if it has.
    fn fact(&self, n: usize) -> Option<Resolution> {
        self.nodes[n].end.filter(|_| self.nodes[n].told)
    }

    /// Those behind a task hear how it ended; a held failure is not told.
    fn behind(&mut self, n: usize) {
        let held = self.plan.on_failure == OnFailure::Hold && !self.cancelled;
        if held && self.nodes[n].end == Some(Resolution::Failed) {
            return;
        }
        self.nodes[n].told = true;
        let (first, plan) = (self.scopes[self.nodes[n].scope].first, self.plan);
        for out in plan.regions[self.nodes[n].region as usize].needed_by(self.nodes[n].node) {
            self.decide(first + out.down as usize);
        }
        let failed = self.nodes[n].end == Some(Resolution::Failed) && self.nodes[n].scope == 0;
        if failed && self.plan.on_failure == OnFailure::FailFast && !self.is_answered(n) {
            self.stop(0);
        }
    }

    /// Ready as soon as enough in-edges are accepted, left out as soon as that cannot be any more.
    fn decide(&mut self, n: usize) {
        let Node { region, node, scope, ready, end, .. } = &self.nodes[n];
        if *ready || end.is_some() {
            return;
        }
        let (region, first) = (&self.plan.regions[*region as usize], self.scopes[*scope].first);
        let needs: Vec<_> =
            region.needs(*node).map(|(_, need)| (self.fact(first + need.up as usize), need.accepts)).collect();
        let accepted = needs.iter().filter(|(fact, accepts)| fact.is_some_and(|f| accepts.contains(f))).count();
        let refused = needs.iter().filter(|(fact, accepts)| fact.is_some_and(|f| !accepts.contains(f))).count();
        let wanted = match region.join(*node) {
            Join::All => needs.len(),
            Join::Any => needs.len().min(1),
            Join::Count(count) => (count as usize).min(needs.len()),
        };
        if accepted >= wanted {
            self.begin(n);
        } else if refused + wanted > needs.len() {
            self.end(n, Resolution::Skipped);
        }
    }

    /// How many items another node made, if it is one that the items come from.
    fn items_of(&self, n: usize, root: &Root) -> Option<Option<usize>> {
        let Root::Output { node, .. } = root else { return None };
        let up = &self.nodes[self.scopes[self.nodes[n].scope].first + *node as usize];
        Some(up.items.filter(|_| up.end == Some(Resolution::Success)))
    }

    fn begin(&mut self, n: usize) {
        self.nodes[n].ready = true;
        let Work::Spread(spread) = self.work(n) else { return };
        let of_input = || self.input.get("list").and_then(|l| l.as_array().map(Vec::len));
        let items = match &spread.items {
            Items::Literal(list) => Some(list.len()),
            Items::Expr(list) => {
                let mut root = Root::Input;
                list.roots(&mut |found| root = found.clone());
                self.items_of(n, &root).unwrap_or_else(of_input)
            }
        };
        self.nodes[n].items = items;
        match items {
            None => self.end(n, Resolution::Failed),
            Some(0) => self.end(n, Resolution::Success),
            Some(_) => self.making.push_back(n),
        }
    }

    fn spread_out(&mut self, n: usize) {
        let Work::Spread(Spread { region, .. }) = self.work(n) else { return };
        let (region, items) = (*region, self.nodes[n].items.unwrap_or(0));
        let parent = self.paths.iter().find(|(_, at)| **at == n).map(|(path, _)| path.clone()).unwrap_or_default();
        for item in 0..items {
            self.make(region, Some(n), |nodes, name| match nodes {
                1 => format!("{parent}[{item}]"),
                _ => format!("{parent}[{item}].{name}"),
            });
        }
    }

    /// A failure is answered by an edge that wants just that, or by a join that could do without.
    fn is_answered(&self, n: usize) -> bool {
        let region = &self.plan.regions[self.nodes[n].region as usize];
        let first = self.scopes[self.nodes[n].scope].first;
        region.needed_by(self.nodes[n].node).iter().any(|out| {
            let accepts = region.edge(out.edge).accepts;
            let wants = accepts.contains(Resolution::Failed) && !accepts.contains(Resolution::Success);
            (wants || region.join(out.down) != Join::All) && self.nodes[first + out.down as usize].ready
        })
    }

    /// How a scope ended: with a failure that nobody answered, with something cancelled, or well.
    fn ending(&self, scope: usize) -> Resolution {
        let nodes = || self.range(&self.scopes[scope]);
        let is = |n: usize, how| self.nodes[n].end == Some(how);
        if nodes().any(|n| is(n, Resolution::Failed) && !self.is_answered(n)) {
            return Resolution::Failed;
        }
        if nodes().any(|n| is(n, Resolution::Cancelled)) { Resolution::Cancelled } else { Resolution::Success }
    }

    fn scope_over(&mut self, scope: usize) {
        self.scopes[scope].over = true;
        let Some(parent) = self.scopes[scope].parent else { return };
        let Work::Spread(Spread { tolerate, fail_fast, .. }) = *self.work(parent) else { return };
        if self.nodes[parent].end.is_some() {
            return;
        }
        let over: Vec<usize> = self.nodes[parent].scopes.iter().copied().filter(|s| self.scopes[*s].over).collect();
        let bad = over.iter().filter(|s| self.ending(**s) != Resolution::Success).count();
        let too_bad = bad > tolerate as usize;
        if over.len() == self.nodes[parent].scopes.len() {
            self.end(parent, if too_bad { Resolution::Failed } else { Resolution::Success });
        } else if too_bad && fail_fast && self.ending(scope) != Resolution::Success {
            self.nodes[parent].scopes.clone().into_iter().for_each(|s| self.stop(s));
        }
    }

    /// Nothing of a scope is wanted any more.
    fn stop(&mut self, scope: usize) {
        let Some(found) = self.scopes.get(scope) else { return };
        for n in self.range(found) {
            if self.nodes[n].end.is_none() {
                self.making.retain(|m| *m != n);
                self.nodes[n].scopes.clone().into_iter().for_each(|inner| self.stop(inner));
                self.end(n, Resolution::Cancelled);
            }
        }
    }

    fn state(&self, n: usize) -> TaskState {
        match self.nodes[n].end {
            None => TaskState::Pending,
            Some(Resolution::Success) => TaskState::Complete,
            Some(Resolution::Failed) => TaskState::Error,
            Some(Resolution::Skipped) => TaskState::Skipped,
            Some(Resolution::Cancelled) => TaskState::Cancelled,
        }
    }

    fn outcome(&self) -> RunState {
        match self.ending(0) {
            _ if self.cancelled => RunState::Cancelled,
            Resolution::Failed => RunState::Error,
            Resolution::Success => RunState::Complete,
            _ => RunState::Cancelled,
        }
    }
}
