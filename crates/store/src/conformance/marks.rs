//! Freeze marks, and finding a run by the start of its id.

use super::Place;
use super::fixture::*;
use crate::ledger::{Append, Appended, Guard, Ledger};
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
