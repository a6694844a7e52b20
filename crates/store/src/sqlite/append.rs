//! What happens inside the transaction of an append.

use super::LEDGER;
use super::error::{Explain, damaged};
use super::heads::{Heads, Known, mark};
use super::statements::Statements;
use super::transaction::Then;
use crate::ledger::{Append, Appended, KeyClaim, KeyOwner, Marking, Position};
use edgewise_core::Result;
use edgewise_core::id::RunId;
use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension, params};

/// Bytes that are stored as text, as they are.
struct Text<'a>(&'a [u8]);

impl ToSql for Text<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Text(self.0)))
    }
}

/// Guards and keys under the write lock, then everything that is to be written.
pub(super) fn write_batch(
    conn: &Connection,
    heads: &mut Heads,
    batch: &Append,
) -> Result<Then<(Appended, Vec<Known>)>> {
    let statements = &mut Statements::new(conn, LEDGER);
    heads.refresh(statements)?;
    for guard in &batch.guards {
        if heads.get(statements, &guard.stream)?.seq != guard.seq {
            return Ok(Then::Rollback((Appended::Conflict(guard.stream.clone()), Vec::new())));
        }
    }
    if batch.after.is_some()
        && let Some(stream) = batch.too_late(Position(tail(conn)? as u64))
    {
        return Ok(Then::Rollback((Appended::Conflict(stream), Vec::new())));
    }
    if let Some(refused) = frozen(statements, heads, batch)? {
        return Ok(Then::Rollback((refused, Vec::new())));
    }
    for claim in &batch.keys {
        if let Some(owner) = owner(statements, claim)? {
            return Ok(Then::Rollback((Appended::KeyTaken(owner), Vec::new())));
        }
    }
    write_keys_and_plans(statements, batch)?;
    let mut written = write_records(statements, heads, batch)?;
    // Before the marks: they are no rows of the records, whose last number this is.
    let position = if written.is_empty() { tail(conn)? } else { conn.last_insert_rowid() };
    write_marks(statements, batch, &mut written)?;
    Ok(Then::Commit((Appended::Done(Position(position as u64)), written)))
}

fn write_keys_and_plans(statements: &mut Statements<'_>, batch: &Append) -> Result<()> {
    for claim in &batch.keys {
        let statement = statements.get(include_str!("sql/ledger_add_key.sql"))?;
        let (stream, at) = (&claim.stream, batch.at.0 as i64);
        let run = stream.run.to_string();
        statement
            .execute(params![&*stream.tenant, &*stream.workspace, claim.key, run, claim.body as i64, at])
            .of(LEDGER)?;
    }
    for (hash, bytes) in &batch.plans {
        let statement = statements.get(include_str!("sql/ledger_add_plan.sql"))?;
        statement.execute(params![hash.to_string(), Text(bytes)]).of(LEDGER)?;
    }
    Ok(())
}

/// Gives, for each record, what is to be remembered of its stream once this is committed.
fn write_records(statements: &mut Statements<'_>, heads: &mut Heads, batch: &Append) -> Result<Vec<Known>> {
    let mut written = Vec::with_capacity(batch.records.len());
    for (stream, record, last) in &batch.records {
        let known = heads.get(statements, stream)?;
        let id = match known.id {
            Some(id) => id,
            None => {
                let name = (stream.run.to_string(), stream.tenant.as_str(), stream.workspace.as_str());
                statements.get(include_str!("sql/ledger_add_stream.sql"))?.execute(name).of(LEDGER)?;
                statements.conn.last_insert_rowid()
            }
        };
        let (first, bytes, checksum) = (record.first as i64, Text(&record.bytes), record.checksum as i64);
        let add = statements.get(include_str!("sql/ledger_add_record.sql"))?;
        add.execute(params![id, first, record.count, last.to_string(), bytes, checksum]).of(LEDGER)?;
        written.push(Known { id: Some(id), seq: record.last(), frozen: known.frozen });
    }
    Ok(written)
}

/// Sets and takes marks away; what is to be remembered of their streams knows of it.
fn write_marks(statements: &mut Statements<'_>, batch: &Append, written: &mut [Known]) -> Result<()> {
    for Marking { stream, now, .. } in &batch.marks {
        let name = (stream.run.to_string(), stream.tenant.as_str(), stream.workspace.as_str(), now.as_deref());
        statements.get(include_str!("sql/ledger_freeze.sql"))?.execute(name).of(LEDGER)?;
        let place = batch.records.iter().position(|(written, ..)| written == stream);
        if let Some(known) = place.and_then(|at| written.get_mut(at)) {
            known.frozen = now.is_some();
        }
    }
    Ok(())
}

/// The position of the last record.
pub(super) fn tail(conn: &Connection) -> Result<i64> {
    let mut statement = conn.prepare_cached(include_str!("sql/ledger_tail.sql")).of(LEDGER)?;
    statement.query_row((), |row| row.get(0)).of(LEDGER)
}

/// What is wrong about the marks of the streams of a batch, if something is.
fn frozen(statements: &mut Statements<'_>, heads: &mut Heads, batch: &Append) -> Result<Option<Appended>> {
    for (stream, ..) in &batch.records {
        let marked = heads.get(statements, stream)?.frozen;
        let reason = if marked { mark(statements, stream)? } else { None };
        if let Some(refused) = batch.refused_by(stream, reason.as_deref()) {
            return Ok(Some(refused));
        }
    }
    Ok(None)
}

/// Who used up a key.
pub(super) fn owner(statements: &mut Statements<'_>, claim: &KeyClaim) -> Result<Option<KeyOwner>> {
    let statement = statements.get(include_str!("sql/ledger_key.sql"))?;
    let found = statement
        .query_row((&*claim.stream.tenant, &*claim.stream.workspace, &claim.key), |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?))
        })
        .optional()
        .of(LEDGER)?;
    let Some((run, body)) = found else { return Ok(None) };
    let run = RunId::parse(&run).map_err(|e| damaged(LEDGER, format!("the owner of key {:?}: {e}", claim.key)))?;
    Ok(Some(KeyOwner { run, body: body as u64 }))
}
