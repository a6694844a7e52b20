//! What the ledger remembers of streams, so that an append need not look every one of them up.
//!
//! It is right only while nobody else commits to the file. SQLite's data version tells: it is read inside
//! the transaction, under the write lock, and when it has moved everything is forgotten.

use super::LEDGER;
use super::error::{Explain, damaged};
use super::statements::Statements;
use crate::ledger::{Head, Stream};
use crate::quick::QuickMap;
use edgewise_core::Result;
use edgewise_core::id::EventId;
use rusqlite::OptionalExtension;

/// Streams remembered at most; about 100 bytes each.
const REMEMBERED: usize = 65_536;

/// A stream's number, if it has one, its last seq, and whether it is frozen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Known {
    pub id: Option<i64>,
    pub seq: u64,
    pub frozen: bool,
}

/// Remembered streams, as of one data version.
#[derive(Debug, Default)]
pub(super) struct Heads {
    version: i64,
    known: QuickMap<Stream, Known>,
}

impl Heads {
    /// Forgets everything if somebody else has committed. Call it first in a transaction.
    pub fn refresh(&mut self, statements: &mut Statements<'_>) -> Result<()> {
        let statement = statements.get(include_str!("sql/data_version.sql"))?;
        let version = statement.query_row((), |row| row.get(0)).of(LEDGER)?;
        if version != self.version {
            self.known.clear();
            self.version = version;
        }
        Ok(())
    }

    /// Where a stream ends, remembered or read.
    pub fn get(&mut self, statements: &mut Statements<'_>, stream: &Stream) -> Result<Known> {
        if let Some(known) = self.known.get(stream) {
            return Ok(*known);
        }
        let found = read(statements, stream)?;
        // Of a stream that is not there nothing is marked.
        let frozen = found.is_some() && mark(statements, stream)?.is_some();
        let known = found.map(|(id, head)| Known { id: Some(id), seq: head.seq, frozen }).unwrap_or_default();
        self.set(stream, known);
        Ok(known)
    }

    /// Remembers where a stream ends now. Only what is committed may be told here.
    pub fn set(&mut self, stream: &Stream, known: Known) {
        if let Some(there) = self.known.get_mut(stream) {
            *there = known;
            return;
        }
        if self.known.len() >= REMEMBERED {
            self.known.clear();
        }
        self.known.insert(stream.clone(), known);
    }

    /// Forgets everything: after a failure nobody knows what is there.
    pub fn forget(&mut self) {
        self.known.clear();
    }
}

/// Why a stream is frozen, if it is.
pub(super) fn mark(statements: &mut Statements<'_>, stream: &Stream) -> Result<Option<String>> {
    let name = (stream.run.to_string(), stream.tenant.as_str(), stream.workspace.as_str());
    let statement = statements.get(include_str!("sql/ledger_mark.sql"))?;
    Ok(statement.query_row(name, |row| row.get(0)).optional().of(LEDGER)?.flatten())
}

/// A stream's number and head, as they are in the file; `None` if there is no such stream.
pub(super) fn read(statements: &mut Statements<'_>, stream: &Stream) -> Result<Option<(i64, Head)>> {
    let statement = statements.get(include_str!("sql/ledger_head.sql"))?;
    let row = statement
        .query_row((stream.run.to_string(), stream.tenant.as_str(), stream.workspace.as_str()), |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, Option<i64>>(1)?, row.get::<_, Option<String>>(2)?))
        })
        .optional()
        .of(LEDGER)?;
    let Some((id, seq, last)) = row else { return Ok(None) };
    let head = match (seq, last) {
        (Some(seq), Some(last)) => Head {
            seq: seq as u64,
            last: EventId::parse(&last).map_err(|e| damaged(LEDGER, format!("the head of {}: {e}", stream.label())))?,
        },
        _ => Head::default(),
    };
    Ok(Some((id, head)))
}
