//! The rows of a workspace's control in `state.db`.

use super::STATE;
use super::error::{Explain, damaged};
use crate::ledger::Stream;
use crate::projections::ControlChange;
use edgewise_core::Result;
use edgewise_core::control::{ControlRow, ControlRows, Key};
use edgewise_core::id::EventId;
use rusqlite::{Connection, OptionalExtension, Params};

/// Writes what changed; refused if the rows are not where they must be.
pub(super) fn change(conn: &Connection, change: &ControlChange) -> Result<()> {
    change.check()?;
    let (tenant, workspace) = walls(&change.stream);
    let (seq, version) = (change.applied_seq as i64, change.version.to_string());
    let written = match change.from_seq {
        0 => execute(conn, include_str!("sql/state_add_control.sql"), (tenant, workspace, seq, version))?,
        from => {
            let moved = (tenant, workspace, seq, version, from as i64);
            execute(conn, include_str!("sql/state_set_control.sql"), moved)?
        }
    };
    if written == 0 {
        return Err(change.moved(head(conn, &change.stream)?.map_or(0, |(seq, _)| seq)));
    }
    for key in &change.gone {
        let row = (tenant, workspace, key.kind(), key.name().as_str());
        execute(conn, include_str!("sql/state_drop_control_row.sql"), row)?;
    }
    for ControlRow { key, body } in &change.rows {
        let row = (tenant, workspace, key.kind(), key.name().as_str(), body);
        execute(conn, include_str!("sql/state_set_control_row.sql"), row)?;
    }
    Ok(())
}

/// All rows, if there are any.
pub(super) fn load(conn: &Connection, stream: &Stream) -> Result<Option<ControlRows>> {
    let Some((applied_seq, version)) = head(conn, stream)? else { return Ok(None) };
    let mut statement = conn.prepare_cached(include_str!("sql/state_load_control.sql")).of(STATE)?;
    let mut found = statement.query(walls(stream)).of(STATE)?;
    let mut rows = Vec::new();
    while let Some(row) = found.next().of(STATE)? {
        let (kind, name): (String, String) = (row.get(0).of(STATE)?, row.get(1).of(STATE)?);
        let key = Key::parse(&kind, &name).map_err(|e| damaged(STATE, e))?;
        rows.push(ControlRow { key, body: row.get(2).of(STATE)? });
    }
    Ok(Some(ControlRows { applied_seq, version, rows }))
}

/// Takes all rows away.
pub(super) fn forget(conn: &Connection, stream: &Stream) -> Result<()> {
    execute(conn, include_str!("sql/state_forget_control_rows.sql"), walls(stream))?;
    execute(conn, include_str!("sql/state_forget_control.sql"), walls(stream)).map(drop)
}

fn head(conn: &Connection, stream: &Stream) -> Result<Option<(u64, EventId)>> {
    let mut statement = conn.prepare_cached(include_str!("sql/state_find_control.sql")).of(STATE)?;
    let found = statement.query_row(walls(stream), |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)));
    let Some((seq, version)) = found.optional().of(STATE)? else { return Ok(None) };
    Ok(Some((seq as u64, EventId::parse(&version).map_err(|e| damaged(STATE, e))?)))
}

fn walls(stream: &Stream) -> (&str, &str) {
    (stream.tenant.as_str(), stream.workspace.as_str())
}

fn execute(conn: &Connection, sql: &'static str, params: impl Params) -> Result<usize> {
    conn.prepare_cached(sql).and_then(|mut statement| statement.execute(params)).of(STATE)
}
