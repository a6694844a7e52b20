//! Who it was: what neither rows nor runs keep, and the ledger does.

use super::{Act, Because, Why, moves};
use crate::event::{DispatchEnqueued, Event, Request, TaskIx};
use crate::history::Entry;
use crate::run::Run;
use crate::work::ItemId;

impl Why {
    /// Whether the ledger could say more.
    pub fn could_learn(&self) -> bool {
        self.paused || self.causes.iter().any(|cause| matches!(cause.because, Because::AtWork { .. }))
    }

    /// Takes from an event who paused the run, or who has a lease. Events come in their order.
    pub fn learn(&mut self, entry: &Entry) {
        match &entry.event {
            Event::RunPauseRequested(Request { by, why }) if self.paused && self.paused_by.is_none() => {
                self.paused_by = Some(Act { by: by.clone(), why: why.clone(), at: entry.stamp.at });
            }
            Event::RunResumeRequested(_) => self.paused_by = None,
            Event::DispatchEnqueued(lease) => self.learn_worker(lease),
            _ => {}
        }
    }

    /// The tasks that wait for items or gates of the work graph, which the run knows nothing more of.
    pub fn items(&self) -> Vec<(TaskIx, ItemId)> {
        let item = |because: &Because| match because {
            Because::Item { id, .. } => Some(id.clone()),
            Because::Shared { gate, .. } => ItemId::parse(gate).ok(),
            _ => None,
        };
        self.causes.iter().filter_map(|cause| Some((cause.task, item(&cause.because)?))).collect()
    }

    /// Takes from the work graph whether something is in the way of the item that a task waits for.
    pub fn learn_item(&mut self, run: &Run, task: TaskIx, is_blocked: bool) {
        let Some(at) = self.by_task.get(&task) else { return };
        let cause = &mut self.causes[*at];
        if let Because::Item { blocked, .. } = &mut cause.because {
            *blocked = is_blocked;
            cause.moved_by = moves::of_task(run, task, &cause.because);
        }
    }

    fn learn_worker(&mut self, lease: &DispatchEnqueued) {
        let Some(at) = self.by_task.get(&lease.task) else { return };
        if let Because::AtWork { worker, .. } = &mut self.causes[*at].because {
            *worker = Some(lease.worker.clone());
        }
    }
}
