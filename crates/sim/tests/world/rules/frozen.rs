//! Freeze: nothing is decided on a frozen run, by whichever engine; its rows and its workers' slots are kept all the same.

use edgewise_core::id::RunId;
use edgewise_core::state::{RunState, TaskState};
use edgewise_core::time::Millis;
use edgewise_engine::command::{Answer, Beat, Command};
use edgewise_sim::driver::{LEASE, World};
use edgewise_sim::flows::{CHAIN, ONE};
use edgewise_store::RunFilter;

const LIMITED: &str = "{ flow: f, tasks: { a: { action: work, limit: { key: '\"k\"', max: 1 } } } }";
/// Longer than from one sweep to the next.
const SWEEP: Millis = Millis(6_000);

fn freeze(world: &mut World, run: RunId) {
    let act = world.act(run);
    assert!(matches!(world.must(Command::Freeze(act)), Answer::Done));
}

fn unfreeze(world: &mut World, run: RunId) {
    let act = world.act(run);
    assert!(matches!(world.must(Command::Unfreeze(act)), Answer::Done));
}

/// Two engines that have the same run on their desks.
fn both(text: &str) -> (World, World, RunId) {
    let mut one = World::new();
    let run = one.start(text);
    let mut other = World::over(&one);
    let _ = other.ask(Command::Wait(run));
    (one, other, run)
}

fn has_row(world: &World, run: RunId) -> bool {
    let rows = world.reader().runs(&RunFilter { limit: 10, ..RunFilter::default() }).unwrap();
    rows.iter().any(|row| row.id == run)
}

#[test]
fn rows_that_were_behind_when_a_run_was_frozen_are_written() {
    let mut w = World::new();
    let run = w.start(ONE);
    freeze(&mut w, run);
    w.flush();
    assert!(has_row(&w, run), "whoever lists runs sees it");
    w.crash();
    assert!(has_row(&w, run));
}

#[test]
fn rows_of_a_frozen_run_that_its_engine_did_not_write_are_written_by_the_next() {
    let mut w = World::new();
    let run = w.start(ONE);
    freeze(&mut w, run);
    w.crash();
    w.flush();
    assert!(has_row(&w, run));
}

#[test]
fn whoever_works_for_a_frozen_run_is_told_to_stop_and_holds_its_slot_until_its_lease_is_over() {
    for crash in [false, true] {
        let mut w = World::new();
        w.witness.watches_marks = true;
        let run = w.start(LIMITED);
        let first = w.claim_one("w");
        let waiting = w.start(LIMITED);
        freeze(&mut w, run);
        if crash {
            w.crash();
        }
        assert!(matches!(w.beat(first.lease), Beat::Cancel));
        assert_eq!(w.report(first.lease, Ok(())).unwrap_err().code, "run_frozen");
        assert_eq!(w.claim("w", 1).len(), 0, "the worker may still be at work");
        w.pass(LEASE);
        w.pass(LEASE);
        let next = w.take();
        assert_eq!(next.iter().map(|grant| grant.lease.run).collect::<Vec<_>>(), [waiting]);
        assert_eq!(w.task(run, "a"), TaskState::InProgress, "nothing of the frozen run moved");
    }
}

#[test]
fn a_frozen_run_goes_on_where_it_was() {
    let mut w = World::new();
    let run = w.start(CHAIN);
    let lease = w.claim_one("w").lease;
    freeze(&mut w, run);
    unfreeze(&mut w, run);
    w.report(lease, Ok(())).unwrap();
    assert_eq!(w.claim("w", 1).len(), 1);
}

#[test]
fn an_engine_that_has_not_heard_of_the_freeze_writes_nothing() {
    let (mut one, mut other, run) = both(CHAIN);
    let lease = one.claim_one("w").lease;
    freeze(&mut one, run);
    assert_eq!(other.report(lease, Ok(())).unwrap_err().code, "run_frozen");
    assert_eq!(other.task(run, "a"), TaskState::InProgress);
    let act = other.act(run);
    assert_eq!(other.must_fail(Command::Pause(act)).code, "run_frozen");
}

#[test]
fn already_frozen_means_that_the_ledger_says_so() {
    let (mut one, mut other, run) = both(ONE);
    let act = one.act(run);
    freeze(&mut one, run);
    assert!(matches!(other.must(Command::Freeze(act.clone())), Answer::Already));
    unfreeze(&mut other, run);
    assert!(matches!(one.must(Command::Unfreeze(act)), Answer::Already));
    let lease = one.claim_one("w").lease;
    one.report(lease, Ok(())).unwrap();
    one.is(run, RunState::Complete);
}

#[test]
fn a_run_that_was_let_go_on_elsewhere_is_gone_on_with_although_that_engine_died() {
    let (mut one, mut other, run) = both(ONE);
    freeze(&mut one, run);
    let act = other.act(run);
    assert_eq!(other.must_fail(Command::Pause(act)).code, "run_frozen");
    unfreeze(&mut one, run);
    drop(one);
    other.claim("w", 1);
    other.pass(SWEEP);
    let now = other.now;
    other.committer().sweep(now);
    other.settle();
    let _ = other.ask(Command::Wait(run));
    let granted = other.take();
    assert_eq!(granted.len(), 1, "the sweep found it");
}
