//! The ledger in `ledger.db`.
//!
//! A commit is one write to the end of the write-ahead log and one sync. The log is moved into the file
//! here, after a commit, each time it has grown by [`CHECKPOINT_PAGES`]: passively, so it never waits for
//! a reader, and without truncating, because growing a file again makes every sync slower.

use super::LEDGER;
use super::append::{owner, tail, write_batch};
use super::domain;
use super::error::{Explain, damaged};
use super::file::{self, Found};
use super::heads::{self, Heads};
use super::remove;
use super::statements::Statements;
use super::transaction::{Then, write};
use crate::ledger::{
    Append, Appended, Gone, Head, KeyClaim, KeyOwner, Ledger, Position, Removal, Removed, Stored, Stream,
};
use edgewise_core::event::Record;
use edgewise_core::id::{PlanHash, RunId};
use edgewise_core::name::Name;
use edgewise_core::{Error, Result};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row, params};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// The format this program writes, in the file's `user_version`.
pub(super) const FORMAT: i32 = 1;

/// How far the write-ahead log grows before it is moved into the file: 8 MB.
pub(super) const CHECKPOINT_PAGES: u32 = 2_000;

const MAKE: [&str; 7] = [
    include_str!("sql/ledger_make_meta.sql"),
    include_str!("sql/ledger_make_id.sql"),
    include_str!("sql/ledger_make_streams.sql"),
    include_str!("sql/ledger_make_records.sql"),
    include_str!("sql/ledger_make_records_by_stream.sql"),
    include_str!("sql/ledger_make_keys.sql"),
    include_str!("sql/ledger_make_plans.sql"),
];

/// Tables and indexes that a ledger of the same format may not have yet.
const ADD: [&str; 3] = [
    include_str!("sql/ledger_make_gone.sql"),
    include_str!("sql/ledger_make_gone_by_until.sql"),
    include_str!("sql/ledger_make_work_keys_by_use.sql"),
];

/// A larger page cache makes every commit slower: SQLite walks all of it.
const PRAGMAS: [(&str, &str); 4] =
    [("synchronous", "FULL"), ("cache_size", "-2000"), ("mmap_size", "0"), ("wal_autocheckpoint", "0")];

/// The ledger of a folder.
#[derive(Debug)]
pub struct SqliteLedger {
    pub(super) conn: Connection,
    id: String,
    heads: Heads,
    /// Pages in the write-ahead log after the last commit, told by SQLite.
    log: Arc<AtomicU32>,
    /// Pages in it when it was last moved into the file.
    moved: u32,
    /// A sync failed: what is on the disk is unknown, and no later sync can be believed.
    broken: bool,
}

impl SqliteLedger {
    pub(super) fn open(dir: &Path) -> Result<Self> {
        let mut conn = file::connect(dir, LEDGER)?;
        match file::examine(&conn, LEDGER, FORMAT)? {
            Found::Empty | Found::Ours => {}
            Found::Foreign | Found::Older => return Err(not_a_ledger()),
        }
        file::settle(&conn, LEDGER, &PRAGMAS)?;
        file::make(&conn, LEDGER, FORMAT, |conn| MAKE.iter().try_for_each(|sql| conn.execute_batch(sql)))?;
        add(&conn)?;
        domain::make(&conn)?;
        let log = Arc::new(AtomicU32::new(0));
        let told = Arc::clone(&log);
        conn.wal_hook(Some(move |_: &mut _, pages: i32| {
            told.store(pages.unsigned_abs(), Ordering::Relaxed);
            Ok(())
        }))
        .of(LEDGER)?;
        Self::new(conn, log)
    }

    pub(super) fn open_reader(dir: &Path) -> Result<Self> {
        let conn = file::connect_reader(dir, LEDGER)?;
        if file::examine(&conn, LEDGER, FORMAT)? != Found::Ours {
            return Err(not_a_ledger());
        }
        Self::new(conn, Arc::default())
    }

    fn new(conn: Connection, log: Arc<AtomicU32>) -> Result<Self> {
        let id = conn.query_row(include_str!("sql/ledger_id.sql"), (), |row| row.get(0)).of(LEDGER)?;
        Ok(Self { conn, id, heads: Heads::default(), log, moved: 0, broken: false })
    }

