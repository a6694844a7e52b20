//! Reading the rows of a work graph back: all of them, or only what somebody asks for.

use super::super::STATE;
use super::super::error::{Explain, damaged};
use super::walls;
use crate::ledger::Stream;
use crate::projections::ItemOrder;
use edgewise_core::Result;
use edgewise_core::id::{EventId, RunId};
use edgewise_core::name::Name;
use edgewise_core::state::RunState;
use edgewise_core::time::Time;
use edgewise_core::work::{DependencyKind, DependencyRow, GateRow, ItemId, ItemRow, Note, RunEndRow, Target, WorkRows};
use rusqlite::types::FromSql;
use rusqlite::{Connection, Params, Row};
use serde::de::DeserializeOwned;

/// Where the rows of a graph are.
pub(in super::super) struct Head {
    pub graph: i64,
    pub applied_seq: u64,
    /// When something happens by itself.
    pub due: Option<Time>,
    version: EventId,
}

pub(in super::super) fn head(conn: &Connection, stream: &Stream) -> Result<Option<Head>> {
    let mut statement = conn.prepare_cached(include_str!("../sql/state_find_work.sql")).of(STATE)?;
    let mut found = statement.query(walls(stream)).of(STATE)?;
    let Some(row) = found.next().of(STATE)? else { return Ok(None) };
    let version = EventId::parse(&get::<String>(row, 2)?).map_err(bad)?;
    Ok(Some(Head { graph: get(row, 0)?, applied_seq: get::<i64>(row, 1)? as u64, version, due: time(row, 3)? }))
}

/// All rows, if there are any.
pub(in super::super) fn load(conn: &Connection, stream: &Stream) -> Result<Option<WorkRows>> {
    let Some(Head { graph, applied_seq, version, .. }) = head(conn, stream)? else { return Ok(None) };
    Ok(Some(WorkRows {
        applied_seq,
        version,
        items: list(conn, include_str!("../sql/state_load_work_items.sql"), (graph,), item_row)?,
        dependencies: list(conn, include_str!("../sql/state_load_work_dependencies.sql"), (graph,), dependency_row)?,
        gates: list(conn, include_str!("../sql/state_load_work_gates.sql"), (graph,), gate_row)?,
        runs: list(conn, include_str!("../sql/state_load_work_runs.sql"), (graph,), run_end_row)?,
    }))
}

pub(in super::super) fn ids(conn: &Connection, stream: &Stream, prefix: &str, limit: usize) -> Result<Vec<ItemId>> {
    let Some(head) = head(conn, stream)? else { return Ok(Vec::new()) };
    // Ids are ASCII: whatever begins so is before the same text with the last character there is.
    let range = (head.graph, prefix, format!("{prefix}\u{7f}"), i64::try_from(limit).unwrap_or(i64::MAX));
    list(conn, include_str!("../sql/state_find_work_ids.sql"), range, |row| id(row, 0))
}

pub(in super::super) fn walk(
    conn: &Connection,
    stream: &Stream,
    order: ItemOrder,
    see: &mut dyn FnMut(ItemRow) -> Result<bool>,
) -> Result<u64> {
    let Some(head) = head(conn, stream)? else { return Ok(0) };
    let sql = match order {
        ItemOrder::Tasks => include_str!("../sql/state_walk_work_tasks.sql"),
        ItemOrder::Ready => include_str!("../sql/state_walk_work_ready.sql"),
        ItemOrder::Blocked => include_str!("../sql/state_walk_work_blocked.sql"),
        ItemOrder::Id => include_str!("../sql/state_load_work_items.sql"),
    };
    let mut statement = conn.prepare_cached(sql).of(STATE)?;
    let mut found = statement.query((head.graph,)).of(STATE)?;
    while let Some(row) = found.next().of(STATE)? {
        if !see(item_row(row)?)? {
            break;
        }
    }
    Ok(head.applied_seq)
}

