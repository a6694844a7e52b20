//! Bringing a backup back: checked first, into a folder that has nothing in it.

use super::files::{copy_logs, failed, sync_folder};
use super::{LEDGER, Manifest, Progress, check};
use crate::doctor::{Told, rebuild};
use crate::folder::Folder;
use edgewise_core::{Error, Result};
use edgewise_store::sqlite;
use std::fs;
use std::path::Path;

/// What may be in a folder that counts as empty: what this very program puts there before anything is run.
const NOTHING: [&str; 3] = [".gitignore", "engine.lock", "background.lock"];

/// Brings a backup back. The ledger gets its name last, so that a folder never has half of one.
pub fn restore(from: &Path, folder: &Folder, tell: &mut dyn FnMut(Progress)) -> Result<Manifest> {
    refuse_used(folder.dir())?;
    let manifest = check(from, tell)?;
    folder.make()?;
    let Some(_lock) = folder.lock()? else {
        let message = format!("an engine is at work in {}: end it, then try again", folder.dir().display());
        return Err(Error::conflict("engine_at_work", message));
    };
    refuse_used(folder.dir())?;
    let part = folder.dir().join("ledger.db.part");
    let copied = sqlite::copy_ledger(from, &part, &mut |done, all| tell(Progress::Copied(done, all)));
    let copied = copied.and_then(|()| copy_logs(&from.join("logs"), &folder.logs()).map(drop));
    if copied.is_err() {
        let _ = fs::remove_file(&part);
    }
    copied?;
    let name = folder.dir().join(LEDGER);
    fs::rename(&part, &name).map_err(|error| failed("named", &name, error))?;
    sync_folder(folder.dir())?;
    let sqlite::Stores { mut ledger, mut projections } = sqlite::open(folder.dir())?;
    rebuild(&mut ledger, &mut projections, &mut |told| {
        if let Told::Progress(done, all) = told {
            tell(Progress::Rows(done, all));
        }
        // Damage of a run is as it was when the backup was made: `edgewise doctor` tells of it.
        Ok(())
    })?;
    Ok(manifest)
}

/// Refuses a folder with anything in it.
pub fn refuse_used(dir: &Path) -> Result<()> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed("read", dir, error)),
    };
    let mut names = entries.flatten().map(|entry| entry.file_name());
    match names.find(|name| NOTHING.iter().all(|known| name != known)) {
        None => Ok(()),
        Some(name) => {
            let message = format!(
                "{} is not empty ({} is in it): a backup is brought back into an empty folder only; move what is there \
                 away, or name another folder with --dir",
                dir.display(),
                name.display()
            );
            Err(Error::conflict("folder_not_empty", message))
        }
    }
}
