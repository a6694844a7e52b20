//! Leases: one winner, the first answer again, nothing for the late, and attempts that are spent only when begun.

use edgewise_core::Kind;
use edgewise_core::state::{RunState, TaskState};
use edgewise_core::time::{Millis, Time};
use edgewise_engine::command::{Answer, Beat, Claim, Command};
use edgewise_sim::driver::{LEASE, World, boom, claim_of, finish_of};
use edgewise_sim::flows::{CHAIN, LIMITED, ONE, SPREAD, TIMEOUTS};

use edgewise_store::faulty::{Fault, Op};

#[test]
fn of_two_claimers_of_one_task_one_wins_and_the_other_waits() {
    let mut w = World::new();
    let run = w.start(ONE);
    let claims = (0..8).map(|n| Command::Claim(claim_of(&format!("w{n}"), &["work"], 1))).collect();
    let numbers = w.send(claims);
    let answered: Vec<_> = numbers.iter().filter(|n| w.answers.contains_key(n)).collect();
    assert_eq!(answered.len(), 1, "exactly one of eight");
    assert_eq!(w.take().len(), 1);
    w.pass(Millis(1_000));
    assert!(w.take().is_empty() && w.run(run).leased == 1);
}

#[test]
fn claims_are_disjoint_whoever_asks_for_how_many() {
    let mut w = World::new();
    w.start(SPREAD);
    let list = w.claim_one("w");
    w.report(list.lease, Ok(())).unwrap();
    let mut tasks: Vec<_> = (0..3).flat_map(|n| w.claim(&format!("w{n}"), 2)).map(|g| g.lease.task).collect();
    assert_eq!(tasks.len(), 5);
    tasks.sort();
    tasks.dedup();
    assert_eq!(tasks.len(), 5, "no task twice");
}

#[test]
fn two_engines_over_one_ledger_give_a_task_out_once() {
    let mut one = World::new();
    let run = one.start(ONE);
    one.flush();
    let mut other = World::over(&one);
    let first = one.claim_one("w1");
    assert!(other.claim("w2", 1).is_empty(), "decided on an old seq, refused, decided anew");
    assert_eq!(one.run(run).leased, 1);
    one.report(first.lease, Ok(())).unwrap();
    one.is(run, RunState::Complete);
}

#[test]
fn a_report_repeated_after_a_lost_answer_gets_the_first_answer() {
    for head_too in [false, true] {
        let mut w = World::new();
        let run = w.start(ONE);
        let lease = w.claim_one("w").lease;
        w.faults.fail_next(Op::Append, Fault::AnswerLost { landed: true });
        if head_too {
            w.faults.fail_next(Op::Head, Fault::Refused);
        }
        let first = w.ask(finish_of(lease, Ok(()))).unwrap();
        assert_eq!(first.is_err(), head_too, "what can be read back is answered");
        w.report(lease, Ok(())).unwrap();
        w.crash();
        w.report(lease, Ok(())).unwrap();
        w.is(run, RunState::Complete);
        assert_eq!(w.run(run).seq, 4, "trigger, plan, lease, finish");
    }
}

#[test]
fn a_report_about_a_run_that_cannot_be_read_now_is_to_be_made_again() {
    let mut w = World::new();
    let run = w.start(ONE);
    let lease = w.claim_one("local/engine-1").lease;
    // The rows cannot be written, and then the run can be read neither at once nor at the report.
    w.faults.fail_next(Op::Flush, Fault::Refused);
    w.faults = w.faults.clone().fail_nth_of(Op::Load, 1, Fault::Refused).fail_nth_of(Op::Load, 2, Fault::Refused);
    w.flush();
    assert_eq!(w.must_fail(finish_of(lease, Ok(()))).kind, Kind::Unavailable, "a worker must not take this for heard");
    w.report(lease, Ok(())).unwrap();
    w.is(run, RunState::Complete);
}

#[test]
fn another_outcome_for_an_attempt_that_is_over_is_stale() {
    let mut w = World::new();
    let run = w.start(CHAIN);
    let lease = w.claim_one("w").lease;
    w.report(lease, Ok(())).unwrap();
    let error = w.report(lease, Err(boom())).unwrap_err();
    assert_eq!((error.kind, error.code), (Kind::Stale, "attempt_over"));
    let mut forged = lease;
    forged.token.0 ^= 1;
    assert_eq!(w.report(forged, Ok(())).unwrap_err().kind, Kind::Stale);
    assert_eq!(w.task(run, "a"), TaskState::Complete);
}

