//! How a task becomes done, and what is evaluated when an attempt ends.

use crate::event::{AttemptRef, Failure, TaskIx, TimerKind};
use crate::fold::Fold;
use crate::plan::Work;
use crate::run::Reason;
use crate::state::{Move, TaskState};
use serde_json::Value;
use std::sync::Arc;

impl Fold<'_> {
    /// A task is done in this generation: its timers go, its lease ends, and its out-edges are next.
    pub(crate) fn finish(&mut self, task: TaskIx, by: Move, to: TaskState) {
        if self.state(task) == TaskState::InProgress {
            self.revoke(task);
        }
        self.step(task, by, to);
        let at = self.stamp.at;
        self.task_mut(task).completed_at = at;
        self.clear_timers(task);
        self.run.returned.remove(&task);
        let number = self.run.tasks[task.0 as usize].scope;
        let scope = &mut self.run.scopes[number as usize];
        scope.open -= 1;
        scope.bad += u32::from(matches!(to, TaskState::Error | TaskState::Cancelled));
        let all_done = scope.open == 0 && number != 0;
        if all_done && !self.run.in_chain(task) {
            self.ended.push_back(number);
        }
        self.done.push_back(task);
    }

    /// Success was reported: received and evaluated in one step, both in the history.
    pub(crate) fn succeed(&mut self, task: TaskIx, output: impl Into<Arc<Value>>) {
        self.step(task, Move::Succeeded, TaskState::EnqueuedForOrchestration);
        self.derive_run_state();
        let output = output.into();
        if !output.is_null() {
            self.run.outputs.insert(task, output);
        }
        self.run.reasons.remove(&task);
        self.finish(task, Move::Evaluated, TaskState::Complete);
    }

    /// Failure was reported: another attempt if the flow allows one, else for good.
    pub(crate) fn fail(&mut self, task: TaskIx, failure: Failure) {
        self.step(task, Move::Failed, TaskState::EnqueuedAsErrorForOrchestration);
        self.derive_run_state();
        let attempt = self.run.tasks[task.0 as usize].attempt;
        let retry = &self.run.spec_of(task).retry;
        // A gate is asked once, also one whose answer comes from the work graph.
        let asked = matches!(self.run.spec_of(task).work, Work::Gate(_));
        let again = self.run.has_attempts(task) && !asked && retry.allows_another(attempt, &failure);
        if !again {
            return self.fail_for_good(task, failure, Move::Evaluated);
        }
        let generation = self.run.tasks[task.0 as usize].generation;
        let wait = retry.after(&failure).delay(self.run.id, task.0, generation, attempt, failure.retry_after);
        self.because(task, Reason::Failed(Box::new(failure)));
        self.run.returned.remove(&task);
        self.step(task, Move::Evaluated, TaskState::WaitingForRetry);
        self.set_timer(task, TimerKind::Retry, self.stamp.at.plus(wait));
    }

    /// A permanent failure.
    pub(crate) fn fail_for_good(&mut self, task: TaskIx, failure: Failure, by: Move) {
        self.because(task, Reason::Failed(Box::new(failure)));
        self.finish(task, by, TaskState::Error);
    }

    /// Says that a lease has ended by something else than its own finish.
    pub(crate) fn revoke(&mut self, task: TaskIx) {
        self.disown(task);
        if self.run.is_leasable(task) {
            let entry = &self.run.tasks[task.0 as usize];
            self.changes.revoked.push(AttemptRef {
                task,
                generation: entry.generation,
                attempt: entry.attempt,
                token: entry.token,
            });
        }
    }
}
