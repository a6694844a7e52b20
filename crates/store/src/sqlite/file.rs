//! Opening a file: nothing in it is changed before it is known to be ours and of a format we write.

use super::error::{At, Explain, explain, from_io};
use super::transaction::{Then, write};
use edgewise_core::{Error, Result};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

/// Statements a connection keeps prepared: all of ours.
const STATEMENTS: usize = 64;

/// How long to wait for another process that holds the write lock.
const BUSY: Duration = Duration::from_secs(5);

/// Between two looks at a file that another process is just making.
const MOMENT: Duration = Duration::from_millis(5);

/// What is in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// Nothing yet.
    Empty,
    /// Tables that are not ours.
    Foreign,
    /// Ours, in the format we write.
    Ours,
    /// Ours, in a format before that.
    Older,
}

/// Makes the folder, and makes sure that it outlives a power cut: what is in it is promised to be durable.
pub(super) fn make_folder(dir: &Path) -> Result<()> {
    let name = || format!("the folder {}", dir.display());
    if dir.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(dir).map_err(|error| from_io(&name(), error))?;
    let parent = dir.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::File::open(parent).and_then(|folder| folder.sync_all()).map_err(|error| from_io(&name(), error))
}

/// Connects for writing. Only SQLite may open the file: closing any other handle on it would take away
/// the locks that another connection of this process holds, and with them the safety of the file.
pub(super) fn connect(dir: &Path, file: &'static str) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = match Connection::open_with_flags(dir.join(file), flags) {
        Ok(conn) => conn,
        Err(error) => return Err(refused(dir, file).unwrap_or_else(|| explain(file, At::Work, error))),
    };
    if conn.is_readonly(rusqlite::MAIN_DB).of(file)? {
        return Err(from_io(&format!("{file} in {}", dir.display()), ErrorKind::PermissionDenied.into()));
    }
    conn.busy_timeout(BUSY).of(file)?;
    // Until we know what it is, closing it must not move its write-ahead log into it.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).of(file)?;
    Ok(conn)
}

/// What the operating system has against a new file in the folder: it says so more clearly than SQLite.
fn refused(dir: &Path, file: &'static str) -> Option<Error> {
    let probe = dir.join(format!("{file}.probe"));
    match fs::File::create_new(&probe) {
        Ok(_) => {
            // Should it stay behind, it is an empty file that nobody reads.
            let _ = fs::remove_file(&probe);
            None
        }
        Err(error) => Some(from_io(&format!("{file} in {}", dir.display()), error)),
    }
}

/// Connects for looking only.
pub(super) fn connect_reader(dir: &Path, file: &'static str) -> Result<Connection> {
    let path = dir.join(file);
    if !path.is_file() {
        let message = format!("there is no {file} in {}: nothing was run there yet; check the folder", dir.display());
        return Err(Error::not_found("store_not_found", message));
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(&path, flags).of(file)?;
    conn.busy_timeout(BUSY).of(file)?;
    Ok(conn)
}

/// Looks what is in a file; a format newer than ours is an error.
pub(super) fn examine(conn: &Connection, file: &'static str, format: i32) -> Result<Found> {
    let (found, tables): (i32, i64) =
        conn.query_row(include_str!("sql/examine.sql"), (), |row| Ok((row.get(0)?, row.get(1)?))).of(file)?;
    if found > format {
        return Err(Error::invalid(
            "newer_format",
            format!(
                "{file} has format {found}, this program knows formats up to {format}: \
                 use the newer program that wrote it. Nothing was changed"
            ),
        ));
    }
    Ok(match found {
        0 if tables == 0 => Found::Empty,
        0 => Found::Foreign,
        _ if found == format => Found::Ours,
        _ => Found::Older,
    })
}

/// How a file of ours is to be used, once it is known to be ours.
pub(super) fn settle(conn: &Connection, file: &'static str, pragmas: &[(&str, &str)]) -> Result<()> {
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false).of(file)?;
    let mode = log_mode(conn, file)?;
    if mode != "wal" {
        let message = format!(
            "{file}: the file system does not support a write-ahead log (mode `{mode}`): use a folder on a local disk"
        );
        return Err(Error::unavailable("no_wal", message));
    }
    conn.set_prepared_statement_cache_capacity(STATEMENTS);
    for (name, value) in pragmas {
        conn.pragma_update(None, name, value).of(file)?;
    }
    Ok(())
}

/// Turns the write-ahead log on. While another process does the same SQLite answers "busy" without waiting.
fn log_mode(conn: &Connection, file: &'static str) -> Result<String> {
    let mut left = BUSY;
    loop {
        match conn.query_row("PRAGMA journal_mode = WAL", (), |row| row.get(0)).of(file) {
            Err(error) if error.code == "store_busy" && !left.is_zero() => {
                std::thread::sleep(MOMENT);
                left = left.saturating_sub(MOMENT);
            }
            answer => return answer,
        }
    }
}

/// Makes the tables of an empty file, all or none; another process may be doing the same right now.
pub(super) fn make(
    conn: &Connection,
    file: &'static str,
    format: i32,
    fill: impl FnOnce(&Connection) -> rusqlite::Result<()>,
) -> Result<()> {
    write(conn, file, |conn| {
        if examine(conn, file, format)? != Found::Empty {
            return Ok(Then::Rollback(()));
        }
        fill(conn).of(file)?;
        conn.pragma_update(None, "user_version", format).of(file)?;
        Ok(Then::Commit(()))
    })
}