    /// The id that projections of this ledger name.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// After a failed sync the next one may report success for pages that were dropped: nothing is written any more.
    pub(super) fn usable(&self) -> Result<()> {
        if !self.broken {
            return Ok(());
        }
        let message = format!(
            "{LEDGER}: the disk did not confirm an earlier write. This process must end; check the disk, then start again"
        );
        Err(Error::unavailable("sync_failed", message))
    }

    /// What a failed write leaves behind: nothing that was remembered can be relied on.
    pub(super) fn failed(&mut self, error: Error) -> Error {
        self.heads.forget();
        self.broken |= error.code == "sync_failed";
        error
    }

    /// Moves the write-ahead log into the file when it has grown enough. The commit before it is durable
    /// either way, so this cannot fail it; but after a failed sync nothing may be written any more.
    fn checkpoint(&mut self) {
        let pages = self.log.load(Ordering::Relaxed);
        if pages < self.moved {
            // Everything in the log was moved, and it began again from its start.
            self.moved = 0;
        }
        if pages - self.moved < CHECKPOINT_PAGES {
            return;
        }
        self.moved = pages;
        let result = self.conn.query_row("PRAGMA wal_checkpoint(PASSIVE)", (), |_| Ok(())).of(LEDGER);
        self.broken |= result.is_err_and(|error| error.code == "sync_failed");
    }
}

/// Adds what a ledger of an earlier day does not have; one that has it is not written to.
fn add(conn: &Connection) -> Result<()> {
    let whole: bool = conn.query_row(include_str!("sql/ledger_is_whole.sql"), (), |row| row.get(0)).of(LEDGER)?;
    if whole {
        return Ok(());
    }
    write(conn, LEDGER, |conn| ADD.iter().try_for_each(|sql| conn.execute_batch(sql)).of(LEDGER).map(Then::Commit))
}

fn not_a_ledger() -> Error {
    let message =
        format!("{LEDGER} is not an Edgewise ledger of format {FORMAT}: nothing was changed; choose another folder");
    Error::invalid("not_a_ledger", message)
}

/// Never fails: a value that is not what was written comes out as something whose checksum cannot fit.
fn record(row: &Row<'_>) -> rusqlite::Result<(Position, Record)> {
    let number = |column| match row.get_ref(column) {
        Ok(ValueRef::Integer(n)) => Ok(n),
        Ok(_) => Ok(0),
        Err(error) => Err(error),
    };
    let bytes = match row.get_ref(3)? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.to_vec(),
        _ => Vec::new(),
    };
    let record = Record { first: number(1)? as u64, count: number(2)? as u32, bytes, checksum: number(4)? as u64 };
    Ok((Position(number(0)? as u64), record))
}

/// A stream's name from three columns, of which the first is the run.
pub(super) fn stream(file: &'static str, row: &Row<'_>, from: usize) -> Result<Stream> {
    let text = |column| row.get::<_, Option<String>>(column).of(file).map(Option::unwrap_or_default);
    let bad = |e: Error| damaged(file, format!("the name of a stream: {e}"));
    Ok(Stream {
        run: RunId::parse(&text(from)?).map_err(bad)?,
        tenant: Name::parse(&text(from + 1)?).map_err(bad)?,
        workspace: Name::parse(&text(from + 2)?).map_err(bad)?,
    })
}

