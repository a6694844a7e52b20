//! Reading rows back. A value that cannot have been written is damage, and is said to be.

use super::STATE;
use super::error::{Explain, damaged};
use super::ledger::stream;
use crate::ledger::Stream;
use edgewise_core::Result;
use edgewise_core::event::{TaskIx, TimerKey, TimerKind};
use edgewise_core::id::{EventId, PlanHash, TokenHash};
use edgewise_core::name::Name;
use edgewise_core::rows::{LeaseRow, OutboxRow, RunRow, TaskRow, TimerRow};
use edgewise_core::state::{RunState, TaskState};
use edgewise_core::time::Time;
use rusqlite::Row;
use rusqlite::types::FromSql;

const KINDS: [TimerKind; 6] =
    [TimerKind::Retry, TimerKind::Gate, TimerKind::Deadline, TimerKind::Queue, TimerKind::Overall, TimerKind::Attempt];

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

/// A run's row, its number and its stream.
pub(super) fn run(row: &Row<'_>) -> Result<(i64, Stream, RunRow)> {
    // The name of the stream is the run, then the two walls at the end of the row.
    let tenant = name(row, 13)?;
    let workspace = name(row, 14)?;
    let id = edgewise_core::id::RunId::parse(&get::<String>(row, 1)?).map_err(|e| damaged(STATE, e))?;
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

/// A waiting task and its stream.
pub(super) fn outbox(row: &Row<'_>) -> Result<(Stream, OutboxRow)> {
    let read = OutboxRow {
        task: task(row, 3)?,
        generation: get(row, 4)?,
        attempt: get(row, 5)?,
        action: name(row, 6)?,
        ready_at: time(row, 7)?,
    };
    Ok((stream(STATE, row, 0)?, read))
}

/// A timer and its stream.
pub(super) fn timer(row: &Row<'_>) -> Result<(Stream, TimerRow)> {
    let kind = get::<u8>(row, 4)?;
    let key = TimerKey {
        task: task(row, 3)?,
        kind: *KINDS.get(usize::from(kind)).ok_or_else(|| damaged(STATE, format!("{kind} is no kind of timer")))?,
        generation: get(row, 5)?,
        attempt: get(row, 6)?,
    };
    Ok((stream(STATE, row, 0)?, TimerRow { key, due: time(row, 7)? }))
}

/// A lease and its stream.
pub(super) fn lease(row: &Row<'_>) -> Result<(Stream, LeaseRow)> {
    let read = LeaseRow {
        task: task(row, 3)?,
        generation: get(row, 4)?,
        attempt: get(row, 5)?,
        worker: get(row, 6)?,
        deadline: time(row, 7)?,
    };
    Ok((stream(STATE, row, 0)?, read))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timer_kinds_are_read_back_in_the_order_of_their_bytes() {
        for (byte, kind) in KINDS.iter().enumerate() {
            assert_eq!(*kind as usize, byte);
        }
    }
}
