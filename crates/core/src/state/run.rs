//! The run's state machine: twelve states. One function derives them, in `fold/outcome.rs`.

use super::Phase;
use serde::{Deserialize, Serialize};

/// Where a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[repr(u8)]
pub enum RunState {
    /// No plan yet.
    #[default]
    Pending,
    /// Planned, nothing moved yet.
    Initializing,
    /// A task is ready.
    EnqueuingTasks,
    /// A lease lives.
    TasksInProcess,
    /// A result is being evaluated.
    EvaluatingResults,
    /// Only gates, items or sub-runs are waited for.
    WaitingForDependencies,
    /// Only the wait before a next attempt is left.
    WaitingForRetry,
    /// Held at a permanent failure until an operator decides.
    BlockedByFailures,
    /// Ended well.
    Complete,
    /// Ended with an unhandled failure.
    Error,
    /// Ended by a cancel.
    Cancelled,
    /// An operator dealt with it.
    ResolvedManually,
}

impl RunState {
    /// All of them, in the order of their bytes.
    pub const ALL: [Self; 12] = [
        Self::Pending,
        Self::Initializing,
        Self::EnqueuingTasks,
        Self::TasksInProcess,
        Self::EvaluatingResults,
        Self::WaitingForDependencies,
        Self::WaitingForRetry,
        Self::BlockedByFailures,
        Self::Complete,
        Self::Error,
        Self::Cancelled,
        Self::ResolvedManually,
    ];

    /// Whether the run is over.
    pub fn is_done(self) -> bool {
        self as u8 >= Self::Complete as u8
    }

    /// The state stored as a byte.
    pub fn from_byte(byte: u8) -> Option<Self> {
        Self::ALL.get(usize::from(byte)).copied()
    }

    /// What people see.
    pub fn phase(self) -> Phase {
        match self {
            Self::Pending | Self::Initializing | Self::EnqueuingTasks => Phase::Ready,
            Self::TasksInProcess | Self::EvaluatingResults => Phase::Running,
            Self::WaitingForDependencies | Self::WaitingForRetry => Phase::Waiting,
            Self::BlockedByFailures => Phase::Blocked,
            Self::Complete | Self::ResolvedManually => Phase::Succeeded,
            Self::Error => Phase::Failed,
            Self::Cancelled => Phase::Cancelled,
        }
    }
}
