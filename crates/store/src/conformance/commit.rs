//! Appends: guarded, dense, all or nothing.

use super::Place;
use super::fixture::*;
use crate::ledger::{Append, Appended, Head, Ledger, Position};
use edgewise_core::Kind;

pub fn a_stream_that_does_not_exist_has_head_zero_and_no_records<P: Place>(place: &P) {
    let (mut ledger, _) = open(place);
    let nobody = stream(1);
    assert_eq!(ledger.head(&nobody).unwrap(), Head::default());
    assert_eq!(ledger.read(&nobody, 0, 10).unwrap(), []);
    assert_eq!(ledger.read_all(Position(0), 10).unwrap(), []);
    assert_eq!(ledger.tail().unwrap(), Position(0));
}

pub fn seqs_are_dense_and_the_head_follows_them<P: Place>(place: &P) {
    let (mut ledger, _) = open(place);
    let a = stream(1);
    done(&mut ledger, &batch(&[(&a, 0, 3)]));
    done(&mut ledger, &batch(&[(&a, 3, 1)]));
    done(&mut ledger, &batch(&[(&a, 4, 2)]));
    assert_eq!(ledger.head(&a).unwrap(), Head { seq: 6, last: id(&a, 6) });
    let places: Vec<_> = ledger.read(&a, 0, 10).unwrap().iter().map(|s| (s.record.first, s.record.last())).collect();
    assert_eq!(places, [(1, 3), (4, 4), (5, 6)]);
}

pub fn a_commit_over_several_streams_is_all_there_in_order<P: Place>(place: &P) {
    let (mut ledger, _) = open(place);
    let (a, b, c) = (stream(3), stream(1), stream(2));
    let sent = batch(&[(&a, 0, 1), (&b, 0, 2), (&c, 0, 3)]);
    assert_eq!(done(&mut ledger, &sent), Position(3));
    let found = ledger.read_all(Position(0), 10).unwrap();
    let order: Vec<_> = found.iter().map(|s| (s.position.0, s.stream.clone(), s.record.clone())).collect();
    let wanted: Vec<_> =
        sent.records.iter().zip(1..).map(|((stream, record, _), n)| (n, stream.clone(), record.clone())).collect();
    assert_eq!(order, wanted);
    for stored in found {
        stored.record.verify(&stored.stream.label()).unwrap();
    }
    assert_eq!(ledger.tail().unwrap(), Position(3));
}

pub fn what_was_decided_on_the_whole_ledger_conflicts_with_whatever_came_in_between<P: Place>(place: &P) {
    let (mut ledger, _) = open(place);
    let (a, b) = (stream(1), stream(2));
    let after = |position, batch: Append| Append { after: Some(Position(position)), ..batch };
    let first = ledger.append(&after(0, batch(&[(&a, 0, 1)]))).unwrap();
    assert_eq!(first, Appended::Done(Position(1)), "nothing came in between");
    done(&mut ledger, &batch(&[(&b, 0, 1)]));
    let late = ledger.append(&after(1, batch(&[(&a, 1, 1)]))).unwrap();
    assert_eq!(late, Appended::Conflict(a.clone()), "another stream's record came in between");
    assert_eq!((ledger.tail().unwrap(), ledger.head(&a).unwrap().seq), (Position(2), 1));
    assert_eq!(ledger.append(&after(2, batch(&[(&a, 1, 1)]))).unwrap(), Appended::Done(Position(3)));
}

pub fn a_broken_guard_leaves_nothing_of_the_whole_commit<P: Place>(place: &P) {
    let (mut ledger, _) = open(place);
    let (a, b) = (stream(1), stream(2));
    done(&mut ledger, &batch(&[(&b, 0, 2)]));
    let mut stale = batch(&[(&a, 0, 1), (&b, 1, 1)]);
    let (hash, bytes) = plan("never").encode();
    stale.plans.push((hash, bytes));
    stale.keys.push(claim(&a, "once", 1));
    assert_eq!(ledger.append(&stale).unwrap(), Appended::Conflict(b.clone()));
    assert_eq!(ledger.head(&a).unwrap(), Head::default());
    assert_eq!(ledger.head(&b).unwrap().seq, 2);
    assert_eq!(ledger.tail().unwrap(), Position(1));
    assert_eq!(ledger.plan(hash).unwrap(), None);
    assert_eq!(ledger.key(&claim(&a, "once", 1)).unwrap(), None);
    assert_eq!(ledger.find("", 10).unwrap(), std::slice::from_ref(&b));
    done(&mut ledger, &batch(&[(&a, 0, 1), (&b, 2, 1)]));
}

pub fn a_guard_without_a_record_is_checked_too<P: Place>(place: &P) {
    let (mut ledger, _) = open(place);
    let (read, written) = (stream(1), stream(2));
    done(&mut ledger, &batch(&[(&read, 0, 1)]));
    let mut stale = batch(&[(&written, 0, 1)]);
    stale.guards.push(guard(&read, 0));
    assert_eq!(ledger.append(&stale).unwrap(), Appended::Conflict(read.clone()));
    assert_eq!(ledger.head(&written).unwrap().seq, 0);
    stale.guards[1].seq = 1;
    done(&mut ledger, &stale);
}

