//! Stores that fail: nothing is lost, nothing spins, and what could not be read is read later.

use edgewise_core::Kind;
use edgewise_core::state::RunState;
use edgewise_core::time::Millis;
use edgewise_engine::command::Command;
use edgewise_sim::driver::{World, claim_of, finish_of};
use edgewise_sim::flows::{CHAIN, ONE, SPREAD};
use edgewise_store::Projections;
use edgewise_store::faulty::{Fault, Op};

#[test]
fn a_full_disk_makes_nobody_spin() {
    let mut w = World::new();
    w.start(SPREAD);
    for n in 1..1_000 {
        let next = w.faults.count(Op::Append) + n;
        w.faults = w.faults.clone().fail_nth_of(Op::Append, next, Fault::DiskFull);
    }
    let before = w.appends();
    w.claim("w", 1);
    w.settle();
    assert!(w.appends() - before < 5, "{} tries at one instant", w.appends() - before);
    assert!(w.wake.is_some_and(|at| at > w.now), "it is tried again later");
    w.faults.calm();
    w.pass(Millis(5_000));
    assert_eq!(w.take().len(), 1);
}

#[test]
fn rows_never_claim_to_have_what_could_not_be_read() {
    let mut w = World::new();
    let hidden = w.start(ONE);
    // Its rows cannot be written, and then it cannot be read either.
    w.faults.fail_next(Op::Flush, Fault::Refused);
    w.faults.fail_next(Op::Load, Fault::Refused);
    w.flush();
    w.faults.fail_next(Op::Load, Fault::Refused);
    let seen = w.start(ONE);
    w.flush();
    assert!(w.rows.load(&edgewise_sim::driver::home().stream(seen)).unwrap().is_some());
    w.crash();
    let runs: Vec<_> = w.claim("w", 5).iter().map(|g| g.lease.run).collect();
    assert!(runs.contains(&hidden), "the next engine finds it in the ledger");
}

#[test]
fn a_store_that_is_busy_when_rows_are_due_does_not_end_the_engine() {
    let mut w = World::new();
    w.start(ONE);
    w.now = w.now.plus(Millis(50));
    w.faults.fail_next(Op::Tail, Fault::Refused);
    w.flush_if_due();
    w.pass(Millis(1_000));
    assert_eq!(w.rows.watermark().unwrap().0, 1, "they are written the next time");
}

#[test]
fn a_flush_that_failed_costs_a_reload_and_no_fact() {
    for fault in [Fault::Refused, Fault::Conflict, Fault::AnswerLost { landed: true }, Fault::DiskFull] {
        let mut w = World::new();
        let run = w.start(CHAIN);
        let lease = w.claim_one("local/engine-1").lease;
        w.faults.fail_next(Op::Flush, fault);
        w.flush();
        w.settle();
        w.report(lease, Ok(())).unwrap();
        w.flush();
        let row = w.rows.load(&edgewise_sim::driver::home().stream(run)).unwrap().unwrap().run;
        assert_eq!(row.applied_seq, w.run(run).seq);
    }
}

#[test]
fn rows_written_while_the_run_moves_on_or_ends_are_caught_up_later() {
    for text in [CHAIN, ONE] {
        let mut w = World::new();
        let run = w.start(text);
        w.writing = Some(w.committer().flush_all().unwrap());
        let lease = w.claim_one("w").lease;
        w.report(lease, Ok(())).unwrap();
        w.write();
        w.flush();
        let row = w.rows.load(&edgewise_sim::driver::home().stream(run)).unwrap().unwrap().run;
        assert_eq!(row.applied_seq, w.run(run).seq);
    }
}

#[test]
fn a_long_spread_goes_on_after_a_restart_that_found_the_store_busy() {
    let items = (0..20_001).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    let text = format!("{{ flow: f, tasks: {{ a: {{ each: [{items}], action: work }} }} }}");
    let mut w = World::unwatched();
    let run = w.start(&text);
    w.flush();
    w.faults.fail_next(Op::Load, Fault::Refused);
    w.crash();
    w.pass(Millis(5_000));
    assert_eq!(w.reader().run(run).unwrap().total(), 20_002);
}

#[test]
fn a_failed_sync_ends_the_engine_and_nothing_was_answered() {
    for landed in [false, true] {
        let mut w = World::new();
        let run = w.start(ONE);
        let lease = w.claim_one("w").lease;
        w.faults.fail_next(Op::Append, Fault::SyncFailed { landed });
        assert!(w.ask(finish_of(lease, Ok(()))).is_none());
        assert_eq!(w.lives, 2, "another engine came up");
        w.report(lease, Ok(())).unwrap();
        w.is(run, RunState::Complete);
    }
}

#[test]
fn many_conflicts_are_told_as_busy_and_lose_nothing() {
    let mut w = World::new();
    let run = w.start(ONE);
    w.send(vec![Command::Claim(claim_of("w", &["none"], 1))]);
    for n in 1..=5 {
        w.faults = w.faults.clone().fail_nth_of(Op::Append, w.faults.count(Op::Append) + n, Fault::Conflict);
    }
    let act = w.act(run);
    let busy = w.must_fail(Command::Pause(act.clone()));
    assert_eq!((busy.kind, busy.code), (Kind::Unavailable, "too_busy"), "whoever asked comes again");
    w.must(Command::Pause(act));
    assert!(w.run(run).paused);
}
