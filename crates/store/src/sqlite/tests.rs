//! Tests of SQLite's own: what the suite that all stores share cannot say.

mod damage;
mod failing;
mod opening;
mod views;
mod walks;

use super::Stores;
use crate::conformance::fixture::{batch, done, stream};
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::path::Path;
use tempfile::TempDir;

fn folder() -> TempDir {
    TempDir::new().expect("a temporary folder")
}

fn open(dir: &TempDir) -> Stores {
    super::open(dir.path()).expect("the store opens")
}

/// Somebody else's connection to a file: `sqlite3`, a second process, a careless hand.
fn outsider(dir: &TempDir, file: &str) -> Connection {
    Connection::open(dir.path().join(file)).expect("the file opens")
}

/// A folder with three records in stream 1 and rows up to the second.
fn used() -> TempDir {
    let dir = folder();
    let Stores { mut ledger, mut projections } = open(&dir);
    for seq in 0..3 {
        done(&mut ledger, &batch(&[(&stream(1), seq, 1)]));
    }
    let change = crate::conformance::fixture::change(&stream(1), 0, 2);
    let flush = crate::conformance::fixture::flush(vec![change], 2);
    crate::Projections::flush(&mut projections, &flush).expect("the flush");
    dir
}

/// Every file of a folder with its bytes.
fn contents(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let read = |entry: std::io::Result<std::fs::DirEntry>| {
        let entry = entry.expect("an entry");
        let bytes = std::fs::read(entry.path()).expect("a file");
        (entry.file_name().to_string_lossy().into_owned(), bytes)
    };
    std::fs::read_dir(dir).expect("the folder").map(read).collect()
}
