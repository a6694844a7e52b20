//! Spreads: one scope for each item, joined by the composite itself. Zero items end at once with `[]`.

use crate::event::{Failure, TaskIx};
use crate::fold::Fold;
use crate::limits;
use crate::plan::{Parallel, Spread, Work};
use crate::rule::{culprit, went_badly};
use crate::run::{Chunk, Composite};
use crate::state::{Move, TaskState};
use std::collections::BTreeMap;
use std::sync::Arc;

pub(crate) fn too_many_tasks() -> Failure {
    Failure::permanent("too_many_items", format!("a run has at most {} tasks", limits::RUN_TASKS))
}

/// How many failures of its scopes a spread or parallel bears, and whether one more stops the others.
fn bearing(work: &Work) -> Option<(u32, bool)> {
    match work {
        Work::Spread(spread) => Some((spread.tolerate, spread.fail_fast)),
        Work::Parallel(parallel) => Some((parallel.tolerate, parallel.fail_fast)),
        _ => None,
    }
}

impl Fold<'_> {
    pub(crate) fn begin_spread(&mut self, task: TaskIx, spread: &Spread) {
        if self.run.composites.contains_key(&task) {
            // Opened again: the items and what is finished of them are kept.
            return self.begin(task);
        }
        let items = match self.run.spread_items(task, &spread.items) {
            Ok(items) => items,
            Err(failure) => return self.fail_for_good(task, *failure, Move::InputFailed),
        };
        if !self.has_room(items.len(), spread.region) {
            return self.fail_for_good(task, too_many_tasks(), Move::InputFailed);
        }
        self.begin(task);
        let total = items.len() as u32;
        self.run.composites.insert(task, Composite { items, total, ..Composite::default() });
        self.give(task);
        if total == 0 {
            return self.end_spread(task, spread.tolerate);
        }
        self.run.advancing.insert(task);
    }

    pub(crate) fn begin_parallel(&mut self, task: TaskIx, parallel: &Parallel) {
        self.begin(task);
        let total = parallel.arms.len() as u32;
        self.run.composites.insert(task, Composite { total, ..Composite::default() });
        self.run.advancing.insert(task);
    }

    /// Makes the scopes that are still to be made, as far as this event may. True if any were.
    pub(crate) fn spread_on(&mut self) -> bool {
        let mut any = false;
        while self.budget > 0 && self.overflow.is_none() {
            let Some(task) = self.run.advancing.first().copied() else { break };
            self.make_scopes(task);
            any = true;
        }
        any
    }

    fn make_scopes(&mut self, task: TaskIx) {
        let state = &self.run.composites[&task];
        let made = state.made();
        // The arms of a parallel are regions of their own, so each is a chunk of its own.
        let most = if matches!(self.run.spec_of(task).work, Work::Parallel(_)) { 1 } else { self.budget };
        let count = (state.total - made).min(most);
        let Some(region) = self.run.spec_of(task).work.region_at(made) else { return };
        if !self.has_room(count as usize, region) {
            // Others took the room since it began.
            self.stop_within(task);
            return self.fail(task, too_many_tasks());
        }
        self.budget -= count;
        let chunk = Chunk {
            scope: self.run.scopes.len() as u32,
            task: self.run.tasks.len() as u32,
            edge: self.run.edges.len() as u32,
            index: made,
            count,
            generation: self.run.generation_within(task),
        };
        for index in made..made + count {
            self.run.add_scope(region, task, index);
        }
        let finished = {
            let Some(state) = self.run.composites.get_mut(&task) else { return };
            state.chunks.push(chunk);
            made + count == state.total
        };
        if finished {
            self.run.advancing.remove(&task);
        }
        self.touch(task);
        self.begin_scopes(&chunk, region);
    }

    fn begin_scopes(&mut self, chunk: &Chunk, region: u32) {
        let plan = Arc::clone(&self.run.plan);
        let region = &plan.regions[region as usize];
        if region.script().is_some() {
            return (chunk.scope..chunk.scope + chunk.count).for_each(|scope| self.begin_chain(scope, BTreeMap::new()));
        }
        let roots: Vec<u32> = (0..region.len()).filter(|n| region.in_degree(*n) == 0).collect();
        for scope in 0..chunk.count {
            for root in &roots {
                let root = TaskIx(chunk.task + scope * region.len() + root);
                if self.state(root) == TaskState::Pending {
                    self.ready(root);
                }
            }
        }
    }

    /// A scope has ended, and perhaps its composite with it.
    pub(crate) fn scope_ended(&mut self, number: u32) {
        let scope = self.run.scopes[number as usize];
        let bad = went_badly(self.run, number);
        let Some((tolerate, fail_fast)) = bearing(&self.run.spec_of(scope.parent).work) else { return };
        let Some(state) = self.run.composites.get_mut(&scope.parent) else { return };
        state.done += 1;
        state.failed += u32::from(bad);
        let (over, all) = (state.failed > tolerate, state.done == state.total);
        if self.state(scope.parent).is_done() {
            // Ended in another way: its scopes only follow.
        } else if all {
            self.end_spread(scope.parent, tolerate);
        } else if bad && over && fail_fast {
            self.stop_spread(scope.parent, culprit(self.run, number));
        }
    }

    fn end_spread(&mut self, task: TaskIx, tolerate: u32) {
        let state = &self.run.composites[&task];
        if state.failed <= tolerate {
            match self.run.gather(task) {
                Ok(output) => {
                    self.succeed(task, output);
                    return self.give_back(task);
                }
                Err(failure) => return self.fail(task, failure),
            }
        }
        let failure = self.failure_of_scopes(task);
        self.fail(task, failure);
    }

    /// A program goes on with the list alone: what is inside of a spread that ended well is over.
    fn give_back(&mut self, task: TaskIx) {
        if !self.run.in_chain(task) {
            return;
        }
        if let Some(state) = self.run.composites.get_mut(&task) {
            self.run.over.extend(state.scopes());
            state.chunks = Vec::new();
            state.items = Arc::default();
        }
        self.give(task);
    }

    /// The failure of a spread is that of its scope if one failed, else it stands for all of them.
    fn failure_of_scopes(&self, task: TaskIx) -> Failure {
        let state = &self.run.composites[&task];
        // What was cancelled because of a failure did not fail.
        let bad = state.scopes().filter(|s| went_badly(self.run, *s));
        let errors: Vec<&Failure> = bad
            .filter_map(|s| {
                let scope = &self.run.scopes[s as usize];
                let nodes = self.run.region_of(scope).len();
                (scope.task..scope.task + nodes).find_map(|t| self.run.failure_of(TaskIx(t)))
            })
            .collect();
        let total = state.total;
        let message = match errors.as_slice() {
            [only] => return Failure { retryable: false, ..(*only).clone() },
            [] => format!("{} of {total} items were cancelled", state.failed),
            [first, ..] => {
                format!("{} of {total} items failed; the first: {}: {}", errors.len(), first.kind, first.message)
            }
        };
        let errors = errors.into_iter().take(limits::SPREAD_ERRORS).cloned().collect();
        let mut failure = Failure { errors, ..Failure::permanent("SpreadFailed", message) };
        if self.run.rules() >= 2 {
            failure.cut_causes();
        }
        failure
    }

    /// `fail_fast`: the other items are not wanted any more.
    fn stop_spread(&mut self, spread: TaskIx, because: TaskIx) {
        if !self.stopped.insert(spread) {
            return;
        }
        self.run.advancing.remove(&spread);
        let Some(state) = self.run.composites.get_mut(&spread) else { return };
        state.total = state.made();
        let scopes: Vec<u32> = state.scopes().collect();
        self.touch(spread);
        for scope in scopes {
            self.stop_scope(scope, Some(because));
        }
    }
}
