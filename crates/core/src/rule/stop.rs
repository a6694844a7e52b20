//! Stopping what is not wanted any more: a scope after a failure, or the whole run.

use crate::event::TaskIx;
use crate::fold::Fold;
use crate::plan::Work;
use crate::run::{End, Reason};
use crate::state::{Move, TaskState};

impl Fold<'_> {
    /// Cancels what is not done in a scope and in the scopes within it.
    pub(crate) fn stop_scope(&mut self, number: u32, because: Option<TaskIx>) {
        let scope = self.run.scopes[number as usize];
        let nodes = self.run.region_of(&scope).len();
        self.drop_chain(number);
        for task in (scope.task..scope.task + nodes).map(TaskIx) {
            if self.state(task).is_done() {
                continue;
            }
            self.stop_inner(task, because);
            match because {
                Some(because) => self.because(task, Reason::BecauseOf { task: because }),
                // How an earlier attempt failed is not how this one ended: its report is late, not repeated.
                None if self.state(task) == TaskState::InProgress => drop(self.run.reasons.remove(&task)),
                None => {}
            }
            self.finish(task, Move::Cancelled, TaskState::Cancelled);
        }
    }

    /// A chain that is stopped goes nowhere: whoever stops it knows how it ends.
    fn drop_chain(&mut self, number: u32) {
        if self.run.chains.remove(&number).is_none() {
            return;
        }
        self.run.stalled.remove(&number);
        if number == 0 {
            self.run.end = Some(End::Cancelled);
        } else if matches!(
            self.run.spec_of(self.run.scopes[number as usize].parent).work,
            Work::Spread(_) | Work::Parallel(_)
        ) {
            self.ended.push_back(number);
        }
    }

    /// Cancels what is not done below a composite, which itself ends in another way.
    pub(crate) fn stop_within(&mut self, task: TaskIx) {
        self.stop_inner(task, Some(task));
    }

    fn stop_inner(&mut self, task: TaskIx, because: Option<TaskIx>) {
        self.run.advancing.remove(&task);
        let Some(spread) = self.run.composites.get(&task) else { return };
        let inner: Vec<u32> = spread.scopes().collect();
        for scope in inner {
            self.stop_scope(scope, because);
        }
    }

    /// Cancels everything; what a failure held open resolves too.
    pub(crate) fn stop_run(&mut self) {
        if !self.run.planned {
            return;
        }
        let failed: Vec<TaskIx> = self.run.present().filter(|t| self.state(*t) == TaskState::Error).collect();
        self.done.extend(failed);
        self.stop_scope(0, None);
    }
}
