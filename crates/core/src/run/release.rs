//! Giving back what is over: a loop holds the memory of one iteration, however many there were.
//!
//! The fold itself only says which scopes are over. Whoever keeps rows gives them back once these are written:
//! what is asked about an old attempt afterwards is answered from there.
//!
//! What is inside of a composite that ended well is not over: an operator may open it again. But until then nothing
//! reads it, so whoever keeps rows may put it by, and loads the run anew before anything of it is opened.

use super::Run;
use crate::event::TaskIx;
use crate::state::TaskState;

impl Run {
    /// Gives back iterations that are over, as the run said, with all that is inside of them.
    pub fn release(&mut self, mut over: Vec<u32>) {
        while let Some(number) = over.pop() {
            let Some(scope) = self.scopes.get(number as usize).copied() else { continue };
            for task in (scope.task..scope.task + self.region_of(&scope).len()).map(TaskIx) {
                if let Some(composite) = self.composites.remove(&task) {
                    over.extend(composite.scopes());
                }
                self.before.remove(&task);
                self.outputs.remove(&task);
                self.reasons.remove(&task);
                self.approvals.remove(&task);
                self.escalated.remove(&task);
                self.adopted.remove(&task);
                self.tasks.give_back(task.0 as usize);
            }
            for edge in scope.edge..scope.edge + self.region_of(&scope).edge_count() {
                self.edges[edge as usize] = self.kept.get(&edge).map_or(0, |fact| *fact as u8);
            }
            self.scopes.give_back(number as usize);
        }
    }

    /// Whether a task is a composite that ended well: what is inside of it rests until an operator opens it again.
    pub fn is_settled(&self, task: TaskIx) -> bool {
        let ended_well = self.task(task).is_some_and(|entry| entry.state == TaskState::Complete);
        ended_well && self.spec_of(task).work.is_composite()
    }

    /// Puts by what is inside of a composite that ended well. Its rows must be written; the run is to be loaded from
    /// these before finished work of it is opened again. False if there is nothing.
    pub fn put_by(&mut self, task: TaskIx) -> bool {
        let Some(composite) = self.composites.remove(&task) else { return false };
        self.release(composite.scopes().collect());
        true
    }

    /// Whether a path leads into something that was put by.
    pub fn is_put_by(&self, path: &str) -> bool {
        let ends = path.char_indices().filter(|(_, c)| matches!(c, '[' | '#' | '!' | '(' | '.'));
        ends.filter_map(|(at, _)| self.find(&path[..at]))
            .any(|task| self.is_settled(task) && !self.composites.contains_key(&task))
    }
}
