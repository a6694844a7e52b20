//! Opening `state.db`: whatever does not fit the ledger is made anew, because it can be.

use super::error::{Explain, from_io};
use super::file::{self, Found};
use super::ledger::SqliteLedger;
use super::projections::SqliteProjections;
use super::{LEDGER, STATE};
use edgewise_core::{Error, Kind, Result};
use rusqlite::Connection;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// The format this program writes, in the file's `user_version`. An older one is made anew.
pub(super) const FORMAT: i32 = 8;

const MAKE: [&str; 39] = [
    include_str!("sql/state_make_meta.sql"),
    include_str!("sql/state_make_runs.sql"),
    include_str!("sql/state_make_runs_by_time.sql"),
    include_str!("sql/state_make_runs_by_kind.sql"),
    include_str!("sql/state_make_runs_by_person.sql"),
    include_str!("sql/state_make_runs_by_key.sql"),
    include_str!("sql/state_make_runs_paused.sql"),
    include_str!("sql/state_make_labels.sql"),
    include_str!("sql/state_make_tasks.sql"),
    include_str!("sql/state_make_given.sql"),
    include_str!("sql/state_make_timers.sql"),
    include_str!("sql/state_make_outbox.sql"),
    include_str!("sql/state_make_leases.sql"),
    include_str!("sql/state_make_control_heads.sql"),
    include_str!("sql/state_make_control_rows.sql"),
    include_str!("sql/state_make_work_heads.sql"),
    include_str!("sql/state_make_work_items.sql"),
    include_str!("sql/state_make_work_items_ready.sql"),
    include_str!("sql/state_make_work_items_tasks.sql"),
    include_str!("sql/state_make_work_items_blocked.sql"),
    include_str!("sql/state_make_work_dependencies.sql"),
    include_str!("sql/state_make_work_dependencies_by_target.sql"),
    include_str!("sql/state_make_work_gates.sql"),
    include_str!("sql/state_make_work_runs.sql"),
    include_str!("sql/state_make_work_notes.sql"),
    include_str!("sql/state_make_work_notes_by_item.sql"),
    include_str!("sql/state_make_plans.sql"),
    include_str!("sql/state_make_nodes.sql"),
    include_str!("sql/state_make_task_words.sql"),
    include_str!("sql/state_make_task_words_rows.sql"),
    include_str!("sql/state_make_run_words.sql"),
    include_str!("sql/state_make_run_words_rows.sql"),
    include_str!("sql/state_view_task_facts.sql"),
    include_str!("sql/state_view_runs.sql"),
    include_str!("sql/state_view_tasks.sql"),
    include_str!("sql/state_view_dep_satisfaction.sql"),
    include_str!("sql/state_view_timers.sql"),
    include_str!("sql/state_view_dispatch_outbox.sql"),
    include_str!("sql/state_view_leases.sql"),
];

/// Without a sync at each commit a power cut costs the last rows, which the ledger gives back, and never
/// the file: SQLite still syncs when it moves the write-ahead log.
const PRAGMAS: [(&str, &str); 4] =
    [("synchronous", "NORMAL"), ("cache_size", "-8000"), ("mmap_size", "0"), ("wal_autocheckpoint", "2000")];

/// Opens the rows of a ledger, or makes them anew.
pub(super) fn open(dir: &Path, ledger: &SqliteLedger) -> Result<SqliteProjections> {
    let conn = file::connect(dir, STATE)?;
    let why = match misfit(&conn, ledger) {
        Ok(None) => {
            settle(&conn, ledger)?;
            return Ok(SqliteProjections::new(conn, None));
        }
        Ok(Some(why)) => why,
        Err(error) if error.kind == Kind::Corrupt => error.to_string(),
        Err(error) => return Err(error),
    };
    drop(conn);
    remove(dir)?;
    let conn = file::connect(dir, STATE)?;
    settle(&conn, ledger)?;
    Ok(SqliteProjections::new(conn, Some(why)))
}

/// Opens the rows of a ledger for looking only.
pub(super) fn open_reader(dir: &Path, ledger: &SqliteLedger) -> Result<SqliteProjections> {
    let conn = file::connect_reader(dir, STATE)?;
    let found = file::examine(&conn, STATE, FORMAT)?;
    let why = if found == Found::Empty { Some("it is empty".into()) } else { misfit(&conn, ledger)? };
    match why {
        None => Ok(SqliteProjections::new(conn, None)),
        Some(why) => {
            let message = format!("{STATE} cannot be shown: {why}. Start Edgewise in this folder: it is made anew");
            Err(Error::unavailable("projections_outdated", message))
        }
    }
}

