//! Write transactions: whatever happens inside, the connection is outside of one afterwards.

use super::error::{At, Explain, explain};
use edgewise_core::Result;
use rusqlite::Connection;

/// How a transaction is to end.
pub(super) enum Then<T> {
    Commit(T),
    Rollback(T),
}

/// Takes the write lock, does the work, and commits or leaves nothing behind.
pub(super) fn write<T>(
    conn: &Connection,
    file: &'static str,
    work: impl FnOnce(&Connection) -> Result<Then<T>>,
) -> Result<T> {
    execute(conn, "BEGIN IMMEDIATE").of(file)?;
    match work(conn) {
        Ok(Then::Commit(value)) => match execute(conn, "COMMIT") {
            Ok(()) => Ok(value),
            Err(error) => {
                roll_back(conn);
                Err(explain(file, At::Commit, error))
            }
        },
        Ok(Then::Rollback(value)) => {
            roll_back(conn);
            Ok(value)
        }
        Err(error) => {
            roll_back(conn);
            Err(error)
        }
    }
}

/// Reads several statements' worth from one snapshot.
pub(super) fn read<T>(conn: &Connection, file: &'static str, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
    execute(conn, "BEGIN").of(file)?;
    let result = work(conn);
    roll_back(conn);
    result
}

/// After some errors (a full disk) SQLite has rolled back by itself; then there is nothing to do.
fn roll_back(conn: &Connection) {
    if !conn.is_autocommit() {
        // A rollback only throws pages away. Should it fail, BEGIN says so at the next transaction.
        let _ = execute(conn, "ROLLBACK");
    }
}

fn execute(conn: &Connection, sql: &str) -> rusqlite::Result<()> {
    conn.prepare_cached(sql)?.execute(()).map(|_| ())
}