#[test]
fn a_lost_worker_ends_as_worker_lost_is_retried_and_comes_too_late() {
    let mut w = World::new();
    let run = w.start("{ flow: f, tasks: { a: { action: work, retry: { max_attempts: 2, jitter: 0 } } } }");
    let zombie = w.claim_one("w1");
    w.pass(Millis(LEASE.0 - 1));
    assert_eq!(w.task(run, "a"), TaskState::InProgress, "not a moment before the deadline");
    w.pass(Millis(1));
    assert_eq!(w.task(run, "a"), TaskState::WaitingForRetry);
    assert_eq!(w.run(run).failure_of(zombie.lease.task).unwrap().kind, "worker_lost");
    assert_eq!(w.revoked.len(), 1, "the worker is told");
    assert_eq!(w.report(zombie.lease, Ok(())).unwrap_err().kind, Kind::Stale);
    w.pass(Millis(1_000));
    let again = w.claim_one("w2");
    assert_eq!(again.lease.attempt, 2);
    assert_eq!(w.report(zombie.lease, Ok(())).unwrap_err().kind, Kind::Stale);
    w.report(again.lease, Ok(())).unwrap();
    w.is(run, RunState::Complete);
}

#[test]
fn a_flow_may_ask_for_heartbeats_more_often_than_the_lease_does() {
    let mut w = World::new();
    let run = w.start("{ flow: f, tasks: { a: { action: work, retry: 1, timeout: { heartbeat: 2s } } } }");
    let lease = w.claim_one("w").lease;
    w.pass(Millis(1_999));
    assert!(matches!(w.beat(lease), Beat::Continue(_)));
    w.pass(Millis(1_999));
    assert_eq!(w.task(run, "a"), TaskState::InProgress);
    w.pass(Millis(1));
    assert_eq!(w.run(run).failure_of(lease.task).unwrap().kind, "worker_lost");
}

#[test]
fn an_attempt_that_takes_too_long_ends_as_timeout_whatever_its_heartbeats_say() {
    let mut w = World::new();
    let run = w.start(TIMEOUTS);
    let lease = w.claim_one("w").lease;
    w.pass(Millis(4_999));
    assert!(matches!(w.beat(lease), Beat::Continue(_)));
    w.pass(Millis(1));
    assert_eq!(w.run(run).failure_of(lease.task).unwrap().kind, "timeout");
    assert_eq!(w.beat(lease), Beat::Cancel);
}

#[test]
fn a_heartbeat_moves_the_deadline_and_a_stale_one_is_told_to_stop() {
    let mut w = World::new();
    let run = w.start(ONE);
    let lease = w.claim_one("w").lease;
    let appends = w.appends();
    let mut stored = w.now.plus(LEASE);
    for _ in 0..10 {
        w.pass(Millis(20_000));
        assert_eq!(w.beat(lease), Beat::Continue(stored), "never later than any engine would know");
        w.flush();
        stored = w.now.plus(LEASE);
        assert_eq!(w.beat(lease), Beat::Continue(stored), "it is written by now");
    }
    assert_eq!(w.appends(), appends, "a heartbeat is no event");
    assert_eq!(w.task(run, "a"), TaskState::InProgress, "a healthy long task lives");
    let mut forged = lease;
    forged.token.0 ^= 1;
    assert_eq!(w.beat(forged), Beat::Cancel);
    w.pass(LEASE);
    assert_eq!(w.task(run, "a"), TaskState::Error);
    assert_eq!(w.beat(lease), Beat::Cancel);
}

#[test]
fn a_lease_given_back_is_offered_again_and_spends_no_attempt() {
    let mut w = World::new();
    let run = w.start(ONE);
    for _ in 0..5 {
        let lease = w.claim_one("w").lease;
        assert_eq!(lease.attempt, 1);
        w.must(Command::GiveBack(vec![lease]));
        assert_eq!(w.report(lease, Ok(())).unwrap_err().kind, Kind::Stale, "what was given back is not held");
        w.must(Command::GiveBack(vec![lease]));
    }
    let lease = w.claim_one("w").lease;
    w.report(lease, Ok(())).unwrap();
    w.is(run, RunState::Complete);
}

