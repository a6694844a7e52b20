//! What people ask of runs, and what they are told.

use edgewise_core::Kind;
use edgewise_core::id::RunId;
use edgewise_core::state::{RunState, TaskState};
use edgewise_core::time::Millis;
use edgewise_engine::command::{Answer, Beat, Command, Start};
use edgewise_sim::driver::{World, boom, finish_of, start_of};
use edgewise_sim::flows::{CHAIN, DIAMOND, GATE, ONE, SPREAD, flow};
use edgewise_store::faulty::{Fault, Op};

#[test]
fn after_a_cancel_nothing_is_given_out_and_nothing_is_retried() {
    let mut w = World::new();
    let run = w.start(SPREAD);
    let lease = w.claim_one("w").lease;
    w.report(lease, Ok(())).unwrap();
    let at_work = w.claim("w", 2);
    w.report(at_work[0].lease, Err(boom())).unwrap();
    let act = w.act(run);
    w.must(Command::Cancel(act.clone()));
    w.is(run, RunState::Cancelled);
    assert_eq!(w.revoked.len(), 1, "the worker at work is told");
    assert_eq!(w.beat(at_work[1].lease), Beat::Cancel);
    assert_eq!(w.report(at_work[1].lease, Ok(())).unwrap_err().kind, Kind::Stale);
    w.crash();
    assert!(w.claim("w", 9).is_empty());
    w.pass(Millis(600_000));
    assert!(w.take().is_empty());
    assert!(matches!(w.must(Command::Cancel(act)), Answer::Already));
    assert!(w.run(run).edges.iter().all(|e| *e != 0), "every edge is resolved");
    assert!(w.run(run).tasks.iter().all(|t| t.completed_at.known().is_some()));
}

#[test]
fn a_report_after_a_cancel_is_late_even_if_it_fails_as_the_attempt_before_did() {
    let mut w = World::new();
    let run = w.start("{ flow: f, tasks: { a: { action: work, retry: { max_attempts: 3, jitter: 0 } } } }");
    let first = w.claim_one("w").lease;
    w.report(first, Err(boom())).unwrap();
    w.pass(Millis(1_000));
    let second = w.claim_one("w").lease;
    let act = w.act(run);
    w.must(Command::Cancel(act));
    assert_eq!(w.report(second, Err(boom())).unwrap_err().kind, Kind::Stale);
}

#[test]
fn a_paused_run_gets_no_leases_and_a_resumed_one_does() {
    for crash in [false, true] {
        let mut w = World::new();
        let run = w.start(ONE);
        let act = w.act(run);
        w.must(Command::Pause(act.clone()));
        assert!(w.claim("w", 1).is_empty());
        if crash {
            w.flush();
            w.crash();
            assert!(w.claim("w", 1).is_empty());
        }
        w.must(Command::Resume(act));
        assert_eq!(w.take().len(), 1);
    }
}

#[test]
fn the_same_key_gives_the_same_run_and_another_body_is_refused() {
    let mut w = World::new();
    let keyed = |text: &str| Start { key: Some("order-7".into()), ..start_of(&flow(text)) };
    let both = w.send(vec![Command::Start(keyed(ONE)), Command::Start(keyed(ONE))]);
    let mut runs: Vec<(RunId, bool)> = Vec::new();
    for no in both {
        let Some(Ok(Answer::Started { run, new })) = w.answers.remove(&no) else { panic!("both are accepted") };
        runs.push((run, new));
    }
    assert_eq!(runs[0].0, runs[1].0);
    assert_eq!((runs[0].1, runs[1].1), (true, false));
    w.crash();
    assert!(matches!(w.must(Command::Start(keyed(ONE))), Answer::Started { run, new: false } if run == runs[0].0));
    let error = w.must_fail(Command::Start(keyed(CHAIN)));
    assert_eq!((error.kind, error.code), (Kind::Conflict, "key_taken"));
    assert_eq!(w.witness.books.len(), 1);
}

#[test]
fn a_start_whose_answer_was_lost_is_found_again_by_its_key() {
    for head_too in [false, true] {
        let mut w = World::new();
        let start = Start { key: Some("k".into()), ..start_of(&flow(ONE)) };
        w.faults.fail_next(Op::Append, Fault::AnswerLost { landed: true });
        if head_too {
            w.faults.fail_next(Op::Head, Fault::Refused);
        }
        w.ask(Command::Start(start.clone()));
        assert!(matches!(w.must(Command::Start(start)), Answer::Started { new: false, .. }));
        assert_eq!(w.claim("w", 5).len(), 1, "it is there once, and moves");
    }
}