pub(in super::super) fn notes(conn: &Connection, stream: &Stream, item: &str) -> Result<Vec<Note>> {
    let Some(head) = head(conn, stream)? else { return Ok(Vec::new()) };
    let sql = include_str!("../sql/state_load_work_notes.sql");
    list(conn, sql, (head.graph, item), |row| serde_json::from_str(&get::<String>(row, 0)?).map_err(bad))
}

pub(super) fn item_row(row: &Row<'_>) -> Result<ItemRow> {
    Ok(ItemRow {
        id: id(row, 0)?,
        kind: word(row, 1)?,
        status: word(row, 2)?,
        structurally_ready: get(row, 3)?,
        blocked: get(row, 4)?,
        effective: get(row, 5)?,
        priority: get(row, 6)?,
        created_at: Time(get::<i64>(row, 7)? as u64),
        scheduled_for: time(row, 8)?,
        claim_by: name(row, 9)?,
        claim_until: time(row, 10)?,
        assignee: name(row, 11)?,
        owner: name(row, 12)?,
        task_type: word(row, 13)?,
        deadline: time(row, 14)?,
        parent: some_id(row, 15)?,
        ephemeral_in: some_id(row, 16)?,
        draft_in: some_id(row, 17)?,
        title: get(row, 18)?,
        body: get(row, 19)?,
        blockers: get(row, 20)?,
    })
}

pub(super) fn dependency_row(row: &Row<'_>) -> Result<DependencyRow> {
    let number = get::<i64>(row, 1)?;
    let kind = usize::try_from(number).ok().and_then(|number| DependencyKind::ALL.get(number).copied());
    let kind = kind.ok_or_else(|| bad(format!("{number} is no kind of dependency")))?;
    let target = Target::parse(&get::<String>(row, 2)?).map_err(bad)?;
    Ok(DependencyRow { source: id(row, 0)?, target, kind, body: get(row, 3)? })
}

pub(super) fn gate_row(row: &Row<'_>) -> Result<GateRow> {
    Ok(GateRow { id: id(row, 0)?, opens_at: time(row, 1)?, ended: get(row, 2)?, body: get(row, 3)? })
}

pub(super) fn run_end_row(row: &Row<'_>) -> Result<RunEndRow> {
    let known = |byte: u8| RunState::from_byte(byte).ok_or_else(|| bad(format!("{byte} is no state of a run")));
    let state = get::<Option<u8>>(row, 1)?.map(known).transpose()?;
    let gates = serde_json::from_str(&get::<String>(row, 2)?).map_err(bad)?;
    Ok(RunEndRow { run: RunId::parse(&get::<String>(row, 0)?).map_err(bad)?, state, gates })
}

fn bad(what: impl std::fmt::Display) -> edgewise_core::Error {
    damaged(STATE, what)
}

fn get<T: FromSql>(row: &Row<'_>, column: usize) -> Result<T> {
    row.get(column).of(STATE)
}

pub(super) fn id(row: &Row<'_>, column: usize) -> Result<ItemId> {
    ItemId::parse(&get::<String>(row, column)?).map_err(bad)
}

fn some_id(row: &Row<'_>, column: usize) -> Result<Option<ItemId>> {
    get::<Option<String>>(row, column)?.map(|text| ItemId::parse(&text).map_err(bad)).transpose()
}

fn name(row: &Row<'_>, column: usize) -> Result<Option<Name>> {
    get::<Option<String>>(row, column)?.map(|text| Name::parse(&text).map_err(bad)).transpose()
}

fn time(row: &Row<'_>, column: usize) -> Result<Option<Time>> {
    Ok(get::<Option<i64>>(row, column)?.map(|time| Time(time as u64)))
}

fn word<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> Result<T> {
    serde_json::from_value(get::<String>(row, column)?.into()).map_err(bad)
}

pub(super) fn list<T>(
    conn: &Connection,
    sql: &str,
    params: impl Params,
    each: impl Fn(&Row<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    let mut statement = conn.prepare_cached(sql).of(STATE)?;
    let mut found = statement.query(params).of(STATE)?;
    let mut all = Vec::new();
    while let Some(row) = found.next().of(STATE)? {
        all.push(each(row)?);
    }
    Ok(all)
}