#[test]
fn giving_back_what_is_unknown_does_not_keep_the_rest() {
    let mut w = World::new();
    let run = w.start(ONE);
    let lease = w.claim_one("w").lease;
    let mut unknown = lease;
    unknown.run.0 ^= 1;
    w.ask(Command::GiveBack(vec![unknown, lease]));
    assert_eq!(w.task(run, "a"), TaskState::Enqueued);
}

#[test]
fn a_claim_that_names_an_action_twice_takes_nothing_with_it() {
    let mut w = World::new();
    w.send(vec![Command::Claim(claim_of("w", &["work", "work"], 1))]);
    w.start(ONE);
    assert_eq!(w.take().len(), 1);
    w.start(ONE);
    assert_eq!(w.claim("other", 1).len(), 1, "the answered claim left nothing behind that swallows offers");
}

#[test]
fn a_claim_for_nothing_is_given_nothing() {
    let mut w = World::new();
    let run = w.start(ONE);
    let error = w.must_fail(Command::Claim(claim_of("w", &["work"], 0)));
    assert_eq!(error.kind, Kind::Invalid);
    assert_eq!(w.run(run).leased, 0);
}

#[test]
fn claims_of_workers_that_left_are_not_served() {
    let mut w = World::new();
    let gone = w.send(vec![Command::Claim(claim_of("gone", &["work"], 1))])[0];
    w.committer().drop_claims(|no| *no == gone);
    let run = w.start(ONE);
    assert!(w.take().is_empty() && w.run(run).leased == 0);
    assert_eq!(w.claim("w", 1).len(), 1);
}

#[test]
fn a_task_that_nobody_can_do_stays_ready_and_holds_up_nobody() {
    let mut w = World::new();
    let run = w.start("{ flow: f, tasks: { a: { action: unheard }, b: { action: work } } }");
    assert_eq!(w.claim("w", 5).len(), 1);
    w.pass(Millis(60_000_000));
    assert_eq!(w.task(run, "a"), TaskState::Enqueued);
}

#[test]
fn after_a_restart_local_leases_are_over_at_once_and_others_hold_for_ten_seconds_or_their_deadline() {
    for flushed in [false, true] {
        let mut w = World::new();
        let local = w.start("{ flow: f, tasks: { a: { action: work, retry: { max_attempts: 2, jitter: 0 } } } }");
        w.claim_one("local/engine-1");
        let remote = w.start(ONE);
        let lease = w.claim_one("w").lease;
        if flushed {
            w.flush();
        }
        w.pass(Millis(25_000));
        w.crash();
        w.settle();
        assert_eq!(w.task(local, "a"), TaskState::WaitingForRetry, "its worker died with the engine");
        w.pass(Millis(9_999));
        assert_eq!(w.task(remote, "a"), TaskState::InProgress, "its worker had no chance to be heard yet");
        assert!(matches!(w.beat(lease), Beat::Continue(_)), "it is still at work");
        w.flush();
        let Beat::Continue(until) = w.beat(lease) else { panic!("it is still at work") };
        w.pass(until.since(w.now));
        assert_eq!(w.task(remote, "a"), TaskState::Error, "then it is lost like any other");
    }
}

#[test]
fn after_a_restart_a_stored_deadline_holds() {
    let mut w = World::new();
    let run = w.start(ONE);
    w.claim_one("w");
    w.flush();
    w.crash();
    w.pass(Millis(LEASE.0 - 1));
    assert_eq!(w.task(run, "a"), TaskState::InProgress);
    w.pass(Millis(1));
    assert_eq!(w.task(run, "a"), TaskState::Error);
}

