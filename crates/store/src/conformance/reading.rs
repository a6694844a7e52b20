//! Reading back: whole, in order, in pages, and after reopening.

use super::Place;
use super::fixture::*;
use crate::ledger::{Append, Head, Ledger, Position, Stored};

pub fn what_was_committed_is_there_after_reopening<P: Place>(place: &P) {
    let (mut ledger, _) = open(place);
    let (a, b) = (stream(1), stream(2));
    done(&mut ledger, &batch(&[(&a, 0, 2), (&b, 0, 1)]));
    done(&mut ledger, &batch(&[(&a, 2, 1)]));
    let before = ledger.read_all(Position(0), 10).unwrap();
    drop(ledger);
    let (mut ledger, _) = open(place);
    assert_eq!(ledger.read_all(Position(0), 10).unwrap(), before);
    assert_eq!(ledger.head(&a).unwrap(), Head { seq: 3, last: id(&a, 3) });
    assert_eq!(done(&mut ledger, &batch(&[(&b, 1, 1)])), Position(4), "positions go on where they were");
}

pub fn reading_a_stream_in_pages_gives_every_record_once<P: Place>(place: &P) {
    let (mut ledger, _) = open(place);
    let (a, b) = (stream(1), stream(2));
    for seq in 0..10 {
        done(&mut ledger, &batch(&[(&b, seq, 1), (&a, seq * 3, 3)]));
    }
    let (mut after, mut firsts) = (0, vec![]);
    loop {
        let page = ledger.read(&a, after, 4).unwrap();
        assert!(page.len() <= 4 && page.iter().all(|s| s.stream == a));
        let Some(last) = page.last() else { break };
        after = last.record.last();
        firsts.extend(page.iter().map(|s| s.record.first));
    }
    assert_eq!(firsts, (0..10).map(|n| n * 3 + 1).collect::<Vec<_>>());
    assert_eq!(ledger.read(&a, 0, 0).unwrap(), []);
    assert_eq!(ledger.read(&a, 30, 10).unwrap(), []);
    assert_eq!(ledger.read(&a, u64::MAX, 10).unwrap(), []);
    assert_eq!(ledger.read(&a, 0, usize::MAX).unwrap().len(), 10);
}

pub fn reading_from_within_a_record_gives_that_record<P: Place>(place: &P) {
    let (mut ledger, _) = open(place);
    let a = stream(1);
    done(&mut ledger, &batch(&[(&a, 0, 3)]));
    done(&mut ledger, &batch(&[(&a, 3, 3)]));
    for (after, firsts) in [(0, &[1, 4][..]), (1, &[1, 4]), (2, &[1, 4]), (3, &[4]), (4, &[4]), (5, &[4]), (6, &[])] {
        let found: Vec<u64> = ledger.read(&a, after, 10).unwrap().iter().map(|s| s.record.first).collect();
        assert_eq!(found, firsts, "after {after}");
    }
}

pub fn reading_all_streams_in_pages_follows_the_positions<P: Place>(place: &P) {
    let (mut ledger, _) = open(place);
    let (a, b) = (stream(2), stream_in("other", "place", 1));
    for seq in 0..5 {
        done(&mut ledger, &batch(&[(&a, seq, 1), (&b, seq, 1)]));
    }
    let mut found: Vec<Stored> = vec![];
    loop {
        let page = ledger.read_all(found.last().map_or(Position(0), |s| s.position), 3).unwrap();
        assert!(page.len() <= 3);
        if page.is_empty() {
            break;
        }
        found.extend(page);
    }
    let order: Vec<_> = found.iter().map(|s| (s.position.0, s.stream.run.0, s.record.first)).collect();
    let wanted: Vec<_> = (0..5).flat_map(|n| [(2 * n + 1, 2, n + 1), (2 * n + 2, 1, n + 1)]).collect();
    assert_eq!(order, wanted);
    assert_eq!(ledger.read_all(Position(10), 3).unwrap(), []);
    assert_eq!(ledger.read_all(Position(u64::MAX), 3).unwrap(), []);
}

pub fn a_record_of_five_megabytes_comes_back_whole<P: Place>(place: &P) {
    let (mut ledger, _) = open(place);
    let a = stream(1);
    let mut large = Append::default();
    let text: String = (0..5 << 17).map(|n| format!("{n:08}")).collect();
    add(&mut large, &a, 0, 1, text.into_bytes());
    done(&mut ledger, &large);
    done(&mut ledger, &batch(&[(&a, 1, 1)]));
    drop(ledger);
    let found = open(place).0.read(&a, 0, 10).unwrap();
    assert_eq!(found.len(), 2);
    assert!(found[0].record == large.records[0].1, "the bytes differ");
    found[0].record.verify(&a.label()).unwrap();
}

pub fn text_of_any_kind_comes_back_byte_for_byte<P: Place>(place: &P) {
    let (mut ledger, _) = open(place);
    let a = stream(1);
    let texts = ["", "{}", "a\0b", "\u{feff}ä\u{1f980}", "'; DROP TABLE records; --", "\r\n\t \u{7f}", "007", "1e3"];
    for (seq, text) in (0..).zip(texts) {
        let mut one = Append::default();
        add(&mut one, &a, seq, 1, text.into());
        done(&mut ledger, &one);
    }
    for (stored, text) in ledger.read(&a, 0, 100).unwrap().iter().zip(texts) {
        assert_eq!(stored.record.bytes, text.as_bytes());
        stored.record.verify(&a.label()).unwrap();
    }
}
