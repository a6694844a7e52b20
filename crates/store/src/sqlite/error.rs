//! SQLite's errors in our words: one table from result codes to kinds, codes and what to do next.

use edgewise_core::{Error, Kind, Result};
use rusqlite::{ErrorCode, ffi};

/// What was being done: an error of COMMIT is special, because it may have happened all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum At {
    Work,
    Commit,
}

/// Names the file an error is about.
pub(super) trait Explain<T> {
    /// The result, its error explained as one of this file.
    fn of(self, file: &'static str) -> Result<T>;
}

impl<T> Explain<T> for rusqlite::Result<T> {
    fn of(self, file: &'static str) -> Result<T> {
        self.map_err(|error| explain(file, At::Work, error))
    }
}

/// The one place where SQLite's errors are sorted.
pub(super) fn explain(file: &'static str, at: At, error: rusqlite::Error) -> Error {
    let (kind, code, next) = match error.sqlite_error() {
        Some(inner) => sort(file, at, inner.code, inner.extended_code),
        // No result code: a value of a row is not of the type that was written.
        None => (Kind::Corrupt, "damaged_row", restore(file)),
    };
    let what = match (code, at) {
        ("unknown_commit", _) => {
            "the disk failed in the middle of a write, and what you asked for may or may not be done"
        }
        (_, At::Commit) => "a commit was not made",
        (_, At::Work) => "an operation failed",
    };
    Error::new(kind, code, format!("{file}: {what}. {next}")).with_source(error)
}

fn sort(file: &'static str, at: At, code: ErrorCode, extended: i32) -> (Kind, &'static str, &'static str) {
    use Kind::{Bug, Corrupt, Limit, Unavailable};
    match (code, at) {
        (ErrorCode::DiskFull, _) => {
            (Unavailable, "disk_full", "The disk is full and nothing was written: make room, then try again")
        }
        (ErrorCode::ReadOnly | ErrorCode::PermissionDenied, _) => {
            (Unavailable, "read_only", "It cannot be written: check the permissions of the file and its folder")
        }
        (ErrorCode::SystemIoFailure, _) if is_sync(extended) => (
            Unavailable,
            "sync_failed",
            "The disk did not confirm a write: this process must end; check the disk, then start again",
        ),
        (ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked, _) => {
            (Unavailable, "store_busy", "Another process is writing to it: try again, or end the other process")
        }
        (_, At::Commit) => (
            Unavailable,
            "unknown_commit",
            "See with `edgewise runs` or `edgewise show RUN` whether it is, and ask again if not; a start with the same \
             --key never gives a second run",
        ),
        // Our statements never change, so one that SQLite does not understand has lost its table.
        (ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::Unknown, _) => {
            (Corrupt, "damaged_file", restore(file))
        }
        (ErrorCode::SystemIoFailure, _) if extended == ffi::SQLITE_IOERR_CORRUPTFS => {
            (Corrupt, "damaged_file", restore(file))
        }
        (ErrorCode::SystemIoFailure, _) => {
            (Unavailable, "io_error", "The disk reported an error: check it, then try again")
        }
        (ErrorCode::CannotOpen, _) => {
            (Unavailable, "cannot_open", "It cannot be opened: check that it is a file and that the folder can be read")
        }
        (ErrorCode::OutOfMemory, _) => (Unavailable, "out_of_memory", "There is no memory left: try again"),
        (ErrorCode::TooBig, _) => (Limit, "row_too_large", "A row is larger than SQLite stores: make it smaller"),
        _ => (Bug, "store_bug", "This should not happen: please report it"),
    }
}

fn is_sync(extended: i32) -> bool {
    matches!(extended, ffi::SQLITE_IOERR_FSYNC | ffi::SQLITE_IOERR_DIR_FSYNC)
}

fn restore(file: &'static str) -> &'static str {
    if file == super::LEDGER {
        "It is damaged or not an Edgewise ledger: nothing was changed; restore it from a backup"
    } else {
        "It is damaged: end Edgewise and delete it; it is made anew from ledger.db"
    }
}

/// A damaged value of a row, found after SQLite handed it out.
pub(super) fn damaged(file: &'static str, what: impl std::fmt::Display) -> Error {
    Error::corrupt("damaged_row", format!("{file}: {what}. {}", restore(file)))
}

/// An error of the operating system about the folder or a file in it.
pub(super) fn from_io(what: &str, error: std::io::Error) -> Error {
    use std::io::ErrorKind;
    let (code, next) = match error.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            ("read_only", "check the permissions of the folder, or choose another one")
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => ("disk_full", "make room, then try again"),
        _ => ("cannot_open", "check that the folder is a folder and can be written"),
    };
    Error::unavailable(code, format!("{what} cannot be opened for writing: {next}")).with_source(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explained(file: &'static str, at: At, code: i32) -> Error {
        explain(file, at, rusqlite::Error::SqliteFailure(ffi::Error::new(code), None))
    }

    #[test]
    fn every_result_code_has_a_kind_and_a_code_that_callers_can_act_on() {
        let (work, commit) = (At::Work, At::Commit);
        for (at, code, kind, name) in [
            (work, ffi::SQLITE_FULL, Kind::Unavailable, "disk_full"),
            (commit, ffi::SQLITE_FULL, Kind::Unavailable, "disk_full"),
            (work, ffi::SQLITE_READONLY, Kind::Unavailable, "read_only"),
            (work, ffi::SQLITE_READONLY_DIRECTORY, Kind::Unavailable, "read_only"),
            (work, ffi::SQLITE_IOERR_FSYNC, Kind::Unavailable, "sync_failed"),
            (commit, ffi::SQLITE_IOERR_FSYNC, Kind::Unavailable, "sync_failed"),
            (commit, ffi::SQLITE_IOERR_DIR_FSYNC, Kind::Unavailable, "sync_failed"),
            (commit, ffi::SQLITE_IOERR_WRITE, Kind::Unavailable, "unknown_commit"),
            (commit, ffi::SQLITE_IOERR_SHMSIZE, Kind::Unavailable, "unknown_commit"),
            (commit, ffi::SQLITE_NOMEM, Kind::Unavailable, "unknown_commit"),
            (work, ffi::SQLITE_IOERR_READ, Kind::Unavailable, "io_error"),
            (work, ffi::SQLITE_BUSY, Kind::Unavailable, "store_busy"),
            (work, ffi::SQLITE_BUSY_RECOVERY, Kind::Unavailable, "store_busy"),
            (commit, ffi::SQLITE_BUSY, Kind::Unavailable, "store_busy"),
            (work, ffi::SQLITE_CORRUPT, Kind::Corrupt, "damaged_file"),
            (work, ffi::SQLITE_NOTADB, Kind::Corrupt, "damaged_file"),
            (work, ffi::SQLITE_ERROR, Kind::Corrupt, "damaged_file"),
            (work, ffi::SQLITE_CANTOPEN, Kind::Unavailable, "cannot_open"),
            (work, ffi::SQLITE_CONSTRAINT_UNIQUE, Kind::Bug, "store_bug"),
        ] {
            let error = explained(crate::sqlite::LEDGER, at, code);
            assert_eq!((error.kind, error.code), (kind, name), "{at:?} {code}");
            assert!(error.message.starts_with("ledger.db: "), "{}", error.message);
        }
    }

    #[test]
    fn a_damaged_ledger_is_to_be_restored_and_damaged_rows_are_to_be_deleted() {
        let ledger = explained(crate::sqlite::LEDGER, At::Work, ffi::SQLITE_CORRUPT).message;
        assert!(ledger.contains("backup") && !ledger.contains("delete"), "{ledger}");
        let state = explained(crate::sqlite::STATE, At::Work, ffi::SQLITE_CORRUPT).message;
        assert!(state.contains("delete it"), "{state}");
    }
}
