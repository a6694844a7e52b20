//! Taking whole streams away: nothing of them is found, everything else is as before, and their keys are kept.

use super::Place;
use super::fixture::*;
use crate::domain::Space;
use crate::ledger::{Append, Appended, Gone, KeyOwner, Ledger, Position, Removal, Stream};
use crate::projections::Projections;
use edgewise_core::id::RunId;
use edgewise_core::state::RunState;
use edgewise_core::time::Time;

fn gone(stream: &Stream, seq: u64, key: Option<&str>) -> Gone {
    Gone {
        stream: stream.clone(),
        seq,
        state: RunState::Cancelled,
        ended_at: Time(2_000),
        removed_at: Time(3_000),
        key: key.map(str::to_owned),
        until: Time(9_000),
    }
}

fn taken(ledger: &mut impl Ledger, streams: Vec<Gone>, at: u64) -> usize {
    ledger.remove(&Removal { streams, at: Time(at), work_keys: None }).unwrap().taken
}

pub fn a_stream_that_was_taken_away_is_not_found_and_the_others_stay<P: Place>(place: &P) {
    let (mut ledger, _) = open(place);
    let (a, b, c) = (stream(1), stream(2), stream_in("other", "place", 1));
    for seq in 0..3 {
        done(&mut ledger, &batch(&[(&a, seq, 1), (&b, seq, 1), (&c, seq, 1)]));
    }
    let others = (ledger.read(&a, 0, 10).unwrap(), ledger.read(&c, 0, 10).unwrap());
    ledger.freeze(&b, Some("damage")).unwrap();
    assert_eq!(taken(&mut ledger, vec![gone(&b, 3, None)], 0), 1);
    for _ in 0..2 {
        assert_eq!(ledger.head(&b).unwrap().seq, 0);
        assert_eq!(ledger.read(&b, 0, 10).unwrap(), []);
        assert_eq!(ledger.find("", 10).unwrap(), [a.clone(), c.clone()]);
        assert_eq!(ledger.frozen().unwrap(), []);
        assert_eq!((ledger.read(&a, 0, 10).unwrap(), ledger.read(&c, 0, 10).unwrap()), others);
        assert_eq!(ledger.gone(&b).unwrap(), Some(gone(&b, 3, None)));
        assert_eq!(ledger.gone(&a).unwrap(), None);
        ledger = open(place).0;
    }
    assert_eq!(taken(&mut ledger, vec![gone(&b, 3, None)], 0), 1, "one that is not there any more counts as taken");
    done(&mut ledger, &batch(&[(&b, 0, 1)]));
    assert_eq!(ledger.read(&b, 0, 10).unwrap().len(), 1, "the name is free again");
}

pub fn a_stream_that_has_moved_on_is_left_as_it_is<P: Place>(place: &P) {
    let (mut ledger, _) = open(place);
    let (a, b) = (stream(1), stream(2));
    done(&mut ledger, &batch(&[(&a, 0, 2), (&b, 0, 1)]));
    let mut sent = batch(&[(&a, 2, 1)]);
    sent.keys = vec![claim(&a, "k", 1)];
    done(&mut ledger, &sent);
    assert_eq!(taken(&mut ledger, vec![gone(&a, 2, Some("k")), gone(&b, 1, None)], u64::MAX), 1);
    assert_eq!(ledger.head(&a).unwrap().seq, 3);
    assert_eq!(ledger.gone(&a).unwrap(), None);
    assert_eq!(ledger.key(&claim(&a, "k", 1)).unwrap(), Some(KeyOwner { run: a.run, body: 1 }));
}

pub fn positions_go_on_behind_what_was_taken_away<P: Place>(place: &P) {
    let (mut ledger, _) = open(place);
    let (a, b) = (stream(1), stream(2));
    done(&mut ledger, &batch(&[(&a, 0, 1)]));
    for seq in 0..3 {
        done(&mut ledger, &batch(&[(&b, seq, 1)]));
    }
    assert_eq!(ledger.holes().unwrap(), 0);
    taken(&mut ledger, vec![gone(&b, 3, None)], 0);
    for look in 0..2 {
        assert_eq!(ledger.tail().unwrap(), Position(4), "look {look}");
        assert_eq!(ledger.holes().unwrap(), 3, "look {look}");
        let all: Vec<u64> = ledger.read_all(Position(0), 10).unwrap().iter().map(|s| s.position.0).collect();
        assert_eq!(all, [1], "look {look}");
        assert_eq!(ledger.read_all(Position(4), 10).unwrap(), []);
        ledger = open(place).0;
        taken(&mut ledger, vec![], 0);
    }
    assert_eq!(done(&mut ledger, &batch(&[(&a, 1, 1)])), Position(5));
    taken(&mut ledger, vec![], 0);
    assert_eq!((ledger.tail().unwrap(), ledger.holes().unwrap()), (Position(5), 3));
    taken(&mut ledger, vec![gone(&a, 2, None)], 0);
    assert_eq!((ledger.tail().unwrap(), ledger.holes().unwrap()), (Position(5), 5));
    assert_eq!(ledger.read_all(Position(0), 10).unwrap(), []);
    assert_eq!(done(&mut ledger, &batch(&[(&stream(3), 0, 1)])), Position(6));
}

