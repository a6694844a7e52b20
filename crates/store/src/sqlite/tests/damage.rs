//! Damage is loud in the ledger and healed in the rows.

use super::*;
use crate::conformance::fixture::{change, flush};
use crate::ledger::{Ledger, Position};
use crate::projections::Projections;
use edgewise_core::Kind;

#[test]
fn a_damaged_record_comes_out_so_that_its_checksum_cannot_fit_and_the_others_stay_good() {
    for damage in [
        "bytes = replace(bytes, 'after', 'aftes')",
        "bytes = substr(bytes, 1, 5)",
        "bytes = ''",
        "bytes = CAST(x'fffe' AS TEXT)",
        "bytes = x'00ff'",
        "bytes = 17",
        "count = 2",
        "count = 0",
        "count = -1",
        "count = 'many'",
        "checksum = checksum + 1",
        "checksum = 'x'",
    ] {
        let dir = used();
        let sql = format!("UPDATE records SET {damage} WHERE position = 2");
        assert_eq!(outsider(&dir, "ledger.db").execute(&sql, ()).unwrap(), 1, "{damage}");
        let mut ledger = open(&dir).ledger;
        for found in [ledger.read(&stream(1), 0, 10).unwrap(), ledger.read_all(Position(0), 10).unwrap()] {
            let good: Vec<bool> = found.iter().map(|s| s.record.verify(&s.stream.label()).is_ok()).collect();
            assert_eq!(good, [true, false, true], "{damage}");
        }
        let after = ledger.read(&stream(1), 1, 10).unwrap();
        assert_eq!(after.len(), 2, "{damage}: the damaged record must not be left out");
    }
}

#[test]
fn a_record_moved_to_another_seq_or_stream_does_not_verify() {
    let dir = used();
    let mut ledger = open(&dir).ledger;
    done(&mut ledger, &batch(&[(&stream(2), 0, 1)]));
    outsider(&dir, "ledger.db").execute_batch("UPDATE records SET stream = 2, first = 2 WHERE position = 3").unwrap();
    let found = ledger.read(&stream(2), 0, 10).unwrap();
    assert!(found[0].record.verify(&stream(2).label()).is_ok());
    assert!(found[1].record.verify(&stream(2).label()).is_err());
}

#[test]
fn a_record_whose_stream_is_gone_is_reported_and_not_left_out() {
    let dir = used();
    outsider(&dir, "ledger.db").execute_batch("DELETE FROM streams").unwrap();
    let error = open(&dir).ledger.read_all(Position(0), 10).unwrap_err();
    assert_eq!((error.kind, error.code), (Kind::Corrupt, "damaged_row"));
}

#[test]
fn a_ledger_that_is_garbage_is_refused_and_left_as_it_is() {
    for garbage in [b"not a database, but long enough to be looked at".repeat(200), b"short".to_vec()] {
        let dir = folder();
        std::fs::write(dir.path().join("ledger.db"), &garbage).unwrap();
        let before = contents(dir.path());
        let error = super::super::open(dir.path()).unwrap_err();
        assert_eq!((error.kind, error.code), (Kind::Corrupt, "damaged_file"));
        assert!(error.message.contains("ledger.db") && error.message.contains("backup"), "{error}");
        assert_eq!(contents(dir.path()), before);
    }
}

#[test]
fn a_ledger_with_a_damaged_page_says_so_when_the_page_is_read() {
    let dir = used();
    let path = dir.path().join("ledger.db");
    let mut bytes = std::fs::read(&path).unwrap();
    let pages = bytes.len() / 4096;
    for page in 1..pages {
        bytes[page * 4096..page * 4096 + 64].fill(0xa5);
    }
    std::fs::write(&path, bytes).unwrap();
    let error = super::super::open(dir.path()).and_then(|mut s| s.ledger.read_all(Position(0), 9)).unwrap_err();
    assert_eq!((error.kind, error.code), (Kind::Corrupt, "damaged_file"), "{error}");
}

#[test]
fn somebody_elses_database_is_not_taken_for_a_ledger() {
    let dir = folder();
    outsider(&dir, "ledger.db").execute_batch("CREATE TABLE diary (day TEXT)").unwrap();
    let before = contents(dir.path());
    assert_eq!(super::super::open(dir.path()).unwrap_err().code, "not_a_ledger");
    assert_eq!(contents(dir.path()), before);
}

#[test]
fn rows_that_were_deleted_or_do_not_fit_are_made_anew() {
    type Spoil<'a> = &'a dyn Fn(&TempDir);
    let path = |dir: &TempDir| dir.path().join("state.db");
    let run = |dir: &TempDir, sql: &str| outsider(dir, "state.db").execute_batch(sql).unwrap();
    let cases: [(&str, bool, Spoil<'_>); 8] = [
        ("deleted", false, &|dir| std::fs::remove_file(path(dir)).unwrap()),
        ("empty", false, &|dir| std::fs::write(path(dir), b"").unwrap()),
        ("garbage", true, &|dir| std::fs::write(path(dir), b"garbage".repeat(5_000)).unwrap()),
        ("short garbage", true, &|dir| std::fs::write(path(dir), b"??").unwrap()),
        ("of another ledger", true, &|dir| run(dir, "UPDATE meta SET ledger = 'other'")),
        ("ahead of the ledger", true, &|dir| run(dir, "UPDATE meta SET watermark = 4")),
        ("of no format", true, &|dir| run(dir, "PRAGMA user_version = 0")),
        ("without its table", true, &|dir| run(dir, "DROP TABLE meta")),
    ];
    for (what, told, spoil) in cases {
        let dir = used();
        spoil(&dir);
        let Stores { mut ledger, mut projections } = open(&dir);
        assert_eq!(projections.watermark().unwrap(), Position(0), "{what}");
        assert_eq!(projections.load(&stream(1)).unwrap(), None, "{what}");
        assert_eq!(projections.rebuilt().is_some(), told, "{what}: {:?}", projections.rebuilt());
        projections.flush(&flush(vec![change(&stream(1), 0, 3)], 3)).unwrap();
        assert_eq!(ledger.tail().unwrap(), Position(3), "{what}");
        drop((ledger, projections));
        assert_eq!(open(&dir).projections.watermark().unwrap(), Position(3), "{what}: kept the next time");
    }
}

#[test]
fn rows_that_fit_are_kept() {
    let dir = used();
    let mut projections = open(&dir).projections;
    assert_eq!(projections.rebuilt(), None);
    assert_eq!(projections.watermark().unwrap(), Position(2));
    assert!(projections.load(&stream(1)).unwrap().is_some());
}

#[test]
fn a_lost_ledger_is_not_silently_begun_anew() {
    for left in [None, Some(&b""[..]), Some(b"?")] {
        let dir = used();
        let path = dir.path().join("ledger.db");
        match left {
            Some(bytes) => std::fs::write(&path, bytes).unwrap(),
            None => std::fs::remove_file(&path).unwrap(),
        }
        let before = contents(dir.path());
        let error = super::super::open(dir.path()).unwrap_err();
        assert_eq!((error.kind, error.code), (Kind::Corrupt, "ledger_lost"));
        let after: BTreeMap<_, _> = contents(dir.path()).into_iter().filter(|(n, _)| before.contains_key(n)).collect();
        assert_eq!(after, before);
    }
    let dir = folder();
    std::fs::write(dir.path().join("ledger.db-wal"), b"commits that were promised").unwrap();
    assert_eq!(super::super::open(dir.path()).unwrap_err().code, "ledger_lost");
    assert_eq!(std::fs::read(dir.path().join("ledger.db-wal")).unwrap(), b"commits that were promised");
}
