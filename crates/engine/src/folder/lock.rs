//! The lock: at most one process has it, and the system takes it back when that process ends, however it ends.

use super::{private, unusable};
use edgewise_core::Result;
use std::fs::{File, TryLockError};
use std::io::Write;
use std::path::Path;

/// A lock that is held; dropping it gives it back. Its file stays: taking it away could make two holders.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock of a file; `None` if another process has it.
    pub(super) fn take(path: &Path) -> Result<Option<Self>> {
        let unusable = |error| unusable("the lock", path, error);
        let file = private(&mut File::options()).open(path).map_err(unusable)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(unusable(error)),
        }
        // For people who look, and for messages; the lock itself is the system's.
        let _ = file.set_len(0).and_then(|()| (&file).write_all(format!("{}\n", std::process::id()).as_bytes()));
        Ok(Some(Self { _file: file }))
    }
}