/// Why the rows there are not those of this ledger; `None` if they are, or if there are none yet.
fn misfit(conn: &Connection, ledger: &SqliteLedger) -> Result<Option<String>> {
    match file::examine(conn, STATE, FORMAT)? {
        Found::Empty => return Ok(None),
        Found::Foreign => return Ok(Some("it was not written by Edgewise".into())),
        Found::Older => return Ok(Some("it has an older format".into())),
        Found::Ours => {}
    }
    let (id, watermark): (String, i64) =
        conn.query_row(include_str!("sql/state_meta.sql"), (), |row| Ok((row.get(0)?, row.get(1)?))).of(STATE)?;
    if id != ledger.id() {
        return Ok(Some(format!("it belongs to another ledger, {id}")));
    }
    let tail = super::append::tail(&ledger.conn)?;
    if watermark > tail {
        return Ok(Some(format!("it is at position {watermark} and the ledger ends at {tail}")));
    }
    Ok(None)
}

fn settle(conn: &Connection, ledger: &SqliteLedger) -> Result<()> {
    file::settle(conn, STATE, &PRAGMAS)?;
    file::make(conn, STATE, FORMAT, |conn| {
        MAKE.iter().try_for_each(|sql| conn.execute_batch(sql))?;
        conn.execute(include_str!("sql/state_make_meta_row.sql"), [ledger.id()]).map(drop)
    })
}

/// The log goes first: left alone beside a new file it would be taken for that file's log.
pub(super) fn remove(dir: &Path) -> Result<()> {
    ["-wal", "-shm", ""]
        .iter()
        .try_for_each(|suffix| unless_missing(fs::remove_file(dir.join(format!("{STATE}{suffix}")))))
}

/// Where rows are kept that are being made anew.
const ASIDE: &str = "state.db.old";

/// Renames the file and its log together, so that they still belong to each other.
pub(super) fn put_aside(dir: &Path) -> Result<()> {
    forget_aside(dir)?;
    for suffix in ["-shm", "-wal", ""] {
        let (from, to) = (dir.join(format!("{STATE}{suffix}")), dir.join(format!("{ASIDE}{suffix}")));
        unless_missing(fs::rename(from, to))?;
    }
    Ok(())
}

pub(super) fn forget_aside(dir: &Path) -> Result<()> {
    ["-wal", "-shm", ""]
        .iter()
        .try_for_each(|suffix| unless_missing(fs::remove_file(dir.join(format!("{ASIDE}{suffix}")))))
}

fn unless_missing(result: std::io::Result<()>) -> Result<()> {
    match result {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(from_io(STATE, error)),
        _ => Ok(()),
    }
}

/// Refuses to begin anew where a ledger was: SQLite takes a missing or empty file for a new one and would
/// even delete the log beside it.
pub(super) fn refuse_lost_ledger(dir: &Path) -> Result<()> {
    // SQLite takes a file of one byte for an empty one, too.
    let is_empty = |name: &str| fs::metadata(dir.join(name)).map_or(0, |found| found.len()) <= 1;
    if !is_empty(LEDGER) {
        return Ok(());
    }
    let left = if !is_empty(&format!("{LEDGER}-wal")) {
        format!("{LEDGER}-wal")
    } else if watermark(dir) > 0 {
        STATE.to_owned()
    } else {
        return Ok(());
    };
    let message = format!(
        "{LEDGER} is missing or empty, but {left} shows that a ledger was here: restore {LEDGER} from a backup, \
         or begin anew by deleting {left} too. Nothing was changed"
    );
    Err(Error::corrupt("ledger_lost", message))
}

/// The position up to which some ledger was applied to the rows there; 0 if nobody can tell.
fn watermark(dir: &Path) -> i64 {
    let read = || -> Result<i64> {
        let conn = file::connect_reader(dir, STATE)?;
        conn.query_row(include_str!("sql/state_meta.sql"), (), |row| row.get(1)).of(STATE)
    };
    read().unwrap_or(0)
}