fn count(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

impl Ledger for SqliteLedger {
    fn append(&mut self, batch: &Append) -> Result<Appended> {
        batch.check()?;
        self.usable()?;
        let Self { conn, heads, .. } = self;
        let done = write(conn, LEDGER, |conn| write_batch(conn, heads, batch));
        match done {
            Ok((appended, written)) => {
                for ((stream, ..), known) in batch.records.iter().zip(written) {
                    self.heads.set(stream, known);
                }
                self.checkpoint();
                Ok(appended)
            }
            Err(error) => Err(self.failed(error)),
        }
    }

    fn head(&mut self, stream: &Stream) -> Result<Head> {
        Ok(heads::read(&mut Statements::new(&self.conn, LEDGER), stream)?.map(|(_, head)| head).unwrap_or_default())
    }

    fn read(&mut self, stream: &Stream, after: u64, limit: usize) -> Result<Vec<Stored>> {
        let mut statement = self.conn.prepare_cached(include_str!("sql/ledger_read.sql")).of(LEDGER)?;
        let after = i64::try_from(after).unwrap_or(i64::MAX);
        let mut rows = statement
            .query(params![stream.run.to_string(), &*stream.tenant, &*stream.workspace, after, count(limit)])
            .of(LEDGER)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next().of(LEDGER)? {
            let (position, record) = record(row).of(LEDGER)?;
            found.push(Stored { position, stream: stream.clone(), record });
        }
        Ok(found)
    }

    fn read_all(&mut self, after: Position, limit: usize) -> Result<Vec<Stored>> {
        let mut statement = self.conn.prepare_cached(include_str!("sql/ledger_read_all.sql")).of(LEDGER)?;
        let after = i64::try_from(after.0).unwrap_or(i64::MAX);
        let mut rows = statement.query((after, count(limit))).of(LEDGER)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next().of(LEDGER)? {
            let (position, record) = record(row).of(LEDGER)?;
            found.push(Stored { position, stream: stream(LEDGER, row, 5)?, record });
        }
        Ok(found)
    }

    fn tail(&mut self) -> Result<Position> {
        Ok(Position(tail(&self.conn)? as u64))
    }

    fn plan(&mut self, hash: PlanHash) -> Result<Option<Vec<u8>>> {
        let mut statement = self.conn.prepare_cached(include_str!("sql/ledger_plan.sql")).of(LEDGER)?;
        statement.query_row((hash.to_string(),), |row| Ok(row.get_ref(0)?.as_bytes()?.to_vec())).optional().of(LEDGER)
    }

    fn key(&mut self, claim: &KeyClaim) -> Result<Option<KeyOwner>> {
        owner(&mut Statements::new(&self.conn, LEDGER), claim)
    }

    fn freeze(&mut self, stream: &Stream, reason: Option<&str>) -> Result<()> {
        self.usable()?;
        // What is remembered of a stream says whether it is marked.
        self.heads.forget();
        let marked = write(&self.conn, LEDGER, |conn| {
            let mut statement = conn.prepare_cached(include_str!("sql/ledger_freeze.sql")).of(LEDGER)?;
            let name = (stream.run.to_string(), stream.tenant.as_str(), stream.workspace.as_str(), reason);
            Ok(Then::Commit(statement.execute(name).of(LEDGER)?))
        });
        match marked {
            Ok(0) => Err(stream.missing()),
            Ok(_) => Ok(()),
            Err(error) => Err(self.failed(error)),
        }
    }

    fn mark(&mut self, stream: &Stream) -> Result<Option<String>> {
        heads::mark(&mut Statements::new(&self.conn, LEDGER), stream)
    }

    fn frozen(&mut self) -> Result<Vec<(Stream, String)>> {
        let mut statement = self.conn.prepare_cached(include_str!("sql/ledger_frozen.sql")).of(LEDGER)?;
        let mut rows = statement.query(()).of(LEDGER)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next().of(LEDGER)? {
            found.push((stream(LEDGER, row, 0)?, row.get(3).of(LEDGER)?));
        }
        Ok(found)
    }

    fn remove(&mut self, removal: &Removal) -> Result<Removed> {
        self.usable()?;
        // Numbers of streams may be given out again once they are free.
        self.heads.forget();
        let done = write(&self.conn, LEDGER, |conn| remove::remove(conn, removal));
        let removed = done.map_err(|error| self.failed(error))?;
        self.checkpoint();
        Ok(removed)
    }

    fn gone(&mut self, stream: &Stream) -> Result<Option<Gone>> {
        remove::gone(&self.conn, stream)
    }

    fn holes(&mut self) -> Result<u64> {
        remove::holes(&self.conn)
    }

    fn find(&mut self, prefix: &str, limit: usize) -> Result<Vec<Stream>> {
        let mut statement = self.conn.prepare_cached(include_str!("sql/ledger_find.sql")).of(LEDGER)?;
        let mut rows = statement.query((prefix.to_ascii_lowercase(), count(limit))).of(LEDGER)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next().of(LEDGER)? {
            found.push(stream(LEDGER, row, 0)?);
        }
        Ok(found)
    }
}
