//! Runs that are taken away while the storm rages: those that are over, and at times some that are not.

use super::Storm;
use crate::plans::{has_children, has_events, has_schedules, has_work};
use edgewise_core::id::RunId;
use edgewise_core::time::Millis;
use edgewise_engine::command::Command;
use edgewise_engine::retention::Removing;

/// How long keys are kept: longer than any storm.
const KEPT: Millis = Millis(1_000_000_000_000);

impl Storm {
    /// Whether runs are taken away in this seed: one in eleven, and none of those that are kept for what they once found
    /// without. Who waits for a run, or tells of it, needs it; so there is nobody who does.
    pub(super) fn removes(&self) -> bool {
        let alone = [has_children, has_events, has_schedules, has_work].iter().all(|has| !has(self.seed));
        alone && matches!(self.seed % 47, 5 | 9 | 11 | 13 | 16 | 29 | 34 | 37 | 44)
    }

    /// An operator takes some runs away, or asks for what is left of them on the disk.
    pub(super) fn remove(&mut self) {
        let over = |run: &RunId| self.witness.run(*run).state.is_done();
        let all: Vec<RunId> = self.witness.books.keys().copied().collect();
        let ended: Vec<RunId> = all.iter().copied().filter(over).collect();
        let from = if ended.is_empty() || self.dice.one_in(5) { all } else { ended };
        let runs = (0..self.dice.below(3)).filter_map(|_| self.dice.index(from.len()).map(|at| from[at])).collect();
        self.ask(Command::Remove(Removing { runs, keep_keys: KEPT }));
    }
}
