//! What keeps a ready task from being taken although somebody may be there to take it: what it shares with others.
//!
//! A run does not know it, since slots are counted over all runs. Whoever has looked there tells it to the reasons.

use super::words::Clock;
use super::{Because, Why, moves};
use crate::event::TaskIx;
use crate::id::RunId;
use crate::name::Name;
use crate::rate::Rate;
use crate::run::Run;
use crate::time::Time;
use serde::{Deserialize, Serialize};

/// Something shared that lets no more begin for now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Hold {
    /// What is shared.
    pub of: Shared,
    /// How it holds the task.
    #[serde(flatten)]
    pub closed: Closed,
}

/// What tasks of all runs have together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Shared {
    /// The slots and the rate of a queue.
    Queue(Name),
    /// A limit, by its key.
    Key(String),
}

/// Why no more may begin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Closed {
    /// Somebody paused it.
    Paused,
    /// As many are at work as may be.
    Full {
        /// Most at once.
        most: u32,
        /// At work.
        used: u32,
        /// Some of these.
        holders: Vec<Holder>,
    },
    /// One began not long ago.
    Rate {
        /// How often one may begin.
        rate: Rate,
        /// From when on the next one may.
        #[serde(serialize_with = "super::instant")]
        opens: Time,
    },
}

/// An attempt that holds a slot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// Which run.
    pub run: RunId,
    /// The task's path.
    pub task: String,
    /// Which attempt.
    pub attempt: u16,
    /// Who has it.
    pub worker: String,
}

impl Why {
    /// The tasks that wait to be taken in a run that goes on: what holds them is to be looked for outside of it.
    pub fn unclaimed(&self) -> Vec<TaskIx> {
        let waits = |because: &Because| matches!(because, Because::Unclaimed { paused: false, .. });
        self.causes.iter().filter(|cause| waits(&cause.because)).map(|cause| cause.task).collect()
    }

    /// Takes what was found to hold a task that waits to be taken.
    pub fn learn_holds(&mut self, run: &Run, task: TaskIx, found: Vec<Hold>) {
        let Some(at) = self.by_task.get(&task) else { return };
        let cause = &mut self.causes[*at];
        if let Because::Unclaimed { holds, .. } = &mut cause.because {
            *holds = found;
            cause.moved_by = moves::of_task(run, task, &cause.because);
        }
    }
}

impl Hold {
    /// `key db is full, with 1 of 1 at work`
    pub fn sentence(&self, clock: Clock<'_>) -> String {
        let of = self.of.name();
        match &self.closed {
            Closed::Paused => format!("{of} is paused"),
            Closed::Full { most, used, .. } => format!("{of} is full, with {used} of {most} at work"),
            Closed::Rate { rate, opens } => format!("{of} lets {rate} begin, the next at {}", clock(*opens)),
        }
    }
}

impl Shared {
    /// `queue night`, `key db`
    pub fn name(&self) -> String {
        match self {
            Self::Queue(name) => format!("queue {name}"),
            Self::Key(key) => format!("key {key}"),
        }
    }
}
