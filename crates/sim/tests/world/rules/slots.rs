//! Slots and offers where two things happen at once: in one commit, or under two engines.

use edgewise_core::time::Millis;
use edgewise_engine::command::Command;
use edgewise_sim::driver::{LEASE, World, boom, claim_of, finish_of};
use edgewise_sim::flows::LIMITED;
use edgewise_store::faulty::{Fault, Op};

#[test]
fn a_lease_that_is_reported_and_lapses_in_one_commit_frees_one_slot() {
    let mut world = World::new();
    for _ in 0..3 {
        world.start(LIMITED);
    }
    let first = world.claim_one("w");
    world.now = world.now.plus(Millis(LEASE.0 + 1));
    world.send(vec![finish_of(first.lease, Ok(())), Command::Claim(claim_of("v", &["work"], 9))]);
    assert_eq!(world.take().len(), 1);
}

#[test]
fn a_worker_that_stops_in_the_commit_that_revokes_its_lease_is_not_waited_for() {
    let mut world = World::new();
    let run = world.start(LIMITED);
    let second = world.start(LIMITED);
    let first = world.claim_one("local/engine-1/w");
    let cancel = Command::Cancel(world.act(run));
    world.send(vec![cancel, finish_of(first.lease, Ok(()))]);
    let next = world.claim("v", 1);
    assert_eq!(next.iter().map(|grant| grant.lease.run).collect::<Vec<_>>(), [second]);
}

#[test]
fn what_a_run_holds_that_cannot_be_read_now_is_not_given_away() {
    let mut one = World::new();
    let mut other = World::over(&one);
    one.start(LIMITED);
    other.start(LIMITED);
    one.claim_one("w");
    let loads = other.faults.count(Op::Load);
    (1..=9).for_each(|n| drop(other.faults.clone().fail_nth_of(Op::Load, loads + n, Fault::Refused)));
    assert!(other.claim("v", 1).is_empty(), "nobody knows what the run holds");
    other.faults.calm();
    other.step(Vec::new());
    assert!(other.take().is_empty(), "it holds the key");
}

#[test]
fn an_old_offer_leaves_that_of_a_later_attempt_in_line() {
    let mut one = World::new();
    one.start("{ flow: f, tasks: { a: { action: work, retry: 2 } } }");
    one.flush();
    // It has the offer from the rows, and never looked at the run itself.
    let mut other = World::over(&one);
    let first = one.claim_one("w");
    one.report(first.lease, Err(boom())).unwrap();
    one.pass(Millis(600_000));
    (other.now, other.witness.rests) = (one.now, true);
    assert_eq!(other.claim_one("v").lease.attempt, 2);
}