#[test]
fn what_is_said_of_things_that_do_not_exist_is_refused() {
    let mut w = World::new();
    let run = w.start(GATE);
    let nowhere = w.act(RunId(1));
    assert_eq!(w.must_fail(Command::Cancel(nowhere)).kind, Kind::NotFound);
    assert_eq!(w.must_fail(Command::Wait(RunId(1))).kind, Kind::NotFound);
    let no_gate = w.gate_act(run, "nothing", "ann");
    assert_eq!(w.must_fail(Command::Approve(no_gate)).kind, Kind::NotFound);
    let mut lease = w.claim_one("w").lease;
    lease.task.0 = 77;
    assert_eq!(w.report(lease, Ok(())).unwrap_err().kind, Kind::NotFound);
}

#[test]
fn whoever_waits_for_a_run_hears_its_end_in_the_commit_that_ends_it() {
    let mut w = World::new();
    let run = w.start(ONE);
    let lease = w.claim_one("w").lease;
    let waits = w.send(vec![Command::Wait(run), Command::Wait(run)]);
    w.report(lease, Ok(())).unwrap();
    for no in waits {
        assert!(matches!(w.answers.remove(&no), Some(Ok(Answer::Ended(RunState::Complete)))));
    }
    assert!(matches!(w.must(Command::Wait(run)), Answer::Ended(RunState::Complete)));
}

#[test]
fn whoever_waits_hears_the_end_also_when_its_commit_was_in_doubt() {
    let mut w = World::new();
    let run = w.start(ONE);
    let lease = w.claim_one("w").lease;
    let no = w.send(vec![Command::Wait(run)])[0];
    w.faults.fail_next(Op::Append, Fault::AnswerLost { landed: true });
    w.faults.fail_next(Op::Head, Fault::Refused);
    w.ask(finish_of(lease, Ok(())));
    w.pass(Millis(1_000));
    assert!(matches!(w.answers.remove(&no), Some(Ok(Answer::Ended(RunState::Complete)))));
}

#[test]
fn one_failed_task_does_not_stop_independent_branches() {
    let mut w = World::new();
    let run = w.start(DIAMOND);
    let a = w.claim_one("w").lease;
    w.report(a, Ok(())).unwrap();
    let branches = w.claim("w", 2);
    let left = branches.iter().find(|g| g.path == "left").unwrap().lease;
    let right = branches.iter().find(|g| g.path == "right").unwrap().lease;
    let never = edgewise_core::event::Failure { retryable: false, ..boom() };
    w.report(left, Err(never)).unwrap();
    assert_eq!(w.task(run, "left"), TaskState::Error, "a worker may narrow");
    assert_eq!(w.claim_one("w").path, "mend", "its handler runs at once");
    w.report(right, Ok(())).unwrap();
    assert_eq!(w.claim_one("w").path, "join");
}

#[test]
fn a_run_that_is_damaged_freezes_alone_and_says_so() {
    let mut w = World::new();
    let (bad, good) = (w.start(CHAIN), w.start(CHAIN));
    w.flush();
    w.crash();
    w.faults.fail_next(Op::Load, Fault::Damaged);
    let act = w.act(bad);
    assert_eq!(w.must_fail(Command::Pause(act.clone())).kind, Kind::Corrupt);
    assert_eq!(w.must_fail(Command::Pause(act.clone())).code, "run_frozen");
    let grants = w.claim("w", 5);
    assert_eq!(grants.len(), 1, "nothing of it is given out");
    assert_eq!(grants[0].lease.run, good);
    w.crash();
    assert_eq!(w.must_fail(Command::Pause(act)).code, "run_frozen", "also after a restart");
    w.report(grants[0].lease, Ok(())).unwrap();
    assert_eq!(w.claim("w", 5).len(), 1, "the other one goes on");
}

#[test]
fn a_record_with_a_wrong_bit_is_found_when_the_engine_starts_and_the_others_go_on() {
    let mut w = World::new();
    let runs = [w.start(ONE), w.start(ONE), w.start(ONE)];
    let no = w.send(vec![Command::Wait(runs[0])])[0];
    assert!(!w.answers.contains_key(&no));
    // What is read first when an engine starts are the workspace's own two streams.
    w.faults.fail_after(Op::Read, 2, Fault::Damaged);
    w.crash();
    let granted = w.claim("w", 5);
    assert_eq!(granted.len(), 2);
    let frozen = runs.iter().find(|r| granted.iter().all(|g| g.lease.run != **r)).unwrap();
    assert_eq!(w.must_fail(Command::Wait(*frozen)).code, "run_frozen");
}

#[test]
fn a_wrong_bit_behind_the_rows_is_found_by_its_checksum() {
    let mut w = World::new();
    let run = w.start(ONE);
    w.flush();
    w.claim_one("w");
    // What is read first when an engine starts are the workspace's own two streams.
    w.faults.fail_after(Op::Read, 2, Fault::Damaged);
    w.crash();
    let frozen = w.reader().frozen(run).unwrap().expect("it is frozen");
    assert!(frozen.contains("checksum"), "{frozen}");
    w.pass(Millis(600_000));
    assert_eq!(w.task(run, "a"), TaskState::InProgress, "and nothing of it is guessed");
}