pub fn a_long_stream_is_given_back_in_steps_and_never_seen_in_part<P: Place>(place: &P) {
    let (mut ledger, _) = open(place);
    let (long, short) = (stream(1), stream(2));
    let records = 2_500;
    for seq in 0..records {
        done(&mut ledger, &batch(&[(&long, seq, 1)]));
    }
    done(&mut ledger, &batch(&[(&short, 0, 1)]));
    taken(&mut ledger, vec![gone(&long, records, None)], 0);
    for n in 0..4 {
        assert_eq!(ledger.find("", 10).unwrap(), std::slice::from_ref(&short));
        assert_eq!(ledger.read_all(Position(0), 10).unwrap().len(), 1);
        assert_eq!(ledger.holes().unwrap(), records + n);
        // A new stream must not find old records under the number it is given.
        let next = stream(100 + u128::from(n));
        done(&mut ledger, &batch(&[(&next, 0, 1)]));
        assert_eq!(ledger.read(&next, 0, 10).unwrap().len(), 1);
        taken(&mut ledger, vec![gone(&next, 1, None)], 0);
    }
    assert!(!ledger.remove(&Removal::default()).unwrap().more, "all of it is given back by now");
}

pub fn a_key_is_kept_as_long_as_was_said_and_then_free<P: Place>(place: &P) {
    let (mut ledger, _) = open(place);
    let (a, b) = (stream(1), stream(2));
    let mut sent = batch(&[(&a, 0, 1)]);
    sent.keys = vec![claim(&a, "order-7", 5)];
    done(&mut ledger, &sent);
    taken(&mut ledger, vec![gone(&a, 1, Some("order-7"))], 8_999);
    let mut again = batch(&[(&b, 0, 1)]);
    again.keys = vec![claim(&b, "order-7", 5)];
    for at in [0, 8_999] {
        taken(&mut ledger, vec![], at);
        let owner = KeyOwner { run: a.run, body: 5 };
        assert_eq!(ledger.append(&again).unwrap(), Appended::KeyTaken(owner), "at {at}");
        assert!(ledger.gone(&a).unwrap().is_some(), "at {at}");
    }
    taken(&mut ledger, vec![], 9_000);
    assert_eq!(ledger.gone(&a).unwrap(), None);
    done(&mut ledger, &again);
    assert_eq!(ledger.key(&claim(&a, "order-7", 5)).unwrap(), Some(KeyOwner { run: b.run, body: 5 }));
}

pub fn rows_of_runs_that_are_gone_go_with_the_flush<P: Place>(place: &P) {
    let (_, mut rows) = open(place);
    let (a, b, c) = (stream(1), stream(2), stream(3));
    rows.flush(&flush(vec![change(&a, 0, 1), change(&b, 0, 1)], 0)).unwrap();
    let mut both = flush(vec![change(&a, 1, 2)], 0);
    both.gone = vec![b.clone(), c.clone()];
    rows.flush(&both).unwrap();
    assert_eq!(rows.load(&a).unwrap().unwrap().run.applied_seq, 2);
    assert_eq!(rows.load(&b).unwrap(), None);
    let mut stale = flush(vec![change(&c, 3, 4)], 0);
    stale.gone = vec![a.clone()];
    assert_eq!(rows.flush(&stale).unwrap_err().code, "projection_moved");
    assert!(rows.load(&a).unwrap().is_some(), "all of it or nothing");
}

pub fn keys_of_the_work_graph_are_free_once_their_time_is_over<P: Place>(place: &P) {
    let (mut ledger, _) = open(place);
    let (work, elsewhere) = (stream(RunId::WORK.0), stream_in("other", "place", RunId::WORK.0));
    let run = stream(1);
    let claims = [claim(&work, "work:a", 1), claim(&work, "work:b", 2), claim(&run, "order-7", 3)];
    for (seq, (at, claim)) in [(1_000, &claims[0]), (2_000, &claims[1])].into_iter().enumerate() {
        let mut sent = Append { at: Time(at), ..batch(&[(&work, seq as u64, 1)]) };
        sent.keys = vec![claim.clone()];
        done(&mut ledger, &sent);
    }
    let (theirs, mut sent) =
        (claim(&elsewhere, "work:a", 4), Append { at: Time(1_000), ..batch(&[(&run, 0, 1), (&elsewhere, 0, 1)]) });
    sent.keys = vec![claims[2].clone(), theirs.clone()];
    done(&mut ledger, &sent);
    let space = Space { tenant: work.tenant.clone(), workspace: work.workspace.clone() };
    for (until, left) in [(999, [true, true, true]), (1_000, [false, true, true]), (u64::MAX, [false, false, true])] {
        for _ in 0..2 {
            let removal = Removal { work_keys: Some((space.clone(), Time(until))), ..Removal::default() };
            assert!(!ledger.remove(&removal).unwrap().more);
            let found = claims.each_ref().map(|claim| ledger.key(claim).unwrap().is_some());
            assert_eq!(found, left, "until {until}");
            assert!(ledger.key(&theirs).unwrap().is_some(), "another workspace is not looked at");
            ledger = open(place).0;
        }
    }
}
