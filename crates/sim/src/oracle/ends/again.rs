//! Opening again: which finished work an act of an operator takes back, and what that keeps.
//!
//! Said for plans of one scope, where nothing is made while the run goes on, and for failures that travel at once.

use super::{Ends, Why};
use edgewise_core::plan::Resolution::{self, Cancelled, Failed};
use edgewise_core::plan::{Join, OnFailure};
use std::collections::{BTreeSet, VecDeque};

/// What an operator asked for.
#[derive(Debug, Clone, Copy)]
pub(in crate::oracle) enum Again<'f> {
    /// What failed and nobody answered, and what was stopped, with all that follows.
    Failure,
    /// A task, with all that follows.
    Task(&'f str),
    /// A task that ended is done once more, with all that was left out or stopped because of it.
    Reset(&'f str),
    /// A task that ended is about to end another way: the same.
    Resolved(&'f str),
}

impl Ends<'_> {
    /// Opens what is asked for and tells the paths of it; nothing if what follows is not said here.
    pub fn open_again(&mut self, again: Again<'_>) -> Option<BTreeSet<String>> {
        if self.plan.regions.len() != 1 || self.plan.on_failure == OnFailure::Hold {
            return None;
        }
        let named = |path: &str| self.nodes.iter().position(|node| node.path == path);
        let firsts = match again {
            Again::Failure => (0..self.nodes.len()).filter(|n| self.is_bad(*n)).collect(),
            Again::Task(path) | Again::Reset(path) | Again::Resolved(path) => vec![named(path)?],
        };
        let opened = match again {
            Again::Reset(_) | Again::Resolved(_) => self.closure(&firsts, |n, down| self.is_lost_with(n, down)),
            Again::Failure | Again::Task(_) => self.closure(&firsts, |n, down| self.is_behind(n, down)),
        };
        // Such a task has facts of two generations.
        if firsts.iter().any(|n| self.nodes[*n].ready && self.needs(*n).any(|up| opened.contains(&up))) {
            return None;
        }
        let kept: Vec<usize> = firsts.iter().copied().filter(|n| self.nodes[*n].ready).collect();
        for n in &opened {
            let node = &mut self.nodes[*n];
            (node.ready, node.end, node.told, node.items, node.why) = (false, None, false, None, None);
        }
        match again {
            // It is ready, whatever it needs: that was decided before.
            Again::Reset(_) => self.begin(firsts[0]),
            Again::Resolved(_) => self.nodes[firsts[0]].ready = !kept.is_empty(),
            Again::Failure | Again::Task(_) => {
                self.forget_end();
                kept.iter().for_each(|n| self.begin(*n));
            }
        }
        let own = if let Again::Resolved(_) = again { Some(firsts[0]) } else { None };
        for n in opened.iter().copied().filter(|n| Some(*n) != own) {
            self.decide(n, self.refusal(n));
        }
        self.follow();
        Some(opened.iter().map(|n| self.nodes[*n].path.clone()).collect())
    }

    /// A cancel of the whole run, or the word that it is dealt with, holds no more; what it stopped stays stopped.
    fn forget_end(&mut self) {
        if self.cancelled || self.resolved {
            let stopped = self.nodes.iter_mut().filter(|node| node.end == Some(Cancelled) && node.why.is_none());
            stopped.for_each(|node| node.why = Some(Why::Operator));
        }
        (self.cancelled, self.resolved) = (false, false);
    }

    /// Whether a rerun from failure begins with a task.
    fn is_bad(&self, n: usize) -> bool {
        let over = self.nodes.iter().all(|node| node.end.is_some());
        match (self.nodes[n].end, self.nodes[n].why) {
            (Some(Failed), _) => !self.is_answered(n),
            (Some(Cancelled), Some(Why::Edge(_))) => false,
            (Some(Cancelled), Some(Why::Operator)) => over && self.of_the_run() == Some(Cancelled),
            (Some(Cancelled), _) => true,
            _ => false,
        }
    }

    /// Whether a task was left out or stopped because of another: one decides against `all`, and what can do with
    /// some is lost with each that it had to do without.
    fn is_lost_with(&self, n: usize, down: usize) -> bool {
        match self.nodes[down].why {
            Some(Why::Stopped(cause)) => cause == n,
            Some(Why::Edge(cause)) if cause == n => true,
            Some(Why::Edge(_)) => {
                let some = self.region(down).join(self.nodes[down].node) != Join::All;
                some && self.refusals(down).iter().any(|(up, _)| *up == n)
            }
            _ => false,
        }
    }

    fn closure(&self, firsts: &[usize], takes: impl Fn(usize, usize) -> bool) -> BTreeSet<usize> {
        let (mut found, mut queue): (BTreeSet<usize>, VecDeque<usize>) = Default::default();
        found.extend(firsts);
        queue.extend(firsts);
        while let Some(n) = queue.pop_front() {
            let next = (0..self.nodes.len()).filter(|down| takes(n, *down) && !found.contains(down));
            let next: Vec<usize> = next.collect();
            found.extend(&next);
            queue.extend(next);
        }
        found
    }

    /// Whether a task has come to something that another one was before. What has not begun is open already, and what
    /// somebody supplied behind it is their word alone.
    fn is_behind(&self, n: usize, down: usize) -> bool {
        let node = &self.nodes[down];
        (node.ready || node.end.is_some()) && self.needs(down).any(|up| up == n)
    }

    fn needs(&self, n: usize) -> impl Iterator<Item = usize> {
        self.region(n).needs(self.nodes[n].node).map(|(_, need)| need.up as usize)
    }

    /// The upstreams whose end a task does not accept, in plan order.
    fn refusals(&self, n: usize) -> Vec<(usize, Resolution)> {
        let needs = self.region(n).needs(self.nodes[n].node);
        let refused = needs.filter_map(|(_, need)| {
            let up = &self.nodes[need.up as usize];
            let how = up.end.filter(|_| up.told)?;
            (!need.accepts.contains(how)).then_some((need.up as usize, how))
        });
        refused.collect()
    }

    /// What decides against a task, of what is there at once: the first against `all`, the last against some.
    fn refusal(&self, n: usize) -> Option<(usize, Resolution)> {
        let all = self.region(n).join(self.nodes[n].node) == Join::All;
        let refused = self.refusals(n);
        if all { refused.first().copied() } else { refused.last().copied() }
    }
}
