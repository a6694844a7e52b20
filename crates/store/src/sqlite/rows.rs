//! Reading rows back. A value that cannot have been written is damage, and is said to be.

use super::STATE;
use super::error::{Explain, damaged};
use crate::ledger::Stream;
use edgewise_core::Result;
use edgewise_core::event::{TaskIx, TimerKey, TimerKind};
use edgewise_core::id::{EventId, PlanHash, RunId, TokenHash};
use edgewise_core::name::Name;
use edgewise_core::rate::Rate;
use edgewise_core::rows::{GivenRow, KeyLimit, LeaseRow, Marks, OutboxRow, RunRow, TaskRow, TimerRow, Turn};
use edgewise_core::state::{RunState, TaskState};
use edgewise_core::time::{Millis, Time};
use rusqlite::Row;
use rusqlite::types::{FromSql, ValueRef};
use std::cell::RefCell;

fn get<T: FromSql>(row: &Row<'_>, column: usize) -> Result<T> {
    row.get(column).of(STATE)
}

fn time(row: &Row<'_>, column: usize) -> Result<Time> {
    Ok(Time(get::<i64>(row, column)? as u64))
}

fn task(row: &Row<'_>, column: usize) -> Result<TaskIx> {
    Ok(TaskIx(get::<i64>(row, column)? as u32))
}

fn version(row: &Row<'_>, column: usize) -> Result<EventId> {
    EventId::parse(&get::<String>(row, column)?).map_err(|e| damaged(STATE, e))
}

fn name(row: &Row<'_>, column: usize) -> Result<Name> {
    Name::parse(&get::<String>(row, column)?).map_err(|e| damaged(STATE, e))
}

/// What else a run is searched by.
pub(super) fn marks(text: &str) -> Result<Marks> {
    serde_json::from_str(text).map_err(|e| damaged(STATE, e))
}

/// A run's row, its number and its stream.
pub(super) fn run(row: &Row<'_>) -> Result<(i64, Stream, RunRow)> {
    // The name of the stream is the run, then the two walls behind the body.
    let tenant = name(row, 13)?;
    let workspace = name(row, 14)?;
    let id = RunId::parse(&get::<String>(row, 1)?).map_err(|e| damaged(STATE, e))?;
    let state = get::<u8>(row, 4)?;
    let read = RunRow {
        id,
        flow: name(row, 2)?,
        plan: PlanHash::parse(&get::<String>(row, 3)?).map_err(|e| damaged(STATE, e))?,
        state: RunState::from_byte(state).ok_or_else(|| damaged(STATE, format!("{state} is no state of a run")))?,
        paused: get(row, 5)?,
        counts: serde_json::from_str(&get::<String>(row, 6)?).map_err(|e| damaged(STATE, e))?,
        triggered_at: time(row, 7)?,
        started_at: time(row, 8)?,
        completed_at: time(row, 9)?,
        applied_seq: get::<i64>(row, 10)? as u64,
        version: version(row, 11)?,
        marks: marks(&get::<String>(row, 15)?)?,
        body: get(row, 12)?,
    };
    Ok((get(row, 0)?, Stream { tenant, workspace, run: id }, read))
}

/// A task's row.
pub(super) fn task_row(row: &Row<'_>) -> Result<TaskRow> {
    let state = get::<u8>(row, 6)?;
    Ok(TaskRow {
        task: task(row, 0)?,
        scope: get(row, 1)?,
        region: get(row, 2)?,
        node: get(row, 3)?,
        path: get(row, 4)?,
        generation: get(row, 5)?,
        state: TaskState::from_byte(state).ok_or_else(|| damaged(STATE, format!("{state} is no state of a task")))?,
        attempt: get(row, 7)?,
        token: TokenHash(get::<i64>(row, 8)? as u64),
        ready_at: time(row, 9)?,
        started_at: time(row, 10)?,
        completed_at: time(row, 11)?,
        output: get(row, 12)?,
        error: get(row, 13)?,
        body: get(row, 14)?,
        version: version(row, 15)?,
    })
}

