//! Copying a ledger, also while somebody writes to it: page by page, as it was at one moment.

use super::LEDGER;
use super::error::{Explain, damaged, from_io};
use super::file::{self, Found};
use super::ledger::FORMAT;
use edgewise_core::{Error, Result};
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};
use std::fs;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

/// Pages copied between two words about how far it is: 8 MB.
const STEP: i32 = 2_000;
/// Between two tries at a file that is busy.
const MOMENT: Duration = Duration::from_millis(20);

/// Copies the ledger of a folder into a file that does not exist yet. Tells how many pages of how many are done.
pub fn copy_ledger(from: &Path, to: &Path, tell: &mut dyn FnMut(u64, u64)) -> Result<()> {
    let name = || format!("the copy {}", to.display());
    let source = file::connect_reader(from, LEDGER)?;
    if file::examine(&source, LEDGER, FORMAT)? != Found::Ours {
        let message = format!("{LEDGER} in {} is not an Edgewise ledger: check the folder", from.display());
        return Err(Error::invalid("not_a_ledger", message));
    }
    // A look that stays open: what is committed meanwhile is not seen, so nothing is ever copied twice or in half.
    source.execute_batch("BEGIN").of(LEDGER)?;
    source.query_row(include_str!("sql/ledger_tail.sql"), (), |_| Ok(())).of(LEDGER)?;
    let made = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(to);
    made.map_err(|error| from_io(&name(), error))?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut target = Connection::open_with_flags(to, flags).of(LEDGER)?;
    copy(&source, &mut target, tell)?;
    // One file that needs no other beside it: whoever opens it for writing turns the log on again.
    target.query_row("PRAGMA journal_mode = DELETE", (), |_| Ok(())).of(LEDGER)?;
    target.close().map_err(|(_, error)| error).of(LEDGER)?;
    fs::File::open(to).and_then(|file| file.sync_all()).map_err(|error| from_io(&name(), error))
}

fn copy(source: &Connection, target: &mut Connection, tell: &mut dyn FnMut(u64, u64)) -> Result<()> {
    let backup = Backup::new(source, target).of(LEDGER)?;
    loop {
        let step = backup.step(STEP).of(LEDGER)?;
        let progress = backup.progress();
        let pages = |n: i32| u64::try_from(n).unwrap_or(0);
        tell(pages(progress.pagecount - progress.remaining), pages(progress.pagecount));
        match step {
            StepResult::Done => return Ok(()),
            StepResult::More => {}
            _ => std::thread::sleep(MOMENT),
        }
    }
}

/// Asks SQLite whether the file of a ledger is whole.
pub fn check_file(dir: &Path) -> Result<()> {
    let conn = file::connect_reader(dir, LEDGER)?;
    let said: String = conn.query_row("PRAGMA quick_check(1)", (), |row| row.get(0)).of(LEDGER)?;
    if said == "ok" { Ok(()) } else { Err(damaged(LEDGER, said)) }
}
