//! Keys and plans: used up or stored with the commit that names them, or not at all.

use super::Place;
use super::fixture::*;
use crate::ledger::{Appended, KeyOwner, Ledger, Position};

pub fn a_taken_key_leaves_nothing_and_tells_its_owner<P: Place>(place: &P) {
    let (mut ledger, _) = open(place);
    let (first, second) = (stream(1), stream(2));
    let mut sent = batch(&[(&first, 0, 1)]);
    sent.keys = vec![claim(&first, "order-7", u64::MAX)];
    done(&mut ledger, &sent);
    let owner = KeyOwner { run: first.run, body: u64::MAX };
    let mut again = batch(&[(&second, 0, 1)]);
    again.keys = vec![claim(&second, "free", 1), claim(&second, "order-7", 2)];
    again.plans = vec![plan("never").encode()];
    assert_eq!(ledger.append(&again).unwrap(), Appended::KeyTaken(owner.clone()));
    assert_eq!(ledger.head(&second).unwrap().seq, 0);
    assert_eq!(ledger.tail().unwrap(), Position(1));
    assert_eq!(ledger.plan(again.plans[0].0).unwrap(), None);
    assert_eq!(ledger.key(&claim(&second, "free", 1)).unwrap(), None);
    assert_eq!(ledger.key(&claim(&second, "order-7", 2)).unwrap(), Some(owner));
}

pub fn a_broken_guard_is_told_before_a_taken_key<P: Place>(place: &P) {
    let (mut ledger, _) = open(place);
    let a = stream(1);
    let mut sent = batch(&[(&a, 0, 1)]);
    sent.keys = vec![claim(&a, "k", 1)];
    done(&mut ledger, &sent);
    assert_eq!(ledger.append(&sent).unwrap(), Appended::Conflict(a));
}

pub fn the_same_key_in_another_workspace_is_free<P: Place>(place: &P) {
    let (mut ledger, _) = open(place);
    let walls = [stream_in("t", "w", 1), stream_in("t", "v", 2), stream_in("u", "w", 3)];
    for stream in &walls {
        let mut sent = batch(&[(stream, 0, 1)]);
        sent.keys = vec![claim(stream, "k", 1)];
        done(&mut ledger, &sent);
    }
    for stream in &walls {
        let owner = ledger.key(&claim(stream, "k", 9)).unwrap();
        assert_eq!(owner, Some(KeyOwner { run: stream.run, body: 1 }));
    }
}

pub fn the_key_of_a_commit_that_failed_is_still_free<P: Place>(place: &P) {
    let (mut ledger, _) = open(place);
    let a = stream(1);
    done(&mut ledger, &batch(&[(&a, 0, 1)]));
    let mut stale = batch(&[(&a, 0, 1)]);
    stale.keys = vec![claim(&a, "k", 1)];
    assert_eq!(ledger.append(&stale).unwrap(), Appended::Conflict(a.clone()));
    let mut fresh = batch(&[(&a, 1, 1)]);
    fresh.keys = vec![claim(&a, "k", 1)];
    done(&mut ledger, &fresh);
}

pub fn a_plan_is_stored_once_and_read_back<P: Place>(place: &P) {
    let (mut ledger, _) = open(place);
    let (hash, bytes) = plan("deploy").encode();
    let (other, _) = plan("other").encode();
    for (nth, stream) in [stream(1), stream(2)].iter().enumerate() {
        let mut sent = batch(&[(stream, 0, 1)]);
        // What is there stays, whatever comes later under the same hash.
        sent.plans = vec![(hash, if nth == 0 { bytes.clone() } else { b"other".to_vec() })];
        done(&mut ledger, &sent);
    }
    assert_eq!(ledger.plan(hash).unwrap(), Some(bytes.clone()));
    assert_eq!(ledger.plan(other).unwrap(), None);
    drop(ledger);
    assert_eq!(open(place).0.plan(hash).unwrap(), Some(bytes));
}
