//! The task's state machine: eleven states, and every legal move in one table.

use super::Phase;
use serde::{Deserialize, Serialize};

/// Where a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[repr(u8)]
pub enum TaskState {
    /// Waits for its in-edges.
    #[default]
    Pending,
    /// Ready: a worker may take it.
    Enqueued,
    /// A worker has a lease on it; a gate waits for the world, a sub-run for its child, a composite for its scopes.
    InProgress,
    /// Its worker reported success, not yet evaluated.
    EnqueuedForOrchestration,
    /// Its worker reported failure, or it timed out, not yet evaluated.
    EnqueuedAsErrorForOrchestration,
    /// Failed, and waits for its next attempt.
    WaitingForRetry,
    /// Succeeded.
    Complete,
    /// Failed for good.
    Error,
    /// Told to stop.
    Cancelled,
    /// An operator dealt with it.
    ResolvedManually,
    /// Never ran, and will not.
    Skipped,
}

/// What moves a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Move {
    /// Its in-edges allow it: a worker may take it.
    Allowed,
    /// Its in-edges allow it: a gate, sub-run or composite begins by itself.
    Begun,
    /// Its in-edges decided against it.
    DecidedAgainst,
    /// Its chain ended before it came to it.
    NotReached,
    /// What it needs could not be evaluated.
    InputFailed,
    /// A lease was granted.
    Leased,
    /// Nobody took it in time.
    QueueTimeout,
    /// Success was reported, a gate opened, a child or composite ended well.
    Succeeded,
    /// Failure was reported, a gate was rejected, a child or composite failed.
    Failed,
    /// Its grant came back undelivered.
    Returned,
    /// A reported result was evaluated.
    Evaluated,
    /// The wait before the next attempt is over.
    RetryDue,
    /// It took too long altogether.
    OverallTimeout,
    /// An operator left it out.
    SkippedByOperator,
    /// It was cancelled.
    Cancelled,
    /// An operator resolved it.
    ResolvedByOperator,
    /// An operator completed it.
    CompletedByOperator,
    /// An operator opened the next generation.
    Reopened,
}

use TaskState as S;

/// Every legal move: from, by, to. What is not here is a bug.
pub const MOVES: &[(&[TaskState], Move, &[TaskState])] = &[
    (&[S::Pending], Move::Allowed, &[S::Enqueued]),
    (&[S::Pending], Move::Begun, &[S::InProgress]),
    (&[S::Pending], Move::DecidedAgainst, &[S::Skipped, S::Cancelled]),
    (&[S::Pending], Move::NotReached, &[S::Skipped]),
    (&[S::Pending, S::Enqueued], Move::InputFailed, &[S::Error]),
    (&[S::Enqueued], Move::Leased, &[S::InProgress]),
    (&[S::Enqueued], Move::QueueTimeout, &[S::Error]),
    (&[S::InProgress], Move::Succeeded, &[S::EnqueuedForOrchestration]),
    (&[S::InProgress], Move::Failed, &[S::EnqueuedAsErrorForOrchestration]),
    (&[S::InProgress], Move::Returned, &[S::Enqueued]),
    (&[S::EnqueuedForOrchestration], Move::Evaluated, &[S::Complete]),
    (&[S::EnqueuedAsErrorForOrchestration], Move::Evaluated, &[S::WaitingForRetry, S::Error]),
    (&[S::WaitingForRetry], Move::RetryDue, &[S::Enqueued, S::InProgress]),
    (S::OPEN, Move::OverallTimeout, &[S::Error]),
    (&[S::Pending, S::Enqueued, S::WaitingForRetry, S::InProgress], Move::SkippedByOperator, &[S::Skipped]),
    (S::OPEN, Move::Cancelled, &[S::Cancelled]),
    (S::OPEN, Move::ResolvedByOperator, &[S::ResolvedManually]),
    (S::OPEN, Move::CompletedByOperator, &[S::Complete]),
    (&[S::Error, S::Skipped, S::Cancelled, S::Complete, S::ResolvedManually], Move::Reopened, &[S::Pending]),
    (&[S::Enqueued, S::InProgress, S::WaitingForRetry], Move::Reopened, &[S::Pending]),
];

impl TaskState {
    /// All of them, in the order of their bytes.
    pub const ALL: [Self; 11] = [
        Self::Pending,
        Self::Enqueued,
        Self::InProgress,
        Self::EnqueuedForOrchestration,
        Self::EnqueuedAsErrorForOrchestration,
        Self::WaitingForRetry,
        Self::Complete,
        Self::Error,
        Self::Cancelled,
        Self::ResolvedManually,
        Self::Skipped,
    ];

    /// The states from which something can still happen by itself.
    pub const OPEN: &'static [Self] = &[
        Self::Pending,
        Self::Enqueued,
        Self::InProgress,
        Self::EnqueuedForOrchestration,
        Self::EnqueuedAsErrorForOrchestration,
        Self::WaitingForRetry,
    ];

    /// Whether the task is done in this generation.
    pub fn is_done(self) -> bool {
        self as u8 >= Self::Complete as u8
    }

    /// The state stored as a byte.
    pub fn from_byte(byte: u8) -> Option<Self> {
        Self::ALL.get(usize::from(byte)).copied()
    }

    /// Whether the table has this move.
    pub fn may(self, by: Move, to: TaskState) -> bool {
        MOVES.iter().any(|(from, m, into)| *m == by && from.contains(&self) && into.contains(&to))
    }

    /// For the merge of rows of equal version: the done ones win.
    pub fn rank(self) -> u8 {
        self as u8
    }

    /// What people see; `waits` says that nobody holds a lease on it (gate, composite).
    pub fn phase(self, waits: bool) -> Phase {
        match self {
            Self::Pending => Phase::Blocked,
            Self::Enqueued => Phase::Ready,
            Self::InProgress if waits => Phase::Waiting,
            Self::InProgress | Self::EnqueuedForOrchestration | Self::EnqueuedAsErrorForOrchestration => Phase::Running,
            Self::WaitingForRetry => Phase::Waiting,
            Self::Complete | Self::ResolvedManually => Phase::Succeeded,
            Self::Error => Phase::Failed,
            Self::Cancelled => Phase::Cancelled,
            Self::Skipped => Phase::Skipped,
        }
    }
}
