//! Spreads: one scope for each item, joined by the composite itself. Zero items end at once with `[]`.

use crate::event::{Failure, TaskIx};
use crate::fold::Fold;
use crate::limits;
use crate::plan::{Spread, Work};
use crate::rule::{culprit, went_badly};
use crate::run::{Chunk, SpreadState};
use crate::state::{Move, TaskState};
use std::sync::Arc;

fn too_many_items() -> Failure {
    let message = format!("a run has at most {} tasks", limits::RUN_TASKS);
    Failure { retryable: false, ..Failure::new("too_many_items", message) }
}

impl Fold<'_> {
    pub(crate) fn begin_spread(&mut self, task: TaskIx, spread: &Spread) {
        if self.run.spreads.contains_key(&task) {
            // Opened again: the items and what is finished of them are kept.
            return self.begin(task);
        }
        let items = match self.run.spread_items(task, &spread.items) {
            Ok(items) => items,
            Err(failure) => return self.fail_for_good(task, failure, Move::InputFailed),
        };
        if !self.has_room(items.len(), spread.region) {
            return self.fail_for_good(task, too_many_items(), Move::InputFailed);
        }
        self.begin(task);
        let total = items.len() as u32;
        self.run.spreads.insert(task, SpreadState { items, total, chunks: Vec::new(), done: 0, failed: 0 });
        if total == 0 {
            return self.end_spread(task, spread);
        }
        self.run.advancing.insert(task);
    }

    fn has_room(&self, scopes: usize, region: u32) -> bool {
        let nodes = self.run.plan.regions[region as usize].len() as usize;
        self.run.tasks.len() + scopes * nodes <= limits::RUN_TASKS
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
        let plan = Arc::clone(&self.run.plan);
        let Work::Spread(spread) = &self.run.spec_of(task).work else { return };
        let region = spread.region;
        let state = &self.run.spreads[&task];
        let made = state.made();
        let count = (state.total - made).min(self.budget);
        if !self.has_room(count as usize, region) {
            // Others took the room since it began.
            self.stop_within(task);
            return self.fail(task, too_many_items());
        }
        self.budget -= count;
        let chunk = Chunk {
            scope: self.run.scopes.len() as u32,
            task: self.run.tasks.len() as u32,
            edge: self.run.edges.len() as u32,
            count,
        };
        for index in made..made + count {
            self.run.add_scope(region, task, index);
        }
        let finished = {
            let Some(state) = self.run.spreads.get_mut(&task) else { return };
            state.chunks.push(chunk);
            made + count == state.total
        };
        if finished {
            self.run.advancing.remove(&task);
        }
        self.touch(task);
        let region = &plan.regions[region as usize];
        let roots: Vec<u32> = (0..region.len()).filter(|n| region.in_degree(*n) == 0).collect();
        for scope in 0..count {
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
        let plan = Arc::clone(&self.run.plan);
        let holder = self.run.scope_of(scope.parent);
        let Work::Spread(spread) = &plan.spec(holder.region, scope.parent.0 - holder.task).work else { return };
        let Some(state) = self.run.spreads.get_mut(&scope.parent) else { return };
        state.done += 1;
        state.failed += u32::from(bad);
        let (over, all) = (state.failed > spread.tolerate, state.done == state.total);
        if self.state(scope.parent).is_done() {
            // Ended in another way: its scopes only follow.
        } else if all {
            self.end_spread(scope.parent, spread);
        } else if bad && over && spread.fail_fast {
            self.stop_spread(scope.parent, culprit(self.run, number));
        }
    }

    fn end_spread(&mut self, task: TaskIx, spread: &Spread) {
        let state = &self.run.spreads[&task];
        if state.failed <= spread.tolerate {
            let output = self.run.gather(task);
            return self.succeed(task, output);
        }
        let (failed, total) = (state.failed, state.total);
        let first = state.scopes().find_map(|s| {
            let scope = &self.run.scopes[s as usize];
            let nodes = self.run.region_of(scope).len();
            (scope.task..scope.task + nodes).find_map(|t| self.run.failure_of(TaskIx(t)))
        });
        let first = first.map_or_else(String::new, |f| format!("; the first: {}: {}", f.kind, f.message));
        let message = format!("{failed} of {total} items failed{first}");
        self.fail(task, Failure { retryable: false, ..Failure::new("SpreadFailed", message) });
    }

    /// `fail_fast`: the other items are not wanted any more.
    fn stop_spread(&mut self, spread: TaskIx, because: TaskIx) {
        self.run.advancing.remove(&spread);
        let Some(state) = self.run.spreads.get_mut(&spread) else { return };
        state.total = state.made();
        let scopes: Vec<u32> = state.scopes().collect();
        self.touch(spread);
        for scope in scopes {
            self.stop_scope(scope, Some(because));
        }
    }
}
