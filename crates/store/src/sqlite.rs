//! The embedded store: a folder with two SQLite files.
//!
//! ```text
//! ledger.db   ground: records, keys, plans, freeze marks. Synced at every commit. Back this one up.
//! state.db    derived: rows of runs and tasks, views for people. Never synced on the way; may be deleted.
//! ```
//!
//! `state.db` names the ledger it was derived from and the position it was applied to. If it belongs to
//! another ledger, to an older format or to a future that the ledger does not have (a backup was
//! restored), or cannot be read, it is made anew and the engine folds the ledger again.
//!
//! A file of a newer format is refused and left as it is; a damaged ledger likewise. One process writes
//! (whoever holds the folder's lock, which is not our business); any number may look with [`open_reader`].
//! `sqlite3 state.db 'SELECT * FROM tasks'` works at any time.

mod append;
mod backup;
mod control;
mod domain;
mod error;
mod file;
mod flush;
mod heads;
mod ledger;
mod nodes;
mod projections;
mod remove;
mod rows;
mod search;
mod state;
mod statements;
mod transaction;
mod work;

#[cfg(test)]
mod tests;

pub use backup::{check_file, copy_ledger};
pub use ledger::SqliteLedger;
pub use projections::SqliteProjections;

use edgewise_core::Result;
use std::path::Path;

/// The two halves of the embedded store.
pub type Stores = crate::Stores<SqliteLedger, SqliteProjections>;

const LEDGER: &str = "ledger.db";
const STATE: &str = "state.db";

/// Opens the store in a folder for writing; makes what is not there, the folder included.
pub fn open(dir: &Path) -> Result<Stores> {
    file::make_folder(dir)?;
    state::refuse_lost_ledger(dir)?;
    let ledger = SqliteLedger::open(dir)?;
    let projections = state::open(dir, &ledger)?;
    Ok(Stores { ledger, projections })
}

/// Opens the store in a folder for looking only, also while another process writes. Changes nothing;
/// every writing operation answers `Unavailable`, code `read_only`.
pub fn open_reader(dir: &Path) -> Result<Stores> {
    let ledger = SqliteLedger::open_reader(dir)?;
    let projections = state::open_reader(dir, &ledger)?;
    Ok(Stores { ledger, projections })
}

/// Opens only the ledger of a folder for writing, beside whoever has it open: for the queues of domain events.
pub fn open_ledger(dir: &Path) -> Result<SqliteLedger> {
    file::make_folder(dir)?;
    SqliteLedger::open(dir)
}

/// Opens only the ledger of a folder for looking, whatever has become of the rows.
pub fn open_ledger_reader(dir: &Path) -> Result<SqliteLedger> {
    SqliteLedger::open_reader(dir)
}

/// Puts the rows of a folder aside, so that they are made anew. Nobody else may have the folder open for writing.
pub fn put_rows_aside(dir: &Path) -> Result<()> {
    state::put_aside(dir)
}

/// Deletes the rows that were put aside.
pub fn forget_rows_aside(dir: &Path) -> Result<()> {
    state::forget_aside(dir)
}
