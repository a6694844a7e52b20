//! Links between runs: who waits for whom, said in the stream of each.

use super::{TaskIx, is_one, one};
use crate::event::Failure;
use crate::id::RunId;
use crate::state::RunState;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Names one attempt of a task that is done by a run of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LinkRef {
    /// The task.
    #[serde(rename = "t")]
    pub task: TaskIx,
    /// Its generation.
    #[serde(rename = "g", default = "one", skip_serializing_if = "is_one")]
    pub generation: u16,
    /// Which attempt.
    #[serde(rename = "a")]
    pub attempt: u16,
}

/// See [`super::Event::LinkRequested`]: who waits for this run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkRequested {
    /// The run that waits.
    pub run: RunId,
    /// Its attempt.
    #[serde(flatten)]
    pub link: LinkRef,
    /// The path of its task, for people.
    pub path: String,
    /// How many runs are around this one.
    pub depth: u16,
}

/// See [`super::Event::LinkResolved`]: how the run that was waited for ended. A success unless there is an error.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LinkResolved {
    /// The attempt that waited.
    #[serde(flatten)]
    pub link: LinkRef,
    /// The run that ended.
    pub run: RunId,
    /// How.
    pub state: RunState,
    /// What it made; absent is null.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Box<RawValue>>,
    /// Why it did not succeed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
}