#[test]
fn after_a_restart_a_lease_holds_as_long_as_its_worker_was_told() {
    let mut w = World::new();
    let run = w.start(ONE);
    let long = Claim { lease: Some(Millis(300_000)), ..claim_of("w", &["work"], 1) };
    w.send(vec![Command::Claim(long)]);
    let lease = w.take().remove(0).lease;
    w.pass(Millis(200_000));
    w.beat(lease);
    w.flush();
    let Beat::Continue(told) = w.beat(lease) else { panic!("it is at work") };
    w.now = Time(told.0 - 60_000);
    w.crash();
    w.pass(Millis(59_999));
    assert_eq!(w.task(run, "a"), TaskState::InProgress, "the deadline its heartbeat was answered with");
    w.pass(Millis(1));
    assert_eq!(w.task(run, "a"), TaskState::Error);
}

#[test]
fn leases_found_at_a_restart_survive_a_store_that_is_busy_then() {
    let mut w = World::new();
    let run = w.start(ONE);
    w.claim_one("w");
    w.flush();
    w.faults.fail_next(Op::Load, Fault::Refused);
    w.crash();
    w.pass(Millis(60_000));
    assert_eq!(w.task(run, "a"), TaskState::Error, "somebody watches over it");
}

#[test]
fn a_grant_that_could_not_be_delivered_is_returned_unspent() {
    for worker in ["local/engine-1", "w"] {
        let mut w = World::new();
        let run = w.start(ONE);
        w.faults.fail_next(Op::Append, Fault::AnswerLost { landed: true });
        w.faults.fail_next(Op::Head, Fault::Refused);
        assert!(w.claim(worker, 1).is_empty(), "whether it is there is not known");
        w.pass(Millis(1_000));
        let grants = w.take();
        assert_eq!(grants.len(), 1, "the claim waited on, and the only attempt was not spent");
        w.report(grants[0].lease, Ok(())).unwrap();
        w.is(run, RunState::Complete);
    }
}

#[test]
fn a_lease_that_changed_hands_in_an_unknown_commit_is_not_mistaken_for_the_old_one() {
    let mut w = World::new();
    let run = w.start(ONE);
    let lease = w.claim_one("local/engine-1").lease;
    w.send(vec![Command::Claim(claim_of("w2", &["work"], 1))]);
    w.faults.fail_next(Op::Append, Fault::AnswerLost { landed: true });
    w.faults.fail_next(Op::Head, Fault::Refused);
    w.ask(Command::GiveBack(vec![lease]));
    assert_eq!(w.beat(lease), Beat::Cancel, "it was given back");
    w.pass(Millis(60_000));
    assert_ne!(w.task(run, "a"), TaskState::InProgress, "somebody watches over the new lease");
}

#[test]
fn a_lease_ended_by_a_commit_in_doubt_is_told_to_its_worker_who_holds_its_slot_until_it_stops() {
    let mut w = World::new();
    let run = w.start(LIMITED);
    let lease = w.claim_one("local/engine-1").lease;
    w.start(LIMITED);
    w.faults.fail_next(Op::Append, Fault::AnswerLost { landed: true });
    w.faults.fail_next(Op::Head, Fault::Refused);
    let act = w.act(run);
    assert_eq!(w.must_fail(Command::Cancel(act)).kind, Kind::Unavailable);
    w.pass(Millis(1_000));
    assert_eq!(w.task(run, "a"), TaskState::Cancelled, "it was written");
    let told: Vec<_> = w.revoked.iter().map(|(run, attempt)| (*run, attempt.token)).collect();
    assert_eq!(told, [(run, lease.token.hash())]);
    assert!(w.claim("local/engine-1", 1).is_empty(), "it is still at work");
    w.report(lease, Ok(())).unwrap_err();
    assert_eq!(w.take().len(), 1);
}

#[test]
fn without_rows_a_worker_has_as_long_to_be_heard_as_it_was_given() {
    let mut w = World::new();
    let run = w.start(ONE);
    w.send(vec![Command::Claim(Claim { lease: Some(Millis(300_000)), ..claim_of("w", &["work"], 1) })]);
    let lease = w.take().remove(0).lease;
    w.pass(Millis(200_000));
    w.beat(lease);
    w.flush();
    w.now = w.now.plus(Millis(110_000));
    w.lose_rows();
    w.pass(Millis(100_000));
    assert!(matches!(w.beat(lease), Beat::Continue(_)), "it speaks every hundred seconds");
    w.flush();
    w.pass(Millis(299_999));
    assert_eq!(w.task(run, "a"), TaskState::InProgress);
    w.pass(Millis(1));
    assert_eq!(w.task(run, "a"), TaskState::Error);
}

