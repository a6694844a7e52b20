//! Timers: what a task waits for that only time brings, by names that are never parsed back from text.

use super::{TaskIx, is_one, one};
use crate::time::Time;
use serde::{Deserialize, Serialize};

/// Which instant of a task a timer stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum TimerKind {
    /// The wait before the next attempt is over.
    Retry,
    /// A timer gate opens.
    Gate,
    /// A gate stayed closed for too long.
    Deadline,
    /// A ready task was not taken in time.
    Queue,
    /// A task with all its attempts took too long.
    Overall,
    /// One attempt took too long that nobody has a lease on: a sub-run.
    Attempt,
    /// The next step of a gate's `escalate` is due. Its event is [`super::Event::GateEscalated`], which says what it is about.
    Escalation,
}

impl TimerKind {
    /// All of them, each at the place of its number: rows keep that.
    pub const ALL: [Self; 7] =
        [Self::Retry, Self::Gate, Self::Deadline, Self::Queue, Self::Overall, Self::Attempt, Self::Escalation];
}

/// Names a timer. Structured, never parsed back from text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TimerKey {
    /// The task.
    #[serde(rename = "t")]
    pub task: TaskIx,
    /// Which of its instants.
    pub kind: TimerKind,
    /// The task's generation.
    #[serde(rename = "g", default = "one", skip_serializing_if = "is_one")]
    pub generation: u16,
    /// The attempts made when it was set.
    #[serde(rename = "a")]
    pub attempt: u16,
}

/// See [`super::Event::TimerFired`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TimerFired {
    /// Which timer.
    #[serde(flatten)]
    pub timer: TimerKey,
    /// The instant it was set for.
    pub due: Time,
}

impl TimerKey {
    /// From the first to the last key that timers of a task can have.
    pub fn all_of(task: TaskIx) -> std::ops::RangeInclusive<TimerKey> {
        let first = TimerKey { task, kind: TimerKind::Retry, generation: 0, attempt: 0 };
        let last = TimerKey { task, kind: TimerKind::Escalation, generation: u16::MAX, attempt: u16::MAX };
        first..=last
    }
}
