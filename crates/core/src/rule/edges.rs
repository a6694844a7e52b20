//! Edge resolution: the one place where a finished task moves the tasks behind it.
//!
//! An edge is a fact, not a counter. The first event in ledger order that resolves it wins; every
//! later one finds the fact and changes nothing. That is the whole of our safety against duplicates
//! and replays. The counts beside a task only cache what its edges say.

use crate::event::TaskIx;
use crate::fold::Fold;
use crate::plan::{OnFailure, Resolution};
use crate::rule::is_handled;
use crate::run::Reason;
use crate::state::{Move, TaskState};
use std::sync::Arc;

impl Fold<'_> {
    /// Resolves what is open behind every task that is done, breadth first, until nothing moves; then the run's own state.
    pub(crate) fn settle(&mut self) {
        loop {
            if let Some(task) = self.done.pop_front() {
                self.resolve_out_edges(task);
            } else if let Some(scope) = self.ended.pop_front() {
                self.scope_ended(scope);
            } else if let Some(scope) = self.moving.pop_front() {
                self.run_chain(scope);
            } else if !self.spread_on() {
                break;
            }
        }
        self.derive_run_state();
    }

    pub(crate) fn resolve_out_edges(&mut self, up: TaskIx) {
        if self.run.in_chain(up) {
            return self.chain_on(up);
        }
        let Some(resolution) = self.run.fact_of(up) else { return };
        let plan = Arc::clone(&self.run.plan);
        let scope = *self.run.scope_of(up);
        let region = &plan.regions[scope.region as usize];
        for out in region.needed_by(up.0 - scope.task) {
            let fact = &mut self.run.edges[(scope.edge + out.edge) as usize];
            if *fact != 0 {
                continue;
            }
            *fact = resolution as u8;
            let down = TaskIx(scope.task + out.down);
            let degree = region.in_degree(out.down);
            let accepted = region.edge(out.edge).accepts.contains(resolution);
            let task = self.task_mut(down);
            if accepted {
                task.accepted += 1;
            } else {
                task.refused += 1;
            }
            if task.accepted + task.refused > degree {
                self.overflow = Some(down);
                return;
            }
            self.decide(down, up, resolution);
        }
        if self.state(up) == TaskState::Error {
            self.fail_fast(up);
        }
    }

    /// Under `fail_fast` a failure that nobody answers ends the rest of the run.
    fn fail_fast(&mut self, failed: TaskIx) {
        let in_root = self.run.tasks[failed.0 as usize].scope == 0;
        if in_root && self.run.plan.on_failure == OnFailure::FailFast && !is_handled(self.run, failed) {
            self.stop_scope(0, Some(failed));
        }
    }

    /// Reads a task's readiness off its edges; `up` is the edge that was resolved last.
    pub(crate) fn decide(&mut self, down: TaskIx, up: TaskIx, resolution: Resolution) {
        let scope = self.run.scope_of(down);
        let region = self.run.region_of(scope);
        let node = down.0 - scope.task;
        let degree = region.in_degree(node);
        let needed = region.join(node).threshold(degree);
        let task = &self.run.tasks[down.0 as usize];
        if task.state != TaskState::Pending {
            return;
        }
        if task.accepted >= needed {
            self.ready(down);
        } else if task.refused > degree - needed {
            self.because(down, Reason::Upstream { task: up, resolution });
            let to = if resolution == Resolution::Cancelled { TaskState::Cancelled } else { TaskState::Skipped };
            self.finish(down, Move::DecidedAgainst, to);
        }
    }
}