#[test]
fn what_an_engine_gives_without_rows_holds_at_the_next_one() {
    let mut w = World::new();
    let run = w.start(ONE);
    let lease = w.claim_one("w").lease;
    w.pass(Millis(20_000));
    w.beat(lease);
    w.flush();
    let Beat::Continue(told) = w.beat(lease) else { panic!("it is at work") };
    w.lose_rows();
    w.flush();
    w.crash();
    w.pass(Millis(told.since(w.now).0 - 1));
    assert_eq!(w.task(run, "a"), TaskState::InProgress, "as it was told before the rows were lost");
    w.pass(Millis(1));
    assert_eq!(w.task(run, "a"), TaskState::Error);
}

#[test]
fn a_worker_elsewhere_that_calls_itself_local_is_not_lost_with_the_engine() {
    let mut w = World::new();
    let run = w.start(ONE);
    w.send(vec![Command::Claim(Claim { lease: Some(LEASE), ..claim_of("local/laptop", &["work"], 1) })]);
    let lease = w.take().remove(0).lease;
    w.crash();
    w.settle();
    assert_eq!(w.task(run, "a"), TaskState::InProgress, "it was told how long");
    w.report(lease, Ok(())).unwrap();
}

#[test]
fn a_grant_made_anew_to_the_same_worker_keeps_nothing_of_the_one_that_came_back() {
    for late in [false, true] {
        let mut w = World::new();
        let run = w.start(ONE);
        w.send(vec![Command::Claim(Claim { lease: Some(Millis(3_600_000)), ..claim_of("w", &["work"], 1) })]);
        let lease = w.take().remove(0).lease;
        match late {
            false => w.flush(),
            true => w.writing = Some(w.committer().flush_all().unwrap()),
        }
        w.send(vec![Command::GiveBack(vec![lease]), Command::Claim(claim_of("w", &["work"], 1))]);
        let anew = w.take().remove(0).lease;
        w.flush();
        assert_eq!(w.beat(anew), Beat::Continue(w.now.plus(LEASE)), "{late}");
        w.pass(LEASE);
        assert_eq!(w.task(run, "a"), TaskState::Error, "{late}");
    }
}

#[test]
fn ready_work_is_offered_again_after_a_restart() {
    for flushed in [false, true] {
        let mut w = World::new();
        let run = w.start(ONE);
        if flushed {
            w.flush();
        }
        w.crash();
        let lease = w.claim_one("w").lease;
        w.report(lease, Ok(())).unwrap();
        w.is(run, RunState::Complete);
    }
}

#[test]
fn work_is_offered_again_when_its_run_could_not_be_read_at_the_grant() {
    let mut w = World::new();
    w.start(ONE);
    w.flush();
    w.crash();
    w.faults.fail_next(Op::Load, Fault::Refused);
    assert!(w.claim("w", 1).is_empty());
    w.pass(Millis(5_000));
    assert_eq!(w.take().len(), 1);
}

#[test]
fn a_result_and_the_next_claim_are_one_append() {
    let mut w = World::new();
    w.start(CHAIN);
    let mut lease = w.claim_one("w").lease;
    for _ in 0..2 {
        let before = w.appends();
        w.send(vec![finish_of(lease, Ok(())), Command::Claim(claim_of("w", &["work"], 1))]);
        lease = w.take()[0].lease;
        assert_eq!(w.appends(), before + 1);
    }
}

#[test]
fn answers_to_a_batch_that_did_not_land_are_refusals() {
    let mut w = World::new();
    let run = w.start(ONE);
    let lease = w.claim_one("w").lease;
    for fault in [Fault::Refused, Fault::DiskFull, Fault::AnswerLost { landed: false }] {
        w.faults.fail_next(Op::Append, fault);
        assert_eq!(w.must_fail(finish_of(lease, Ok(()))).kind, Kind::Unavailable);
        assert_eq!(w.task(run, "a"), TaskState::InProgress);
    }
    w.faults.fail_next(Op::Append, Fault::Conflict);
    assert!(matches!(w.must(finish_of(lease, Ok(()))), Answer::Completed(_)), "a conflict is decided anew");
    w.is(run, RunState::Complete);
}
