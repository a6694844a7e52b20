//! Who it was: what neither rows nor runs keep, and the ledger does.

use super::{Act, Because, Why};
use crate::event::{DispatchEnqueued, Event, Request};
use crate::history::Entry;

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

    fn learn_worker(&mut self, lease: &DispatchEnqueued) {
        let Some(at) = self.by_task.get(&lease.task) else { return };
        if let Because::AtWork { worker, .. } = &mut self.causes[*at].because {
            *worker = Some(lease.worker.clone());
        }
    }
}
