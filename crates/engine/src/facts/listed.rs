//! A run as programs see it in a list, and its place there.

use super::{own_key, rfc3339};
use edgewise_core::id::{EventId, PlanHash, RunId};
use edgewise_core::name::Name;
use edgewise_core::rows::RunRow;
use edgewise_core::state::{Phase, RunState, TaskState};
use edgewise_core::time::{Millis, Time};
use edgewise_core::why::Act;
use edgewise_core::{Error, Result};
use serde::Serialize;
use std::collections::BTreeMap;

/// A run as programs see it in a list.
#[derive(Debug, Clone, Serialize)]
pub struct Listed {
    /// Its id.
    pub run: RunId,
    /// Its flow.
    pub flow: Name,
    /// Where exactly it is.
    pub state: RunState,
    /// What people see of that.
    pub phase: Phase,
    /// Whether it begins nothing for now.
    pub paused: bool,
    /// Why only reads work on it.
    pub frozen: Option<String>,
    /// Who froze it; absent if nobody did and it is marked, as what is damaged is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frozen_by: Option<Act>,
    /// How many tasks it has come to.
    pub tasks: u32,
    /// How many of them are over.
    pub tasks_done: u32,
    /// Tasks by their states.
    pub counts: BTreeMap<String, u32>,
    /// When it was asked for.
    pub triggered_at: Option<String>,
    /// When its first task began.
    pub started_at: Option<String>,
    /// When it ended.
    pub completed_at: Option<String>,
    /// How long that took.
    pub took_ms: Option<u64>,
    /// Where it belongs.
    pub namespace: Name,
    /// Who asked for it.
    pub by: Option<Name>,
    /// The caller's key.
    pub key: Option<String>,
    /// What it is searched by.
    pub labels: BTreeMap<String, String>,
    /// The run that it is a part of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<RunId>,
    /// Its plan.
    pub plan: PlanHash,
    /// The seq of the last event in this row.
    pub applied_seq: u64,
    /// The id of that event.
    pub row_version: EventId,
    /// What `--after` takes to go on behind it.
    pub cursor: String,
}

impl Listed {
    /// A row as programs see it.
    pub fn new(row: &RunRow, frozen: Option<String>) -> Self {
        let done = TaskState::ALL.iter().zip(row.counts).filter(|(state, _)| state.is_done()).map(|(_, n)| n).sum();
        let counts = TaskState::ALL.iter().zip(row.counts).filter(|(_, n)| *n > 0);
        Self {
            run: row.id,
            flow: row.flow.clone(),
            state: row.state,
            phase: row.state.phase(),
            paused: row.paused,
            frozen_by: frozen.as_ref().and_then(|_| row.frozen()).as_ref().map(Act::from),
            frozen,
            tasks: row.counts.iter().sum(),
            tasks_done: done,
            counts: counts.map(|(state, n)| (format!("{state:?}"), n)).collect(),
            triggered_at: rfc3339(row.triggered_at),
            started_at: rfc3339(row.started_at),
            completed_at: rfc3339(row.completed_at),
            took_ms: took(row, Time::NEVER).map(|span| span.0),
            namespace: row.namespace().clone(),
            by: row.marks.by.clone(),
            key: own_key(row.marks.key.as_ref()).cloned(),
            labels: row.marks.labels.clone(),
            parent: row.parent().map(|parent| parent.run),
            plan: row.plan,
            applied_seq: row.applied_seq,
            row_version: row.version,
            cursor: Cursor(row.triggered_at, row.id).to_string(),
        }
    }
}

/// How long a run took; until `now` if it is not over, unless that is not known.
pub fn took(row: &RunRow, now: Time) -> Option<Millis> {
    let end = row.completed_at.known().or_else(|| now.known())?;
    row.started_at.known().map(|start| end.since(start))
}

/// A place in the list of runs: when a run was asked for, and its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor(pub Time, pub RunId);

impl Cursor {
    /// Reads what was printed.
    pub fn parse(text: &str) -> Result<Self> {
        let parsed = text.split_once('-').and_then(|(at, run)| Some((at.parse().ok()?, RunId::parse(run).ok()?)));
        let (at, run) = parsed.ok_or_else(|| {
            let message = format!("{text:?} is no cursor: take it from the end of the last page, or from its JSON");
            Error::invalid("bad_cursor", message)
        })?;
        Ok(Self(Time(at), run))
    }
}

impl std::fmt::Display for Cursor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}", self.0.0, self.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_reads_back_as_it_was_printed() {
        let cursor = Cursor(Time(1_800_000_000_123), RunId(77));
        assert_eq!(Cursor::parse(&cursor.to_string()).unwrap(), cursor);
        for text in ["", "-", "1", "x-0123456789abcdef", "1-short", "-1-0123456789abcdef"] {
            assert_eq!(Cursor::parse(text).unwrap_err().code, "bad_cursor", "{text}");
        }
    }
}