pub fn a_malformed_batch_is_refused_and_leaves_nothing<P: Place>(place: &P) {
    let (mut ledger, _) = open(place);
    let (a, b) = (stream(1), stream(2));
    type Spoil<'a> = &'a dyn Fn(&mut Append);
    let cases: [(&str, Spoil<'_>); 9] = [
        ("a record without a guard", &|batch| drop(batch.guards.pop())),
        ("a record beside its guard", &|batch| batch.guards[1].seq = 1),
        ("a record that begins too late", &|batch| batch.records[1].1.first = 2),
        ("a record of no events", &|batch| batch.records[1].1.count = 0),
        ("two records of a stream", &|batch| batch.records.push(batch.records[1].clone())),
        ("two guards of a stream", &|batch| batch.guards.push(batch.guards[1].clone())),
        ("a record that is no text", &|batch| batch.records[1].1.bytes = vec![0xff, 0xfe]),
        ("a key twice", &|batch| batch.keys = vec![claim(&a, "k", 1), claim(&b, "k", 1)]),
        ("a seq at the end of numbers", &|batch| {
            batch.guards[1].seq = u64::MAX - 1;
            batch.records[1].1.first = u64::MAX;
        }),
    ];
    for (what, spoil) in cases {
        let mut bad = batch(&[(&a, 0, 1), (&b, 0, 1)]);
        spoil(&mut bad);
        let error = ledger.append(&bad).expect_err(what);
        assert_eq!(error.kind, Kind::Invalid, "{what}: {error}");
        assert_eq!(ledger.tail().unwrap(), Position(0), "{what}");
    }
    done(&mut ledger, &batch(&[(&a, 0, 1), (&b, 0, 1)]));
}

pub fn a_commit_without_records_answers_with_the_tail<P: Place>(place: &P) {
    let (mut ledger, _) = open(place);
    assert_eq!(done(&mut ledger, &Append::default()), Position(0));
    done(&mut ledger, &batch(&[(&stream(1), 0, 1), (&stream(2), 0, 1)]));
    assert_eq!(done(&mut ledger, &Append::default()), Position(2));
    let only_a_guard = Append { guards: vec![guard(&stream(9), 0)], ..Append::default() };
    assert_eq!(done(&mut ledger, &only_a_guard), Position(2));
    assert_eq!(ledger.find("", 10).unwrap().len(), 2, "a guard alone makes no stream");
}

pub fn the_same_run_id_under_two_tenants_is_two_streams<P: Place>(place: &P) {
    let (mut ledger, _) = open(place);
    let (mine, theirs, elsewhere) = (stream_in("me", "w", 7), stream_in("you", "w", 7), stream_in("me", "v", 7));
    done(&mut ledger, &batch(&[(&mine, 0, 2)]));
    assert_eq!(ledger.head(&theirs).unwrap(), Head::default());
    assert_eq!(ledger.read(&theirs, 0, 10).unwrap(), []);
    assert_eq!(ledger.read(&elsewhere, 0, 10).unwrap(), []);
    done(&mut ledger, &batch(&[(&theirs, 0, 1), (&elsewhere, 0, 3)]));
    assert_eq!(ledger.head(&mine).unwrap().seq, 2);
    assert_eq!(ledger.head(&elsewhere).unwrap().seq, 3);
    let found = ledger.read(&theirs, 0, 10).unwrap();
    assert_eq!(found.len(), 1);
    found[0].record.verify(&theirs.label()).unwrap();
    assert!(found[0].record.verify(&mine.label()).is_err(), "a record belongs to its own stream");
}

pub fn two_handles_see_each_other_and_the_later_one_conflicts<P: Place>(place: &P) {
    let ((mut one, _), (mut two, _)) = (open(place), open(place));
    let a = stream(1);
    done(&mut one, &batch(&[(&a, 0, 1)]));
    assert_eq!(two.head(&a).unwrap(), Head { seq: 1, last: id(&a, 1) });
    assert_eq!(two.append(&batch(&[(&a, 0, 1)])).unwrap(), Appended::Conflict(a.clone()));
    assert_eq!(done(&mut two, &batch(&[(&a, 1, 1)])), Position(2));
    assert_eq!(one.read(&a, 1, 10).unwrap().len(), 1);
}

/// What a handle remembers of a stream must not outlive another handle's commit.
pub fn a_handle_that_wrote_before_conflicts_after_another_one_wrote<P: Place>(place: &P) {
    let ((mut one, _), (mut two, _)) = (open(place), open(place));
    let (a, b) = (stream(1), stream(2));
    done(&mut one, &batch(&[(&a, 0, 1), (&b, 0, 1)]));
    done(&mut two, &batch(&[(&a, 1, 1)]));
    assert_eq!(one.append(&batch(&[(&b, 1, 1), (&a, 1, 1)])).unwrap(), Appended::Conflict(a.clone()));
    assert_eq!(one.head(&b).unwrap().seq, 1);
    done(&mut one, &batch(&[(&b, 1, 1), (&a, 2, 1)]));
    assert_eq!(two.append(&batch(&[(&a, 2, 1)])).unwrap(), Appended::Conflict(a.clone()));
}
