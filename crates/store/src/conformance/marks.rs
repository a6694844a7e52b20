//! Freeze marks, and finding a run by the start of its id.

use super::Place;
use super::fixture::*;
use crate::ledger::{Append, Appended, Guard, Ledger, Marking, Stream};
use edgewise_core::Kind;
use edgewise_core::id::RunId;

pub fn a_freeze_mark_is_durable_until_it_is_taken_away<P: Place>(place: &P) {
    let (mut ledger, _) = open(place);
    let (a, b) = (stream_in("t", "w", 1), stream_in("u", "w", 1));
    done(&mut ledger, &batch(&[(&a, 0, 1), (&b, 0, 1)]));
    assert_eq!(ledger.frozen().unwrap(), []);
    ledger.freeze(&b, Some("checksum of seq 1")).unwrap();
    ledger.freeze(&a, Some("first")).unwrap();
    ledger.freeze(&a, Some("overflow")).unwrap();
    let both = [(a.clone(), "overflow".to_owned()), (b.clone(), "checksum of seq 1".to_owned())];
    assert_eq!(ledger.frozen().unwrap(), both);
    drop(ledger);
    let (mut ledger, _) = open(place);
    assert_eq!(ledger.frozen().unwrap(), both);
    ledger.freeze(&b, None).unwrap();
    assert_eq!(ledger.frozen().unwrap(), both[..1]);
    drop(ledger);
    assert_eq!(open(place).0.frozen().unwrap(), both[..1]);
}

pub fn nothing_is_appended_to_a_frozen_stream_by_anybody<P: Place>(place: &P) {
    let ((mut one, _), (mut other, _)) = (open(place), open(place));
    let (a, b) = (stream(1), stream(2));
    done(&mut one, &batch(&[(&a, 0, 1), (&b, 0, 1)]));
    done(&mut other, &batch(&[(&a, 1, 1)]));
    one.freeze(&a, Some("why")).unwrap();
    assert_eq!(other.mark(&a).unwrap().as_deref(), Some("why"));
    assert_eq!((other.mark(&b).unwrap(), other.mark(&stream(3)).unwrap()), (None, None));
    let frozen = Appended::Frozen(a.clone(), "why".to_owned());
    for ledger in [&mut one, &mut other] {
        assert_eq!(ledger.append(&batch(&[(&b, 1, 1), (&a, 2, 1)])).unwrap(), frozen, "all of it or nothing");
        let moved = ledger.append(&batch(&[(&a, 1, 1)])).unwrap();
        assert_eq!(moved, Appended::Conflict(a.clone()), "a broken guard is told first");
        done(ledger, &Append { guards: vec![Guard { stream: a.clone(), seq: 2 }], ..batch(&[]) });
    }
    assert_eq!(one.head(&b).unwrap().seq, 1);
    other.freeze(&a, None).unwrap();
    done(&mut one, &batch(&[(&a, 2, 1)]));
    assert_eq!(one.mark(&a).unwrap(), None);
}

/// A batch of one event that changes a mark.
fn marking(stream: &Stream, seq: u64, was: Option<&str>, now: Option<&str>) -> Append {
    let (was, now) = (was.map(str::to_owned), now.map(str::to_owned));
    Append { marks: vec![Marking { stream: stream.clone(), was, now }], ..batch(&[(stream, seq, 1)]) }
}

pub fn a_mark_changes_with_the_event_that_says_so<P: Place>(place: &P) {
    let ((mut one, _), (mut other, _)) = (open(place), open(place));
    let (a, b) = (stream(1), stream(2));
    done(&mut one, &batch(&[(&a, 0, 1), (&b, 0, 1)]));
    done(&mut other, &batch(&[(&b, 1, 1)]));
    let last = done(&mut one, &marking(&a, 1, None, Some("op froze it")));
    assert_eq!(last, one.tail().unwrap(), "the position is that of its record");
    for ledger in [&mut one, &mut other] {
        assert_eq!(ledger.mark(&a).unwrap().as_deref(), Some("op froze it"));
        assert_eq!(ledger.head(&a).unwrap().seq, 2);
        let frozen = Appended::Frozen(a.clone(), "op froze it".to_owned());
        assert_eq!(ledger.append(&batch(&[(&b, 2, 1), (&a, 2, 1)])).unwrap(), frozen, "nothing else is written");
        assert_eq!(ledger.append(&marking(&a, 2, None, Some("again"))).unwrap(), frozen, "nor is it marked twice");
        assert_eq!(ledger.append(&marking(&a, 2, Some("other"), None)).unwrap(), frozen, "nor on another mark");
    }
    drop((one, other));
    let (mut one, _) = open(place);
    assert_eq!(one.mark(&a).unwrap().as_deref(), Some("op froze it"), "it is durable");
    done(&mut one, &marking(&a, 2, Some("op froze it"), None));
    assert_eq!((one.mark(&a).unwrap(), one.head(&a).unwrap().seq), (None, 3));
    done(&mut one, &batch(&[(&a, 3, 1)]));
    let gone = one.append(&marking(&a, 4, Some("op froze it"), None)).unwrap();
    assert_eq!(gone, Appended::Conflict(a.clone()), "a mark that is not there was not decided on");
    done(&mut one, &marking(&b, 2, None, None));
    assert_eq!(one.frozen().unwrap(), []);
}

