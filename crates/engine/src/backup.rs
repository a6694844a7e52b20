//! Backups: a folder with the ledger as it was at one moment, the logs, and a manifest that says what is in it.
//!
//! ```text
//! TO/backup.json   what is in it, and the checksum of the ledger; written last
//! TO/ledger.db     a copy, made while others write, as of one moment
//! TO/logs/         what commands printed
//! ```
//!
//! A backup is made under another name, checked, and only then called what was asked for: what has the name is whole.
//! Rows are not in it. They are made anew when it is brought back.

mod files;
mod restore;

pub use restore::{refuse_used, restore};

use crate::doctor::count_runs;
use crate::folder::Folder;
use edgewise_core::event::{Event, decode_events};
use edgewise_core::time::Time;
use edgewise_core::{Error, Kind, Result};
use edgewise_store::{Ledger, Position, sqlite};
use files::{checksum, copy_logs, failed, sync_folder};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

const MANIFEST: &str = "backup.json";
const LEDGER: &str = "ledger.db";
const VERSION: u32 = 1;
/// Records read at once.
const PAGE: usize = 1_000;

/// What is in a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// How it is to be read.
    pub version: u32,
    /// When it was made.
    pub made_at: Time,
    /// When the last thing in it happened.
    pub last_at: Time,
    /// Which ledger it is a copy of.
    pub ledger: String,
    /// The ledger's last position.
    pub position: u64,
    /// How many runs there are.
    pub runs: u64,
    /// How many records.
    pub records: u64,
    /// How many events.
    pub events: u64,
    /// How many bytes the ledger has.
    pub bytes: u64,
    /// The BLAKE3 hash of the ledger's file.
    pub checksum: String,
    /// How many logs there are.
    pub logs: u64,
}

/// What is told while it is at work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// So many pages of the ledger of so many are copied.
    Copied(u64, u64),
    /// Records up to a position of so many are checked.
    Checked(u64, u64),
    /// So many runs of so many have their rows.
    Rows(u64, u64),
}

/// Makes a backup of a folder. Nothing stands under the name `to` before it is whole and checked.
pub fn backup(folder: &Folder, to: &Path, logs: bool, now: Time, tell: &mut dyn FnMut(Progress)) -> Result<Manifest> {
    if to.symlink_metadata().is_ok() {
        let message = format!("{} exists: name a folder that does not, so that nothing is lost", to.display());
        return Err(Error::conflict("backup_exists", message));
    }
    let part = beside(to);
    if part.exists() {
        // What an earlier try left: it never got its name.
        fs::remove_dir_all(&part).map_err(|error| failed("deleted", &part, error))?;
    }
    let made = make(folder, &part, logs, now, tell);
    if made.is_err() {
        let _ = fs::remove_dir_all(&part);
    }
    let manifest = made?;
    fs::rename(&part, to).map_err(|error| failed("named", to, error))?;
    sync_folder(to.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new(".")))?;
    Ok(manifest)
}

fn beside(to: &Path) -> PathBuf {
    let mut name = to.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    to.with_file_name(name)
}

fn make(folder: &Folder, part: &Path, logs: bool, now: Time, tell: &mut dyn FnMut(Progress)) -> Result<Manifest> {
    files::make_private(part)?;
    sqlite::copy_ledger(folder.dir(), &part.join(LEDGER), &mut |done, all| tell(Progress::Copied(done, all)))?;
    // After the ledger: of every attempt in it there is at least what was printed by then.
    let logs = if logs { copy_logs(&folder.logs(), &part.join("logs"))? } else { 0 };
    let manifest = Manifest { made_at: now, logs, ..examine(part, tell)? };
    let text = serde_json::to_string_pretty(&manifest).unwrap_or_default();
    files::write_synced(&part.join(MANIFEST), text.as_bytes())?;
    sync_folder(part)?;
    Ok(manifest)
}

/// Reads a backup's ledger from end to end: SQLite's own check, then every record against its checksum and its place.
fn examine(dir: &Path, tell: &mut dyn FnMut(Progress)) -> Result<Manifest> {
    sqlite::check_file(dir)?;
    let mut ledger = sqlite::open_ledger_reader(dir)?;
    let tail = ledger.tail()?;
    let (mut at, mut records, mut events, mut last_at) = (Position(0), 0u64, 0u64, Time::NEVER);
    loop {
        let page = ledger.read_all(at, PAGE)?;
        let Some(last) = page.last() else { break };
        at = last.position;
        for stored in &page {
            stored.record.verify(&stored.stream.label())?;
            records += 1;
            events += u64::from(stored.record.count);
        }
        // Whatever the run is of: a backup keeps what it cannot fold.
        last_at = last_at.max(decode_events::<Event>(&last.record)?.0.at);
        tell(Progress::Checked(at.0, tail.0));
    }
    if records + ledger.holes()? != tail.0 {
        let message = format!("the ledger ends at position {}, but only {records} records are there", tail.0);
        return Err(Error::corrupt("records_missing", message));
    }
    let runs = count_runs(&mut ledger)?;
    let id = ledger.id().to_owned();
    drop(ledger);
    let (bytes, checksum) = checksum(&dir.join(LEDGER))?;
    let (version, position) = (VERSION, tail.0);
    let manifest = Manifest {
        version,
        made_at: Time::NEVER,
        last_at,
        ledger: id,
        position,
        runs,
        records,
        events,
        bytes,
        checksum,
        logs: 0,
    };
    Ok(manifest)
}

/// Checks a backup against its manifest, and gives that.
pub fn check(from: &Path, tell: &mut dyn FnMut(Progress)) -> Result<Manifest> {
    let path = from.join(MANIFEST);
    let text = fs::read(&path).map_err(|error| {
        let message = format!("{} is no backup: there is no {MANIFEST} in it; check the folder", from.display());
        Error::not_found("not_a_backup", message).with_source(error)
    })?;
    let manifest: Manifest = serde_json::from_slice(&text).map_err(|error| {
        Error::corrupt("damaged_backup", format!("{} cannot be read", path.display())).with_source(error)
    })?;
    if manifest.version != VERSION {
        let message = format!("the backup has version {}, this program reads version {VERSION}", manifest.version);
        return Err(Error::new(Kind::Invalid, "newer_format", message));
    }
    let (bytes, found) = checksum(&from.join(LEDGER))?;
    if (bytes, &found) != (manifest.bytes, &manifest.checksum) {
        let message = format!(
            "{LEDGER} in {} is not what was backed up: {} bytes with checksum {} were written, {bytes} with {found} are \
             there. Use another backup; nothing was changed",
            from.display(),
            manifest.bytes,
            manifest.checksum
        );
        return Err(Error::corrupt("damaged_backup", message));
    }
    let seen = examine(from, tell)?;
    let seen = Manifest { made_at: manifest.made_at, logs: manifest.logs, ..seen };
    if seen != manifest {
        let message = format!("{} does not say what is in {}: use another backup", path.display(), from.display());
        return Err(Error::corrupt("damaged_backup", message));
    }
    Ok(manifest)
}
