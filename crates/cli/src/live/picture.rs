//! What is to be seen of a run: plain facts, already gathered, in the order of the plan.

use edgewise_core::id::RunId;
use edgewise_core::name::Name;
use edgewise_core::state::{Phase, RunState, TaskState};
use edgewise_core::time::{Millis, Time};

/// A run at one instant.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// Which run.
    pub run: RunId,
    /// The flow's name.
    pub flow: Name,
    /// Where it is.
    pub state: RunState,
    /// No new leases for now.
    pub paused: bool,
    /// When it began.
    pub started_at: Time,
    /// When it ended.
    pub completed_at: Time,
    /// How long earlier runs of the flow took, if there were any.
    pub expected: Option<Millis>,
    /// How many tasks are in each phase; all of them, also those that have no line.
    pub counts: Counts,
    /// The tasks, each spread followed by those of its items that are worth a line.
    pub tasks: Vec<TaskLine>,
}

/// How many tasks are in each phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Wait for upstream tasks.
    pub blocked: u32,
    /// Wait for a worker.
    pub ready: u32,
    /// Are worked on.
    pub running: u32,
    /// Wait for the world or a next attempt.
    pub waiting: u32,
    /// Ended well.
    pub succeeded: u32,
    /// Ended badly.
    pub failed: u32,
    /// Never ran, and will not.
    pub skipped: u32,
    /// Were told to stop.
    pub cancelled: u32,
}

/// One task.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskLine {
    /// Its printed name.
    pub path: String,
    /// What people see of its state.
    pub phase: Phase,
    /// The attempt it is at; 0 before the first.
    pub attempt: u16,
    /// How many it may have.
    pub max_attempts: u16,
    /// Why it waits, or how it failed. Empty if there is nothing to say.
    pub note: String,
    /// When its last attempt began.
    pub started_at: Time,
    /// When it was done.
    pub completed_at: Time,
    /// How long it took in earlier runs, if there were any.
    pub expected: Option<Millis>,
    /// How far its items are, if it is a spread.
    pub spread: Option<SpreadCount>,
    /// How deep it is nested: 0 in the root.
    pub depth: usize,
}

/// How far the items of a spread are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SpreadCount {
    /// Ended, in whatever way but badly.
    pub done: u32,
    /// Ended badly.
    pub failed: u32,
    /// Are worked on.
    pub running: u32,
    /// Wait for the world or a next attempt, and nothing of them is worked on.
    pub waiting: u32,
    /// All there are.
    pub total: u32,
}

impl Picture {
    /// The one word for how it is.
    pub fn word(&self) -> &'static str {
        if self.paused && !self.state.is_done() { "paused" } else { self.state.phase().word() }
    }
}

impl Counts {
    /// From the counts of a run's row. Gates that wait are counted as running there, by their state.
    pub fn from_states(counts: &[u32; 11]) -> Self {
        let mut found = Self::default();
        for (state, count) in TaskState::ALL.iter().zip(counts) {
            *found.of(state.phase(false)) += count;
        }
        found
    }

    /// The count of one phase.
    pub fn of(&mut self, phase: Phase) -> &mut u32 {
        match phase {
            Phase::Blocked => &mut self.blocked,
            Phase::Ready => &mut self.ready,
            Phase::Running => &mut self.running,
            Phase::Waiting => &mut self.waiting,
            Phase::Succeeded => &mut self.succeeded,
            Phase::Failed => &mut self.failed,
            Phase::Skipped => &mut self.skipped,
            Phase::Cancelled => &mut self.cancelled,
        }
    }

    /// Those that nothing can happen to any more.
    pub fn ended(&self) -> u32 {
        self.succeeded + self.failed + self.skipped + self.cancelled
    }

    /// All of them.
    pub fn total(&self) -> u32 {
        self.ended() + self.running + self.waiting + self.to_go()
    }

    /// Those that something can still happen to.
    pub fn to_go(&self) -> u32 {
        self.blocked + self.ready
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counts_of_a_row_become_phases() {
        let counts = Counts::from_states(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
        let expected = Counts {
            blocked: 1,
            ready: 2,
            running: 12,
            waiting: 6,
            succeeded: 17,
            failed: 8,
            skipped: 11,
            cancelled: 9,
        };
        assert_eq!(counts, expected);
        assert_eq!((counts.to_go(), counts.ended(), counts.total()), (3, 45, 66));
    }
}