/// What a composite or a run began with.
pub(super) fn given(row: &Row<'_>) -> Result<GivenRow> {
    Ok(GivenRow { task: task(row, 0)?, body: get(row, 1)? })
}

/// Names that stand in many rows, each kept once: half a million rows have few.
#[derive(Default)]
pub(super) struct Names(RefCell<Vec<Name>>);

/// So many different names are kept at hand.
const NAMES: usize = 64;

impl Names {
    fn get(&self, row: &Row<'_>, column: usize) -> Result<Name> {
        let text = row.get_ref(column).of(STATE)?.as_str().map_err(|e| damaged(STATE, e))?;
        let mut known = self.0.borrow_mut();
        if let Some(name) = known.iter().find(|name| name.as_str() == text) {
            return Ok(name.clone());
        }
        let name = Name::parse(text).map_err(|e| damaged(STATE, e))?;
        if known.len() == NAMES {
            known.clear();
        }
        known.push(name.clone());
        Ok(name)
    }

    fn some(&self, row: &Row<'_>, column: usize) -> Result<Option<Name>> {
        let absent = row.get_ref(column).of(STATE)? == ValueRef::Null;
        if absent { Ok(None) } else { self.get(row, column).map(Some) }
    }

    /// A stream's name from the first three columns.
    fn stream(&self, row: &Row<'_>) -> Result<Stream> {
        let run = row.get_ref(0).of(STATE)?.as_str().map_err(|e| damaged(STATE, e))?;
        let run = RunId::parse(run).map_err(|e| damaged(STATE, e))?;
        Ok(Stream { run, tenant: self.get(row, 1)?, workspace: self.get(row, 2)? })
    }
}

/// A waiting task and its stream.
pub(super) fn outbox(row: &Row<'_>, names: &Names) -> Result<(Stream, OutboxRow)> {
    let read = OutboxRow {
        task: task(row, 3)?,
        generation: get(row, 4)?,
        attempt: get(row, 5)?,
        action: names.get(row, 6)?,
        ready_at: time(row, 7)?,
        turn: Turn { queue: names.some(row, 8)?, priority: get(row, 9)?, limit: limit(row)? },
    };
    Ok((names.stream(row)?, read))
}

fn limit(row: &Row<'_>) -> Result<Option<KeyLimit>> {
    let Some(key) = get::<Option<String>>(row, 10)? else { return Ok(None) };
    let rate = get::<Option<String>>(row, 12)?.map(|rate| Rate::parse(&rate).map_err(|e| damaged(STATE, e)));
    Ok(Some(KeyLimit { key, max: get(row, 11)?, rate: rate.transpose()? }))
}

/// A timer and its stream.
pub(super) fn timer(row: &Row<'_>, names: &Names) -> Result<(Stream, TimerRow)> {
    let kind = get::<u8>(row, 4)?;
    let key = TimerKey {
        task: task(row, 3)?,
        kind: *TimerKind::ALL
            .get(usize::from(kind))
            .ok_or_else(|| damaged(STATE, format!("{kind} is no kind of timer")))?,
        generation: get(row, 5)?,
        attempt: get(row, 6)?,
    };
    Ok((names.stream(row)?, TimerRow { key, due: time(row, 7)? }))
}

/// A lease and its stream.
pub(super) fn lease(row: &Row<'_>, names: &Names) -> Result<(Stream, LeaseRow)> {
    let read = LeaseRow {
        task: task(row, 3)?,
        generation: get(row, 4)?,
        attempt: get(row, 5)?,
        token: TokenHash(get::<i64>(row, 6)? as u64),
        worker: get(row, 7)?,
        deadline: time(row, 8)?,
        span: get::<Option<i64>>(row, 9)?.map(|span| Millis(span as u64)),
        queue: names.some(row, 10)?,
        key: get(row, 11)?,
    };
    Ok((names.stream(row)?, read))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timer_kinds_are_read_back_in_the_order_of_their_bytes() {
        for (byte, kind) in TimerKind::ALL.iter().enumerate() {
            assert_eq!(*kind as usize, byte);
        }
    }
}
