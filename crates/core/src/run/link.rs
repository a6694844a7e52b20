//! Links: the children of a run's tasks, and what a child's end means to whoever waited for it.

use super::{Asked, Run};
use crate::event::{Failure, LinkRef, TaskIx};
use crate::id::RunId;
use crate::name::Name;
use crate::plan::{SubRun, Work};
use crate::retry::Retry;
use crate::rule::is_handled;
use crate::state::{RunState, TaskState};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How a child ended, for the task that waited: what it made, or why it failed.
pub type Outcome = Result<Value, Failure>;

/// The type of the failure of a task whose child failed.
const FAILED: &str = "SubRunFailed";
/// The type of the failure of a task whose child was cancelled by somebody.
const CANCELLED: &str = "SubRunCancelled";
/// What is said of a child that was to go on and is not there any more.
const GONE: &str = "SubRunGone";

/// A child of an earlier attempt that goes on for a later one, and who asked for that.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Adopted {
    /// The child.
    pub run: RunId,
    /// Who, why and when.
    pub asked: Asked,
}

impl Run {
    /// What a task that is done by a run of its own says about it.
    pub fn sub_run(&self, task: TaskIx) -> Option<&SubRun> {
        match &self.spec_of(task).work {
            Work::SubRun(sub) => Some(sub),
            _ => None,
        }
    }

    /// The attempt of a task that waits for its child, a run or an item; `None` if it waits for none.
    pub fn awaited(&self, task: TaskIx) -> Option<LinkRef> {
        let entry = self.task(task).filter(|entry| entry.state == TaskState::InProgress)?;
        self.spec_of(task).work.is_linked().then_some(())?;
        Some(LinkRef { task, generation: entry.generation, attempt: entry.attempt })
    }

    /// The child of an attempt.
    pub fn child(&self, link: LinkRef) -> RunId {
        let entry = self.task(link.task);
        let current = entry.is_some_and(|task| (task.generation, task.attempt) == (link.generation, link.attempt));
        match self.adopted.get(&link.task).filter(|_| current) {
            Some(adopted) => adopted.run,
            None => RunId::child(self.id, link.task.0, link.generation, link.attempt),
        }
    }

    /// The child that a task waits for, or had when it last waited for one.
    pub fn last_child(&self, task: TaskIx) -> Option<RunId> {
        let entry = self.task(task).filter(|entry| entry.attempt > 0)?;
        self.sub_run(task)?;
        Some(self.child(LinkRef { task, generation: entry.generation, attempt: entry.attempt }))
    }

    /// The child because of whose failure a task failed.
    pub(crate) fn failed_child(&self, task: TaskIx) -> Option<RunId> {
        self.failure_of(task).filter(|failure| failure.kind == FAILED)?;
        self.last_child(task)
    }

    /// The child that a task would go on with, if it waits for one that is not its own.
    pub fn adopted_by(&self, link: LinkRef) -> Option<&Adopted> {
        self.adopted.get(&link.task).filter(|_| self.awaited(link.task) == Some(link))
    }

    /// The tasks that wait for children.
    pub fn waiting_for_children(&self) -> impl Iterator<Item = TaskIx> + '_ {
        let any = self.plan.specs.iter().any(|spec| spec.work.is_linked());
        let waiting = any.then(|| self.present().filter(|task| self.awaited(*task).is_some()));
        waiting.into_iter().flatten()
    }

    /// The failure that the run ended with: a program's own, or the first one of a task that nobody answered.
    pub fn ending_failure(&self) -> Option<Failure> {
        if self.is_program() {
            return self.failure().cloned();
        }
        let failed = |task: &TaskIx| self.tasks[task.0 as usize].state == TaskState::Error && !is_handled(self, *task);
        self.present().find(failed).and_then(|task| self.failure_of(task).cloned())
    }

    /// What this run's end means to the task that waited for it, under that task's policy.
    pub fn outcome_for(&self, retry: &Retry) -> Outcome {
        match self.state {
            RunState::Error => Err(Failure::of_sub_run(self.id, &self.plan.flow, self.ending_failure())),
            RunState::Cancelled => {
                let by = self.cancel.as_ref().map_or_else(String::new, |asked| format!(" by {}", asked.by));
                let message = format!("run {} of {} was cancelled{by}", self.id, self.plan.flow);
                let failure = Failure::new(CANCELLED, message);
                // Somebody did not want it: another one is made only where the flow asks for just that.
                let retryable = retry.after(&failure).on.iter().any(|kind| kind == CANCELLED);
                Err(Failure { retryable, ..failure })
            }
            _ => self.final_output(),
        }
    }
}

impl Failure {
    /// The failure of a task whose child failed; its cause is the child's own.
    pub fn of_sub_run(run: RunId, flow: &Name, cause: Option<Failure>) -> Self {
        let why = cause.as_ref().map_or_else(String::new, |cause| format!(" with {}", cause.kind));
        let failed = Failure::new(FAILED, format!("run {run} of {flow} failed{why}"));
        let mut failed = Failure { cause: cause.map(Box::new), ..failed };
        failed.cut_causes();
        failed
    }

    /// A child that was to go on was taken away: the task begins one of its own.
    pub fn of_gone_sub_run(run: RunId) -> Self {
        Failure::new(GONE, format!("run {run} was to go on and is not there any more: another one begins"))
    }

    /// Whether it says that a child that was to go on is not there any more.
    pub(crate) fn is_of_gone_sub_run(&self) -> bool {
        self.kind == GONE
    }
}
