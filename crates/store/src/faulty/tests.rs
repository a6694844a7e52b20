//! The wrapper fails exactly as told, and only then.

use super::*;
use crate::conformance::fixture::{batch, change, done, flush, stream};
use crate::ledger::{Append, Appended, Ledger, Position};
use crate::memory::{MemoryLedger, MemoryProjections};
use crate::projections::Projections;
use edgewise_core::Kind;

fn ledger(faults: &Faults) -> FaultyLedger<MemoryLedger> {
    FaultyLedger::new(MemoryLedger::default(), faults.clone())
}

fn next(seq: u64) -> Append {
    batch(&[(&stream(1), seq, 1)])
}

#[test]
fn each_fault_of_an_append_has_its_code_and_lands_or_not_as_told() {
    for (fault, code, landed) in [
        (Fault::Refused, "store_busy", 0),
        (Fault::DiskFull, "disk_full", 0),
        (Fault::SyncFailed { landed: false }, "sync_failed", 0),
        (Fault::SyncFailed { landed: true }, "sync_failed", 1),
        (Fault::AnswerLost { landed: false }, "unknown_commit", 0),
        (Fault::AnswerLost { landed: true }, "unknown_commit", 1),
        (Fault::Damaged, "damaged_file", 0),
    ] {
        let faults = Faults::none().fail_nth_of(Op::Append, 1, fault);
        let mut ledger = ledger(&faults);
        assert_eq!(ledger.append(&next(0)).unwrap_err().code, code, "{fault:?}");
        assert_eq!(ledger.head(&stream(1)).unwrap().seq, landed, "{fault:?}");
        assert_eq!(faults.count(Op::Append), 1);
        faults.restart();
        done(&mut ledger, &next(landed));
    }
}

#[test]
fn a_forced_conflict_names_the_first_guard_and_writes_nothing() {
    let faults = Faults::none().fail_nth(1, Fault::Conflict);
    let mut ledger = ledger(&faults);
    assert_eq!(ledger.append(&next(0)).unwrap(), Appended::Conflict(stream(1)));
    assert_eq!(ledger.tail().unwrap(), Position(0));
    done(&mut ledger, &next(0));
}

#[test]
fn after_a_failed_sync_every_write_fails_until_the_restart() {
    let faults = Faults::none().fail_nth_write(1, Fault::SyncFailed { landed: true });
    let mut ledger = ledger(&faults);
    for _ in 0..3 {
        assert_eq!(ledger.append(&next(0)).unwrap_err().code, "sync_failed");
        assert_eq!(ledger.freeze(&stream(1), None).unwrap_err().code, "sync_failed");
    }
    assert_eq!(ledger.head(&stream(1)).unwrap().seq, 1);
    faults.restart();
    done(&mut ledger, &next(1));
}

#[test]
fn a_damaged_read_turns_one_bit_of_one_record_and_the_store_is_untouched() {
    let faults = Faults::none();
    let mut ledger = ledger(&faults);
    done(&mut ledger, &next(0));
    done(&mut ledger, &next(1));
    for op in [Op::Read, Op::ReadAll] {
        faults.fail_next(op, Fault::Damaged);
        for wanted in [[false, true], [true, true]] {
            let found = match op {
                Op::Read => ledger.read(&stream(1), 0, 9).unwrap(),
                _ => ledger.read_all(Position(0), 9).unwrap(),
            };
            let good: Vec<bool> = found.iter().map(|s| s.record.verify(&s.stream.label()).is_ok()).collect();
            assert_eq!(good, wanted, "{op:?}");
        }
    }
}

#[test]
fn a_flush_fails_before_after_or_by_conflict() {
    for (fault, kind, landed) in [
        (Fault::Refused, Kind::Unavailable, false),
        (Fault::AnswerLost { landed: true }, Kind::Unavailable, true),
        (Fault::Conflict, Kind::Conflict, false),
    ] {
        let faults = Faults::none().fail_nth_of(Op::Flush, 2, fault);
        let mut rows = FaultyProjections::new(MemoryProjections::default(), faults.clone());
        rows.flush(&flush(vec![change(&stream(1), 0, 1)], 1)).unwrap();
        let error = rows.flush(&flush(vec![change(&stream(2), 0, 1)], 2)).unwrap_err();
        assert_eq!(error.kind, kind, "{fault:?}");
        assert_eq!(rows.load(&stream(2)).unwrap().is_some(), landed, "{fault:?}");
        assert_eq!((faults.count(Op::Flush), faults.count(Op::Load), faults.writes(), faults.total()), (2, 1, 2, 3));
    }
}

#[test]
fn the_same_seed_fails_the_same_operations_and_calm_ends_it() {
    let run = |seed| {
        let faults = Faults::seeded(seed, 300, &[Fault::Refused, Fault::DiskFull]);
        let mut ledger = ledger(&faults);
        let told: Vec<&str> = (0..200).map(|_| ledger.tail().err().map_or("ok", |e| e.code)).collect();
        faults.calm();
        assert!((0..200).all(|_| ledger.tail().is_ok()));
        told
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
    let failed = run(1).iter().filter(|code| **code != "ok").count();
    assert!((30..90).contains(&failed), "{failed} of 200 failed, about 60 were expected");
}

#[test]
fn a_planned_fault_is_told_once_it_has_come_about_and_only_once() {
    let faults = Faults::none().fail_nth_of(Op::Append, 2, Fault::DiskFull);
    let mut ledger = ledger(&faults);
    done(&mut ledger, &next(0));
    assert!(faults.take_fired().is_empty());
    assert!(ledger.append(&next(1)).is_err());
    assert_eq!(faults.take_fired(), [((Op::Append, Fault::DiskFull), 1)].into());
    assert!(faults.take_fired().is_empty());
}
