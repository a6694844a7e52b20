//! Children: tasks that are done by runs or items of their own. Attempt n is child n.
//!
//! The fold only says that a child is wanted, or not any more; whoever commits makes it so in the child's own
//! stream, or in the work graph. A task that goes on without its child remembers it until it is known to be over, so that no crash in
//! between leaves a child at work for nobody.

use crate::event::{Failure, TaskIx, TimerKind};
use crate::fold::Fold;
use crate::limits;
use crate::run::DISOWNED;
use crate::state::{Move, TaskState};

impl Fold<'_> {
    /// A sub-run begins by itself: nobody has a lease on it.
    pub(crate) fn begin_sub_run(&mut self, task: TaskIx) {
        let depth = self.run.parent.as_ref().map_or(0, |parent| parent.depth);
        if depth >= limits::RUN_DEPTH {
            let message =
                format!("runs are nested deeper than the {} allowed: start the flow apart", limits::RUN_DEPTH);
            return self.fail_for_good(task, Failure::permanent("too_deep", message), Move::InputFailed);
        }
        self.begin_child(task);
    }

    /// What does the task's work is wanted from now on: a run, or an item.
    pub(crate) fn begin_child(&mut self, task: TaskIx) {
        if let Err(failure) = self.run.check_input(task) {
            return self.fail_for_good(task, failure, Move::InputFailed);
        }
        if let Some(span) = self.run.spec_of(task).timeouts.overall {
            self.set_timer(task, TimerKind::Overall, self.stamp.at.plus(span));
        }
        self.next_child(task, Move::Begun);
    }

    /// The next attempt, which is another child.
    pub(crate) fn next_child(&mut self, task: TaskIx, by: Move) {
        let at = self.stamp.at;
        let entry = self.task_mut(task);
        entry.attempt += 1;
        entry.started_at = at;
        if entry.attempt > 1 {
            self.run.adopted.remove(&task);
        }
        if self.run.started_at.known().is_none() {
            self.run.started_at = at;
        }
        self.step(task, by, TaskState::InProgress);
        if let Some(span) = self.run.spec_of(task).timeouts.attempt {
            self.set_timer(task, TimerKind::Attempt, at.plus(span));
        }
        self.changes.links.push(task);
    }

    /// The child that a task was to go on with is gone: it wants one of its own, in the same attempt.
    pub(crate) fn want_child(&mut self, task: TaskIx) {
        self.touch(task);
        self.changes.links.push(task);
    }

    /// The child that a task waited for is over: the bound on its time is too.
    pub(crate) fn child_ended(&mut self, task: TaskIx) {
        self.clear_timers_of(task, TimerKind::Attempt);
    }

    /// A task goes on without the child that it waits for, if it waits for one.
    pub(crate) fn disown(&mut self, task: TaskIx) {
        let Some(link) = self.run.awaited(task) else { return };
        self.child_ended(task);
        self.run.disowned.insert(link, self.run.child(link));
        self.changes.links.push(DISOWNED);
    }

    /// What became due while nothing could be begun is looked at again.
    pub(crate) fn look_at_links(&mut self) {
        self.changes.links.extend(self.run.waiting_for_children());
    }
}
