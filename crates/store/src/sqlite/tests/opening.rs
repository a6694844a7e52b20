//! Opening: formats, permissions, settings, and readers beside a writer.

use super::super::{ledger, open_reader, state};
use super::*;
use crate::conformance::fixture::{change, flush};
use crate::ledger::{Ledger, Position};
use crate::projections::Projections;
use edgewise_core::Kind;
use rusqlite::config::DbConfig;

#[test]
fn a_newer_format_is_refused_and_nothing_is_changed() {
    for (file, format) in [("ledger.db", ledger::FORMAT), ("state.db", state::FORMAT)] {
        let dir = used();
        let newer = outsider(&dir, file);
        newer.pragma_update(None, "user_version", format + 1).unwrap();
        // As if it was killed: its change is in the log, and a refused file's log must stay where it is.
        newer.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).unwrap();
        drop(newer);
        assert!(dir.path().join(format!("{file}-wal")).metadata().unwrap().len() > 0);
        let before = contents(dir.path());
        for error in [super::super::open(dir.path()).unwrap_err(), open_reader(dir.path()).unwrap_err()] {
            assert_eq!((error.kind, error.code), (Kind::Invalid, "newer_format"));
            assert!(error.message.contains(file), "{error}");
        }
        let data = |mut files: BTreeMap<String, Vec<u8>>| {
            files.retain(|name, bytes| !name.ends_with("-shm") && !bytes.is_empty());
            files
        };
        assert_eq!(data(contents(dir.path())), data(before));
    }
}

#[test]
fn a_folder_that_cannot_be_written_is_said_to_be_read_only() {
    let dir = folder();
    let mut mode = std::fs::metadata(dir.path()).unwrap().permissions();
    mode.set_readonly(true);
    std::fs::set_permissions(dir.path(), mode).unwrap();
    if std::fs::write(dir.path().join("probe"), b"").is_ok() {
        return; // Permissions do not bind this user, so there is nothing to see.
    }
    for path in [dir.path().to_path_buf(), dir.path().join("below")] {
        let error = super::super::open(&path).unwrap_err();
        assert_eq!((error.kind, error.code), (Kind::Unavailable, "read_only"), "{error}");
    }
}

#[test]
fn a_folder_that_is_a_file_cannot_be_opened() {
    let dir = folder();
    let path = dir.path().join("file");
    std::fs::write(&path, b"").unwrap();
    let error = super::super::open(&path).unwrap_err();
    assert_eq!((error.kind, error.code), (Kind::Unavailable, "cannot_open"), "{error}");
}

#[test]
fn the_folder_is_made_if_it_is_not_there() {
    let dir = folder();
    let deep = dir.path().join("a").join("b");
    super::super::open(&deep).unwrap();
    assert!(deep.join("ledger.db").is_file() && deep.join("state.db").is_file());
}

#[test]
fn a_reader_sees_what_a_writer_commits_and_cannot_write() {
    let dir = used();
    let mut writer = open(&dir);
    let mut reader = open_reader(dir.path()).unwrap();
    done(&mut writer.ledger, &batch(&[(&stream(2), 0, 1)]));
    writer.projections.flush(&flush(vec![change(&stream(2), 0, 1)], 4)).unwrap();
    assert_eq!(reader.ledger.tail().unwrap(), Position(4));
    assert_eq!(reader.projections.watermark().unwrap(), Position(4));
    assert!(reader.projections.load(&stream(2)).unwrap().is_some());
    let refused = [
        reader.ledger.append(&batch(&[(&stream(2), 1, 1)])).unwrap_err(),
        reader.ledger.freeze(&stream(2), Some("no")).unwrap_err(),
        reader.projections.flush(&flush(vec![], 9)).unwrap_err(),
        reader.projections.forget(&stream(2)).unwrap_err(),
    ];
    for error in refused {
        assert_eq!((error.kind, error.code), (Kind::Unavailable, "read_only"), "{error}");
    }
    assert_eq!(reader.ledger.tail().unwrap(), Position(4), "it can still look");
}

#[test]
fn a_reader_makes_nothing() {
    let dir = folder();
    assert_eq!(open_reader(dir.path()).unwrap_err().code, "store_not_found");
    assert_eq!(contents(dir.path()), BTreeMap::new());
    let dir = used();
    outsider(&dir, "state.db").execute_batch("UPDATE meta SET ledger = 'other'").unwrap();
    let error = open_reader(dir.path()).unwrap_err();
    assert_eq!((error.kind, error.code), (Kind::Unavailable, "projections_outdated"));
    assert!(contents(dir.path()).contains_key("state.db"));
}

#[test]
fn the_files_are_used_as_was_measured_to_be_best() {
    let dir = folder();
    let Stores { ledger, projections } = open(&dir);
    let number = |conn: &Connection, name: &str| conn.pragma_query_value(None, name, |r| r.get::<_, i64>(0)).unwrap();
    for (conn, wanted) in [
        (&ledger.conn, [("synchronous", 2), ("wal_autocheckpoint", 0), ("mmap_size", 0), ("cache_size", -2000)]),
        (
            &projections.conn,
            [("synchronous", 1), ("wal_autocheckpoint", 2000), ("mmap_size", 0), ("cache_size", -8000)],
        ),
    ] {
        for (name, value) in wanted {
            assert_eq!(number(conn, name), value, "{name}");
        }
        let mode: String = conn.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
        assert_eq!(mode, "wal");
    }
}

#[test]
fn two_that_open_a_new_folder_at_once_share_one_ledger() {
    for _ in 0..20 {
        let dir = folder();
        let path = dir.path();
        let ids = std::thread::scope(|scope| {
            let both = [(); 2].map(|()| scope.spawn(|| super::super::open(path).map(|s| s.ledger.id().to_owned())));
            both.map(|thread| thread.join().unwrap().unwrap())
        });
        assert_eq!(ids[0], ids[1]);
    }
}