pub fn a_mark_of_a_commit_that_does_not_land_is_not_there<P: Place>(place: &P) {
    let (mut ledger, _) = open(place);
    let (a, b) = (stream(1), stream(2));
    done(&mut ledger, &batch(&[(&a, 0, 1), (&b, 0, 1)]));
    let late = Append { guards: vec![guard(&a, 1), guard(&b, 7)], ..marking(&a, 1, None, Some("why")) };
    assert_eq!(ledger.append(&late).unwrap(), Appended::Conflict(b.clone()));
    let keyed = Append { keys: vec![claim(&a, "k", 1)], ..marking(&a, 1, None, Some("why")) };
    done(&mut ledger, &Append { keys: vec![claim(&a, "k", 1)], ..batch(&[(&b, 1, 1)]) });
    assert!(matches!(ledger.append(&keyed).unwrap(), Appended::KeyTaken(_)));
    assert_eq!((ledger.frozen().unwrap(), ledger.head(&a).unwrap().seq), (vec![], 1));
    done(&mut ledger, &batch(&[(&a, 1, 1)]));
}

pub fn a_mark_needs_a_record_and_comes_once<P: Place>(place: &P) {
    let (mut ledger, _) = open(place);
    let (a, b) = (stream(1), stream(2));
    done(&mut ledger, &batch(&[(&a, 0, 1), (&b, 0, 1)]));
    let silent = Append { guards: vec![guard(&a, 1)], records: vec![], ..marking(&a, 1, None, Some("why")) };
    let other = Append { marks: marking(&b, 1, None, Some("why")).marks, ..batch(&[(&a, 1, 1)]) };
    let mut twice = marking(&a, 1, None, Some("why"));
    twice.marks.extend(twice.marks.clone());
    for bad in [silent, other, twice] {
        let error = ledger.append(&bad).unwrap_err();
        assert_eq!((error.kind, error.code), (Kind::Invalid, "bad_append"));
    }
    assert_eq!(ledger.frozen().unwrap(), []);
}

pub fn a_stream_that_does_not_exist_cannot_be_frozen<P: Place>(place: &P) {
    let (mut ledger, _) = open(place);
    done(&mut ledger, &batch(&[(&stream_in("t", "w", 1), 0, 1)]));
    for reason in [Some("why"), None] {
        let error = ledger.freeze(&stream_in("u", "w", 1), reason).unwrap_err();
        assert_eq!((error.kind, error.code), (Kind::NotFound, "stream_not_found"));
    }
    assert_eq!(ledger.frozen().unwrap(), []);
}

pub fn runs_are_found_by_the_start_of_their_id<P: Place>(place: &P) {
    let (mut ledger, _) = open(place);
    let run = |text: &str| RunId::parse(text).unwrap().0;
    let a = stream(run("abc0000000000000"));
    let b = stream_in("a", "z", run("abcd000000000000"));
    let same = stream_in("b", "a", run("abcd000000000000"));
    let z = stream(run("zzzzzzzzzzzzzzzz"));
    done(&mut ledger, &batch(&[(&z, 0, 1), (&same, 0, 1), (&b, 0, 1), (&a, 0, 1)]));
    for (prefix, limit, wanted) in [
        ("abc", 10, &[&a, &b, &same][..]),
        ("ABCD", 10, &[&b, &same]),
        ("abcd000000000000", 10, &[&b, &same]),
        ("abc", 1, &[&a]),
        ("zzzzzzzz", 10, &[&z]),
        ("", 10, &[&a, &b, &same, &z]),
        ("", 0, &[]),
        ("b", 10, &[]),
        ("ab%", 10, &[]),
        ("___", 10, &[]),
        ("abcd0000000000000", 10, &[]),
    ] {
        let found = ledger.find(prefix, limit).unwrap();
        assert_eq!(found.iter().collect::<Vec<_>>(), wanted, "{prefix:?}");
    }
}
