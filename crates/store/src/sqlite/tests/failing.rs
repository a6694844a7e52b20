//! What goes wrong while writing: told by its code, nothing half written, usable afterwards.

use super::super::ledger::CHECKPOINT_PAGES;
use super::*;
use crate::conformance::fixture::add;
use crate::ledger::{Append, Appended, Ledger, Position};
use edgewise_core::{Error, Kind};

fn large(seq: u64, kilobytes: usize) -> Append {
    let mut batch = Append::default();
    add(&mut batch, &stream(1), seq, 1, vec![b'x'; kilobytes << 10]);
    batch
}

#[test]
fn a_full_disk_writes_nothing_and_the_store_works_again_once_there_is_room() {
    let dir = used();
    let mut ledger = open(&dir).ledger;
    let pages: i64 = ledger.conn.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
    ledger.conn.pragma_update(None, "max_page_count", pages + 5).unwrap();
    let mut batch = large(3, 100);
    add(&mut batch, &stream(2), 0, 1, b"{}".to_vec());
    for _ in 0..2 {
        let error = ledger.append(&batch).unwrap_err();
        assert_eq!((error.kind, error.code), (Kind::Unavailable, "disk_full"));
        assert!(ledger.conn.is_autocommit());
        assert_eq!(ledger.tail().unwrap(), Position(3));
        assert_eq!(ledger.head(&stream(1)).unwrap().seq, 3);
        assert_eq!(ledger.head(&stream(2)).unwrap().seq, 0);
    }
    ledger.conn.pragma_update(None, "max_page_count", 1_000_000).unwrap();
    assert_eq!(done(&mut ledger, &batch), Position(5));
}

#[test]
fn another_process_that_holds_the_lock_makes_the_store_busy_until_it_ends() {
    let dir = used();
    let mut ledger = open(&dir).ledger;
    ledger.conn.busy_timeout(std::time::Duration::ZERO).unwrap();
    let other = outsider(&dir, "ledger.db");
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let next = batch(&[(&stream(1), 3, 1)]);
    let error = ledger.append(&next).unwrap_err();
    assert_eq!((error.kind, error.code), (Kind::Unavailable, "store_busy"));
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(done(&mut ledger, &next), Position(4));
}

#[test]
fn a_commit_that_fails_in_an_unknown_way_says_so_and_is_read_back() {
    let dir = used();
    let mut ledger = open(&dir).ledger;
    ledger.conn.commit_hook(Some(|| true)).unwrap();
    let next = batch(&[(&stream(1), 3, 1), (&stream(2), 0, 1)]);
    let error = ledger.append(&next).unwrap_err();
    assert_eq!((error.kind, error.code), (Kind::Unavailable, "unknown_commit"));
    assert!(ledger.conn.is_autocommit());
    ledger.conn.commit_hook(None::<fn() -> bool>).unwrap();
    assert_eq!(ledger.head(&stream(1)).unwrap().seq, 3);
    assert_eq!(done(&mut ledger, &next), Position(5));
}

#[test]
fn after_a_failed_sync_nothing_is_written_until_the_ledger_is_opened_again() {
    let dir = used();
    let mut ledger = open(&dir).ledger;
    ledger.failed(Error::unavailable("sync_failed", "the disk"));
    let next = batch(&[(&stream(1), 3, 1)]);
    assert_eq!(ledger.append(&next).unwrap_err().code, "sync_failed");
    assert_eq!(ledger.freeze(&stream(1), Some("why")).unwrap_err().code, "sync_failed");
    assert_eq!(ledger.head(&stream(1)).unwrap().seq, 3, "it can still be read");
    drop(ledger);
    done(&mut open(&dir).ledger, &next);
}

#[test]
fn a_conflict_and_a_taken_key_leave_no_transaction_open() {
    let dir = used();
    let mut ledger = open(&dir).ledger;
    assert!(matches!(ledger.append(&batch(&[(&stream(1), 0, 1)])).unwrap(), Appended::Conflict(_)));
    assert!(ledger.conn.is_autocommit());
    outsider(&dir, "ledger.db").execute_batch("BEGIN IMMEDIATE; ROLLBACK").unwrap();
}

fn log_pages(dir: &TempDir) -> u64 {
    std::fs::metadata(dir.path().join("ledger.db-wal")).map_or(0, |found| found.len() / 4096)
}

#[test]
fn the_write_ahead_log_stays_bounded_over_many_commits() {
    let dir = folder();
    let mut ledger = open(&dir).ledger;
    ledger.conn.pragma_update(None, "synchronous", "OFF").unwrap();
    let (bound, mut pages) = (u64::from(CHECKPOINT_PAGES) + 100, 0);
    for seq in 0..400 {
        done(&mut ledger, &large(seq, 100));
        let now = log_pages(&dir);
        assert!(now >= pages, "{pages} pages were cut to {now}: growing again makes every sync slower");
        assert!(now <= bound, "{now} pages, at most {bound} were expected");
        pages = now;
    }
    assert!(pages > u64::from(CHECKPOINT_PAGES), "only {pages} pages: this test should have written more");
}

#[test]
fn a_reader_that_stays_stops_no_commit_and_the_log_is_used_again_after_it_left() {
    let dir = folder();
    let mut ledger = open(&dir).ledger;
    ledger.conn.pragma_update(None, "synchronous", "OFF").unwrap();
    done(&mut ledger, &large(0, 1));
    let reader = outsider(&dir, "ledger.db");
    reader.execute_batch("BEGIN; SELECT count(*) FROM records;").unwrap();
    for seq in 1..200 {
        done(&mut ledger, &large(seq, 100));
    }
    drop(reader);
    let grown = log_pages(&dir);
    assert!(grown > u64::from(CHECKPOINT_PAGES) + 100, "the reader should have kept the log, it has {grown} pages");
    for seq in 200..600 {
        done(&mut ledger, &large(seq, 100));
    }
    let later = log_pages(&dir);
    assert!(later <= grown + u64::from(CHECKPOINT_PAGES) + 100, "{grown} pages grew to {later}");
}
