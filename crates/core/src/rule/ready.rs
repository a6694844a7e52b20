//! What happens to a task whose in-edges allow it: a worker may take it, or it begins by itself.

use crate::event::{Failure, TaskIx, TimerKind};
use crate::fold::Fold;
use crate::gate::{Gate, Opens, Wait};
use crate::plan::{Emit, Spec, Work};
use crate::run::Reason;
use crate::state::{Move, TaskState};
use std::sync::Arc;

impl Fold<'_> {
    pub(crate) fn ready(&mut self, task: TaskIx) {
        let plan = Arc::clone(&self.run.plan);
        let scope = self.run.scope_of(task);
        let spec = plan.spec(scope.region, task.0 - scope.task);
        let at = self.stamp.at;
        match self.wanted(task, spec) {
            Ok(true) => {}
            Ok(false) => {
                self.because(task, Reason::When);
                return self.finish(task, Move::DecidedAgainst, TaskState::Skipped);
            }
            Err(failure) => return self.fail_for_good(task, *failure, Move::InputFailed),
        }
        self.task_mut(task).ready_at = at;
        match &spec.work {
            work if work.is_leased() => {
                if let Err(failure) = self.run.check_input(task) {
                    return self.fail_for_good(task, failure, Move::InputFailed);
                }
                self.enqueue(task, Move::Allowed);
                if let Some(span) = spec.timeouts.overall {
                    self.set_timer(task, TimerKind::Overall, at.plus(span));
                }
            }
            Work::Gate(gate) => self.begin_gate(task, gate),
            Work::Sleep(span) => match self.seen(self.run.tasks[task.0 as usize].scope).span(span) {
                Ok(span) => {
                    self.begin(task);
                    self.set_timer(task, TimerKind::Gate, at.plus(span));
                }
                Err(failure) => self.fail_for_good(task, *failure, Move::InputFailed),
            },
            Work::SubRun(_) => self.begin_sub_run(task),
            Work::Item(_) => self.begin_child(task),
            Work::Emit(emit) => self.tell(task, emit),
            Work::Spread(spread) => self.begin_spread(task, spread),
            Work::Parallel(parallel) => self.begin_parallel(task, parallel),
            composite => self.begin_composite(task, composite),
        }
    }

    /// Whether the task's own `when` wants it; evaluated once, before anything else.
    fn wanted(&self, task: TaskIx, spec: &Spec) -> Result<bool, Box<Failure>> {
        let number = self.run.tasks[task.0 as usize].scope;
        spec.when.as_ref().map_or(Ok(true), |when| self.seen(number).holds(when))
    }

    /// A worker may take it from now on.
    pub(crate) fn enqueue(&mut self, task: TaskIx, by: Move) {
        self.step(task, by, TaskState::Enqueued);
        self.changes.ready.push(task);
        if let Some(span) = self.run.spec_of(task).timeouts.queue {
            self.set_timer(task, TimerKind::Queue, self.stamp.at.plus(span));
        }
    }

    /// Telling the outside world is done at once: what is told is a fact now, and travels after the commit.
    fn tell(&mut self, task: TaskIx, emit: &Emit) {
        let payload = match self.run.evaluate(task, &emit.payload) {
            Ok(payload) => payload.into_owned(),
            Err(failure) => return self.fail_for_good(task, failure, Move::InputFailed),
        };
        self.begin(task);
        self.succeed(task, payload);
    }

    fn begin_gate(&mut self, task: TaskIx, gate: &Gate) {
        if let Err(failure) = self.run.external(task) {
            return self.fail_for_good(task, failure, Move::InputFailed);
        }
        if let Err(failure) = self.run.shared_gate(task) {
            return self.fail_for_good(task, failure, Move::InputFailed);
        }
        match gate.wait.opens() {
            // The gate of the work graph is what it waits for, as for a child.
            Opens::Shared => self.next_child(task, Move::Begun),
            _ => self.begin(task),
        }
        let at = self.stamp.at;
        match &gate.wait {
            Wait::After(span) => self.set_timer(task, TimerKind::Gate, at.plus(*span)),
            Wait::Until(due) => self.set_timer(task, TimerKind::Gate, *due),
            Wait::Approval { .. } | Wait::Webhook | Wait::External { .. } | Wait::Shared { .. } => {}
        }
        if let Some(span) = gate.deadline {
            self.set_timer(task, TimerKind::Deadline, at.plus(span));
        }
        self.await_escalation(task);
    }

    /// A task that needs no worker begins by itself.
    pub(crate) fn begin(&mut self, task: TaskIx) {
        let at = self.stamp.at;
        self.task_mut(task).started_at = at;
        if self.run.started_at.known().is_none() {
            self.run.started_at = at;
        }
        self.step(task, Move::Begun, TaskState::InProgress);
    }
}
