//! The states of tasks and runs, and the moves between them, as tables.

mod run;
mod task;

pub use run::RunState;
pub use task::{MOVES, Move, TaskState};

use serde::Serialize;

/// What people see of a task: coarser than its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Waits for its upstream tasks.
    Blocked,
    /// Waits for a worker.
    Ready,
    /// Somebody works on it.
    Running,
    /// Waits for the world or for its next attempt.
    Waiting,
    /// Ended well.
    Succeeded,
    /// Ended badly.
    Failed,
    /// Never ran, and will not.
    Skipped,
    /// Was told to stop.
    Cancelled,
}

impl Phase {
    /// The word that is printed.
    pub fn word(self) -> &'static str {
        match self {
            Self::Blocked => "blocked",
            Self::Ready => "ready",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
            Self::Cancelled => "cancelled",
        }
    }
}
