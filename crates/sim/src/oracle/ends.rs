//! How everything in a plan ends, given what was accepted: facts in, ends out.
//!
//! It keeps how each task ended and looks at the graph anew for every question: no counters, no caches. What follows
//! from a fact is said in `fixpoint`.

mod again;
mod fixpoint;
mod wanted;

pub(super) use again::Again;

use edgewise_core::plan::Resolution::{Cancelled, Failed, Skipped};
use edgewise_core::plan::{Plan, Region, Resolution, Work};
use std::collections::{BTreeMap, VecDeque};

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
    /// How many of its scopes it has heard the end of, and how many of these ended badly.
    over: (usize, usize),
    /// Why it was left out or stopped, if it is not the whole run that was.
    why: Option<Why>,
}

/// Whose doing it is that a task did not come to its own end.
#[derive(Debug, Clone, Copy)]
enum Why {
    /// A task that it needs ended another way.
    Edge(usize),
    /// A task beside it failed, and the plan fails fast.
    Stopped(usize),
    Operator,
}

/// Something that was accepted.
#[derive(Debug, Clone, Copy)]
pub(super) enum Fact<'f> {
    /// The run has its plan, and so many items in the list that it was given.
    Begun(Option<usize>),
    /// The run is cancelled: everything open is.
    Cancelled,
    /// Somebody says that the run is dealt with: everything open is cancelled, as by a cancel.
    Resolved,
    /// The failures that are held stand, and travel like those that follow.
    GivenUp,
    /// A task ended, by itself or by the word of an operator, with a list of so many items if it made one.
    Ended(&'f str, Resolution, Option<usize>),
}

/// How everything ends, as far as it is known.
pub(super) struct Ends<'a> {
    plan: &'a Plan,
    input: Option<usize>,
    nodes: Vec<Node>,
    cancelled: bool,
    resolved: bool,
    given_up: bool,
    /// Tasks that ended and whose out-edges are open, and spreads that are still to be made; both in turn.
    ended: VecDeque<usize>,
    making: VecDeque<usize>,
    /// Scopes that are over and whose spread has not heard of it, in turn.
    over: VecDeque<Scope>,
}

impl<'a> Ends<'a> {
    pub fn new(plan: &'a Plan) -> Self {
        let (nodes, ended, making, over) = Default::default();
        let (cancelled, resolved, given_up) = Default::default();
        Self { plan, input: None, nodes, cancelled, resolved, given_up, ended, making, over }
    }

    /// Takes a fact, and all that follows from it.
    pub fn accept(&mut self, fact: Fact<'_>) {
        match fact {
            Fact::Begun(input) => {
                self.input = input;
                self.make(ROOT, 0, "");
            }
            Fact::Cancelled | Fact::Resolved => {
                self.cancelled |= matches!(fact, Fact::Cancelled);
                self.resolved |= matches!(fact, Fact::Resolved);
                self.stop(&self.within(ROOT), None);
            }
            Fact::GivenUp => {
                self.given_up = true;
                self.ended.extend((0..self.nodes.len()).filter(|n| self.nodes[*n].end == Some(Failed)));
            }
            Fact::Ended(path, how, items) => {
                let Some(n) = self.nodes.iter().position(|node| node.path == path) else { return };
                self.stop_below(n);
                self.nodes[n].items = items;
                self.end(n, how);
                self.nodes[n].why = matches!(how, Cancelled | Skipped).then_some(Why::Operator);
            }
        }
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
}
