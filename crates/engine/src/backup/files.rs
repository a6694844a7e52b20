//! Files of a backup: written for their owner only, and on the disk before anybody relies on them.

use edgewise_core::{Error, Result};
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

/// An error of the operating system about a file of a backup.
pub(super) fn failed(doing: &str, path: &Path, error: io::Error) -> Error {
    let (code, next) = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ("disk_full", "make room, then try again"),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            ("read_only", "check the permissions of the folder, or choose another one")
        }
        io::ErrorKind::NotFound => ("file_missing", "check the path"),
        _ => ("file_error", "check the disk and the path, then try again"),
    };
    Error::unavailable(code, format!("{} could not be {doing}: {next}", path.display())).with_source(error)
}

/// Makes a folder for its owner only.
pub(super) fn make_private(dir: &Path) -> Result<()> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(dir);
    made.map_err(|error| failed("made", dir, error))
}

/// Writes a small file, through to the disk.
pub(super) fn write_synced(path: &Path, bytes: &[u8]) -> Result<()> {
    let file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let written = file.and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()));
    written.map_err(|error| failed("written", path, error))
}

/// Makes sure that names in a folder outlive a power cut.
pub(super) fn sync_folder(dir: &Path) -> Result<()> {
    File::open(dir).and_then(|folder| folder.sync_all()).map_err(|error| failed("synced", dir, error))
}

/// How long a file is, and its BLAKE3 hash.
pub(super) fn checksum(path: &Path) -> Result<(u64, String)> {
    let read = || -> io::Result<(u64, String)> {
        let mut file = File::open(path)?;
        let (mut hasher, mut buffer, mut bytes) = (blake3::Hasher::new(), vec![0; 1 << 16], 0);
        loop {
            let n = file.read(&mut buffer)?;
            if n == 0 {
                return Ok((bytes, hasher.finalize().to_hex().to_string()));
            }
            hasher.update(&buffer[..n]);
            bytes += n as u64;
        }
    };
    read().map_err(|error| failed("read", path, error))
}

/// Copies the logs of all runs; gives their number. Only logs: what else is beside them speaks of processes that
/// are not those of whoever brings the copy back.
pub(super) fn copy_logs(from: &Path, to: &Path) -> Result<u64> {
    let mut copied = 0;
    for run in folders(from)? {
        let target = to.join(run.file_name().unwrap_or_default());
        let entries = fs::read_dir(&run).map_err(|error| failed("read", &run, error))?;
        for entry in entries.flatten() {
            let path = entry.path();
            if path.extension().is_none_or(|ending| ending != "log") || !path.is_file() {
                continue;
            }
            make_private(&target)?;
            let copy = target.join(entry.file_name());
            match fs::copy(&path, &copy) {
                Ok(_) => copied += 1,
                // Its run was taken away meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(failed("copied", &path, error)),
            }
        }
    }
    Ok(copied)
}

fn folders(dir: &Path) -> Result<Vec<std::path::PathBuf>> {
    match fs::read_dir(dir) {
        Ok(entries) => Ok(entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(failed("read", dir, error)),
    }
}
