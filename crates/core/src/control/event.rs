//! The events of a workspace's control stream.

use super::Hook;
use crate::event::Recorded;
use crate::id::{PlanHash, RunId};
use crate::name::Name;
use crate::schedule::Schedule;
use crate::time::Time;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A fact of what a workspace is set to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ControlEvent {
    /// A flow is known by its name from here on, or by another plan.
    FlowRegistered(FlowRegistered),
    /// A schedule is made, changed or taken away.
    ScheduleSet(ScheduleSet),
    /// A tick of a schedule was decided.
    ScheduleFired(ScheduleFired),
    /// A setting was changed or taken away.
    SettingChanged(SettingChanged),
    /// Written by a newer program: folds to nothing.
    #[serde(skip)]
    Unknown(Box<str>),
}

/// See [`ControlEvent::FlowRegistered`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FlowRegistered {
    /// The flow's name.
    pub flow: Name,
    /// The plan that new runs get.
    pub plan: PlanHash,
    /// How a call of its address begins it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook: Option<Hook>,
    /// Who.
    pub by: Name,
}

/// See [`ControlEvent::ScheduleSet`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScheduleSet {
    /// Its name.
    pub name: Name,
    /// What it is from here on; absent if it is taken away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Schedule>,
    /// Who.
    pub by: Name,
    /// Why, if they said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// See [`ControlEvent::ScheduleFired`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScheduleFired {
    /// Which schedule.
    pub name: Name,
    /// The tick: the instant that the schedule names, without its jitter.
    pub due: Time,
    /// What became of it.
    pub outcome: Outcome,
    /// Runs of earlier ticks that were found to be over.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub over: Vec<RunId>,
}

/// What became of a tick.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// A run.
    Started(RunId),
    /// It waits until the run before it has ended.
    Queued,
    /// No run.
    Skipped(Skip),
}

/// Why a tick did not become a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Skip {
    /// The run before it was still at work.
    Overlap(RunId),
    /// Too many ticks were waiting already.
    QueueFull,
    /// No engine was there at its time: so many ticks in a row, this one the last.
    Missed(u64),
    /// This tick had started a run before.
    Already(RunId),
    /// The run could not be started, for this reason.
    Refused(String),
}

/// See [`ControlEvent::SettingChanged`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SettingChanged {
    /// Which setting.
    pub key: Name,
    /// What it is from here on; absent if it is taken away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// Who.
    pub by: Name,
    /// Why, if they said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl ControlEvent {
    /// The event's type, as the model names it.
    pub fn name(&self) -> &str {
        match self {
            Self::FlowRegistered(_) => "FlowRegistered",
            Self::ScheduleSet(_) => "ScheduleSet",
            Self::ScheduleFired(_) => "ScheduleFired",
            Self::SettingChanged(_) => "SettingChanged",
            Self::Unknown(name) => name,
        }
    }
}

impl Recorded for ControlEvent {
    const KNOWN: &'static [&'static str] = &["FlowRegistered", "ScheduleSet", "ScheduleFired", "SettingChanged"];

    fn unknown(name: &str) -> Self {
        Self::Unknown(name.into())
    }
}

impl Skip {
    /// In words, for people.
    pub fn why(&self) -> String {
        match self {
            Self::Overlap(run) => format!("run {run} of the tick before was still at work"),
            Self::QueueFull => "too many ticks were waiting already".into(),
            Self::Missed(1) => "no engine was there at its time".into(),
            Self::Missed(ticks) => format!("no engine was there at its time, nor at {} before it", ticks - 1),
            Self::Already(run) => format!("it had started run {run} before"),
            Self::Refused(why) => why.clone(),
        }
    }
}
