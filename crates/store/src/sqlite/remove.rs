//! What happens inside the transaction of a removal.
//!
//! A stream loses its name first: from then on nobody finds it. Its records are given back some at a time, so that a
//! large run never holds the ledger for long; until the last of them is gone its number stays taken.

use super::LEDGER;
use super::error::{Explain, damaged};
use super::heads;
use super::statements::Statements;
use super::transaction::Then;
use crate::domain::Space;
use crate::ledger::{Gone, Removal, Removed, Stream};
use edgewise_core::Result;
use edgewise_core::id::RunId;
use edgewise_core::state::RunState;
use edgewise_core::time::Time;
use rusqlite::{Connection, OptionalExtension, params};

/// Most records given back by one call: about 5 ms.
const STEP: usize = 1_000;
/// Most runs forgotten, and most keys given free, by one call.
const FORGET: usize = 100;

/// Takes streams away, gives some of what is left on the disk back, forgets what is kept no longer.
pub(super) fn remove(conn: &Connection, removal: &Removal) -> Result<Then<Removed>> {
    let statements = &mut Statements::new(conn, LEDGER);
    let mut taken = 0;
    for gone in &removal.streams {
        taken += usize::from(unname(statements, gone)?);
    }
    let more = give_back(statements)?;
    let more = expire(statements, removal.at)? || more;
    let more = removal.work_keys.as_ref().map_or(Ok(false), |(space, at)| free(statements, space, *at))? || more;
    Ok(Then::Commit(Removed { taken, more }))
}

/// True if the stream is not there any more.
fn unname(statements: &mut Statements<'_>, gone: &Gone) -> Result<bool> {
    let Some((id, head)) = heads::read(statements, &gone.stream)? else { return Ok(true) };
    if head.seq != gone.seq {
        return Ok(false);
    }
    let Stream { run, tenant, workspace } = &gone.stream;
    let times = [gone.ended_at, gone.removed_at, gone.until].map(|time| time.0 as i64);
    let row = params![
        run.to_string(),
        tenant.as_str(),
        workspace.as_str(),
        gone.seq as i64,
        gone.state as u8,
        times[0],
        times[1],
        gone.key,
        times[2]
    ];
    statements.get(include_str!("sql/ledger_add_gone.sql"))?.execute(row).of(LEDGER)?;
    statements.get(include_str!("sql/ledger_unname_stream.sql"))?.execute((id,)).of(LEDGER)?;
    Ok(true)
}

/// True if there may be more.
fn give_back(statements: &mut Statements<'_>) -> Result<bool> {
    let mut left = STEP;
    let mut given = statements.get(include_str!("sql/ledger_drop_old_places.sql"))?.execute(()).of(LEDGER)?;
    while left > 0 {
        let unnamed = statements.get(include_str!("sql/ledger_unnamed_stream.sql"))?;
        let Some(id) = unnamed.query_row((), |row| row.get::<_, i64>(0)).optional().of(LEDGER)? else { break };
        statements.get(include_str!("sql/ledger_keep_last_place.sql"))?.execute((id,)).of(LEDGER)?;
        let drop = statements.get(include_str!("sql/ledger_drop_records.sql"))?;
        let dropped = drop.execute((id, left as i64)).of(LEDGER)?;
        given += dropped;
        if dropped < left {
            statements.get(include_str!("sql/ledger_drop_stream.sql"))?.execute((id,)).of(LEDGER)?;
        }
        left -= dropped;
    }
    if given > 0 {
        let count = statements.get(include_str!("sql/ledger_count_removed.sql"))?;
        count.execute((given.to_string(),)).of(LEDGER)?;
    }
    Ok(left == 0)
}

/// True if there may be more.
fn expire(statements: &mut Statements<'_>, now: Time) -> Result<bool> {
    let over = statements.get(include_str!("sql/ledger_expired.sql"))?;
    let rows = over.query_map((now.0 as i64, FORGET as i64), |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?, row.get(3)?))
    });
    let over: Vec<(String, String, String, Option<String>)> = rows.and_then(Iterator::collect).of(LEDGER)?;
    let more = over.len() == FORGET;
    for (run, tenant, workspace, key) in over {
        if let Some(key) = key {
            let free = statements.get(include_str!("sql/ledger_free_key.sql"))?;
            free.execute((&tenant, &workspace, key, &run)).of(LEDGER)?;
        }
        let drop = statements.get(include_str!("sql/ledger_drop_gone.sql"))?;
        drop.execute((&run, &tenant, &workspace)).of(LEDGER)?;
    }
    Ok(more)
}

/// True if there may be more.
fn free(statements: &mut Statements<'_>, space: &Space, at: Time) -> Result<bool> {
    let (tenant, workspace) = (space.tenant.as_str(), space.workspace.as_str());
    let worn = statements.get(include_str!("sql/ledger_worn_work_keys.sql"))?;
    // Later than all there are is as good as the instant itself.
    let at = i64::try_from(at.0).unwrap_or(i64::MAX);
    let keys = worn.query_map((tenant, workspace, at, FORGET as i64), |row| row.get::<_, String>(0));
    let keys: Vec<String> = keys.and_then(Iterator::collect).of(LEDGER)?;
    for key in &keys {
        let free = statements.get(include_str!("sql/ledger_free_key.sql"))?;
        free.execute((tenant, workspace, key, RunId::WORK.to_string())).of(LEDGER)?;
    }
    Ok(keys.len() == FORGET)
}

/// What is remembered of a stream that was taken away.
pub(super) fn gone(conn: &Connection, stream: &Stream) -> Result<Option<Gone>> {
    let there: i64 = conn.query_row(include_str!("sql/ledger_has_gone.sql"), (), |row| row.get(0)).of(LEDGER)?;
    if there == 0 {
        return Ok(None);
    }
    let mut statement = conn.prepare_cached(include_str!("sql/ledger_gone.sql")).of(LEDGER)?;
    let name = (stream.run.to_string(), stream.tenant.as_str(), stream.workspace.as_str());
    let found = statement
        .query_row(name, |row| {
            let time = |column| row.get::<_, i64>(column).map(|ms| Time(ms as u64));
            let (seq, state) = (row.get::<_, i64>(0)? as u64, row.get::<_, u8>(1)?);
            Ok((seq, state, time(2)?, time(3)?, row.get(4)?, time(5)?))
        })
        .optional()
        .of(LEDGER)?;
    let Some((seq, state, ended_at, removed_at, key, until)) = found else { return Ok(None) };
    let state = RunState::from_byte(state).ok_or_else(|| damaged(LEDGER, format!("{state} is no state of a run")))?;
    Ok(Some(Gone { stream: stream.clone(), seq, state, ended_at, removed_at, key, until }))
}

/// How many positions have no record that can be read.
pub(super) fn holes(conn: &Connection) -> Result<u64> {
    conn.query_row(include_str!("sql/ledger_holes.sql"), (), |row| row.get::<_, i64>(0)).of(LEDGER).map(|n| n as u64)
}
