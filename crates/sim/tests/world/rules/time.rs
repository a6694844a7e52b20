//! Time: never early, once, also for what passed while nothing ran; and clocks that jump.

use edgewise_core::event::Event;
use edgewise_core::state::{RunState, TaskState};
use edgewise_core::time::{Millis, Time};
use edgewise_engine::command::Command;
use edgewise_sim::driver::{LEASE, World, boom};
use edgewise_sim::flows::{CHAIN, GATE, ONE, TIMEOUTS};
use edgewise_store::faulty::{Fault, Op};

fn fired(w: &World, run: edgewise_core::id::RunId) -> usize {
    w.witness.books[&run].entries.iter().filter(|e| matches!(e.event, Event::TimerFired(_))).count()
}

#[test]
fn a_timer_fires_once_and_not_before_its_time() {
    let mut w = World::new();
    let run = w.start("{ flow: f, tasks: { a: { gate: { timer: 20s } } } }");
    w.pass(Millis(19_999));
    assert_eq!(fired(&w, run), 0);
    w.pass(Millis(1));
    assert_eq!(fired(&w, run), 1);
    w.crash();
    w.pass(Millis(100_000));
    assert_eq!(fired(&w, run), 1);
    w.is(run, RunState::Complete);
}

#[test]
fn a_timer_that_passed_while_nothing_ran_fires_at_the_restart() {
    for flushed in [false, true] {
        let mut w = World::new();
        let run = w.start("{ flow: f, tasks: { a: { gate: { timer: 20s } } } }");
        if flushed {
            w.flush();
        }
        w.now = w.now.plus(Millis(86_400_000));
        w.crash();
        w.settle();
        w.is(run, RunState::Complete);
    }
}

#[test]
fn a_timer_that_met_a_busy_store_fires_later_and_holds_up_no_other() {
    let mut w = World::new();
    let plan = "{ flow: f, tasks: { a: { gate: { timer: 20s } } } }";
    let runs = [w.start(plan), w.start(plan)];
    w.flush();
    w.crash();
    w.faults.fail_next(Op::Load, Fault::Refused);
    w.now = w.now.plus(Millis(20_000));
    w.step(Vec::new());
    assert_eq!(runs.iter().filter(|r| w.run(**r).state.is_done()).count(), 1, "the other one is not held up");
    w.pass(Millis(5_000));
    runs.iter().for_each(|r| w.is(*r, RunState::Complete));
}

#[test]
fn a_retry_waits_as_declared_and_is_offered_then() {
    let mut w = World::new();
    let run = w.start(CHAIN);
    let a = w.claim_one("w").lease;
    w.report(a, Ok(())).unwrap();
    for attempt in 1..=3 {
        let b = w.claim_one("w").lease;
        assert_eq!(b.attempt, attempt);
        w.report(b, Err(boom())).unwrap();
        assert!(w.claim("w", 1).is_empty());
        w.pass(Millis(1_999));
        assert!(w.take().is_empty(), "not early");
        w.committer().drop_claims(|_| true);
        w.pass(Millis(1));
    }
    w.is(run, RunState::Error);
}

#[test]
fn a_gate_nobody_opens_follows_its_deadline() {
    let mut w = World::new();
    let run = w.start(GATE);
    let a = w.claim_one("w").lease;
    w.report(a, Ok(())).unwrap();
    let yes = w.gate_act(run, "ask", "ann");
    w.must(Command::Approve(yes.clone()));
    w.must(Command::Approve(yes));
    w.pass(Millis(59_999));
    assert_eq!(w.task(run, "ask"), TaskState::InProgress, "one person twice is one person");
    w.pass(Millis(1));
    assert_eq!(w.task(run, "ask"), TaskState::Complete);
}

#[test]
fn a_task_that_nobody_takes_in_time_fails_without_an_attempt() {
    let mut w = World::new();
    let run = w.start(TIMEOUTS);
    w.pass(Millis(39_999));
    assert_eq!(w.task(run, "b"), TaskState::Enqueued);
    w.pass(Millis(1));
    assert_eq!(w.task(run, "b"), TaskState::Error);
}

#[test]
fn the_rows_of_a_timer_that_was_set_anew_say_when_it_is_due_now() {
    let mut w = World::new();
    w.start("{ flow: f, tasks: { a: { action: work, timeout: { queue: 40s } } } }");
    w.flush();
    let lease = w.claim_one("w").lease;
    w.pass(Millis(10));
    w.must(Command::GiveBack(vec![lease]));
    w.flush();
}

#[test]
fn a_clock_that_jumps_back_makes_nothing_early_and_stops_nothing() {
    let mut w = World::new();
    let run = w.start(CHAIN);
    let a = w.claim_one("w").lease;
    w.now = Time(w.now.0 - 3_600_000);
    w.report(a, Ok(())).unwrap();
    let b = w.claim_one("w").lease;
    w.report(b, Err(boom())).unwrap();
    w.flush_if_due();
    w.pass(Millis(2_000));
    let b = w.claim_one("w").lease;
    w.report(b, Ok(())).unwrap();
    let c = w.claim_one("w").lease;
    w.pass(LEASE);
    assert_eq!(w.task(run, "c"), TaskState::WaitingForRetry);
    assert_eq!(c.attempt, 1);
}

#[test]
fn an_engine_with_nothing_to_do_does_nothing() {
    let mut w = World::new();
    let run = w.start(ONE);
    w.claim("w", 1);
    w.pass(Millis(1_000));
    assert!(w.writing.is_none());
    let (before, writes) = (w.faults.total(), w.faults.writes());
    w.must(Command::Heartbeat(vec![]));
    w.pass(Millis(20_000));
    assert_eq!(w.faults.writes(), writes, "no append, no flush");
    assert_eq!(w.faults.total(), before, "not even a read");
    assert_eq!(w.wake, Some(Time(1_000_000_000).plus(LEASE)), "it sleeps until the lease is over");
    assert_eq!(w.task(run, "a"), TaskState::InProgress);
}
