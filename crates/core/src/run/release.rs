//! Giving back what is over: a loop holds the memory of one iteration, however many there were.
//!
//! The fold itself only says which scopes are over. Whoever keeps rows gives them back once these are written:
//! what is asked about an old attempt afterwards is answered from there.

use super::Run;
use crate::event::TaskIx;

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
                self.adopted.remove(&task);
                self.tasks.give_back(task.0 as usize);
            }
            for edge in scope.edge..scope.edge + self.region_of(&scope).edge_count() {
                self.edges[edge as usize] = self.kept.get(&edge).map_or(0, |fact| *fact as u8);
            }
            self.scopes.give_back(number as usize);
        }
    }
}
