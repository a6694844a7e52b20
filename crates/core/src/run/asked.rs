//! The gates of a run as somebody outside of it sees them who waits for one: by their paths, and how they ended.

use super::Run;
use crate::event::TaskIx;
use crate::plan::{Region, Work};
use crate::state::TaskState;
use crate::work::RunGateEnd;

impl Run {
    /// Whether a task waits for the world: a gate, or a while that has to pass.
    pub fn is_gate(&self, task: TaskIx) -> bool {
        is_gate(&self.spec_of(task).work)
    }

    /// How the task of a path ended, as far as whoever waits for it is concerned: `Some(None)` while it has not, `None`
    /// if there is no such task, or not any more.
    pub fn gate_end(&self, path: &str) -> Option<Option<RunGateEnd>> {
        let entry = self.task(self.find(path).or_else(|| self.find_over(path))?)?;
        Some(match entry.state {
            TaskState::Complete | TaskState::ResolvedManually => Some(RunGateEnd::Open),
            TaskState::Error => Some(RunGateEnd::Rejected),
            TaskState::Skipped | TaskState::Cancelled => Some(RunGateEnd::Missed),
            _ => None,
        })
    }

    /// A gate in a round that is over, or in a spread of a program that is, until it is given back: nothing leads down
    /// to it any more.
    fn find_over(&self, path: &str) -> Option<TaskIx> {
        let within = self.is_program() && path.contains(['[', '#']);
        let gates = within.then(|| self.present().filter(|task| self.is_gate(*task)));
        gates.into_iter().flatten().filter(|task| self.path(*task) == path).last()
    }

    /// Whether a path that names nothing yet could come to name a gate: of a spread, a loop or a handler. Not exact:
    /// how many there will be of these is known when they begin, and a path that never comes is told at the end.
    pub fn may_have_gate(&self, path: &str) -> bool {
        let begins = path.find(['[', '#', '!', '(', '.']).unwrap_or(path.len());
        let Some(inner) = path.get(begins..).filter(|inner| !inner.is_empty()) else { return false };
        let last = inner.rsplit('.').next().filter(|_| inner.contains('.'));
        let root = self.plan.root();
        let holder = root.find(&path[..begins]).map(|node| &self.plan.specs[root.spec(node) as usize].work);
        let regions = self.plan.regions.iter().skip(1);
        let has = |region: &Region| match last.filter(|last| !last.ends_with(']')) {
            Some(name) => {
                region.find(name).is_some_and(|node| is_gate(&self.plan.specs[region.spec(node) as usize].work))
            }
            // The one task of an item or an arm needs no name.
            None => region.len() == 1 && is_gate(&self.plan.specs[region.spec(0) as usize].work),
        };
        !self.state.is_done() && holder.is_some_and(Work::is_composite) && regions.into_iter().any(has)
    }
}

fn is_gate(work: &Work) -> bool {
    matches!(work, Work::Gate(_) | Work::Sleep(_))
}
