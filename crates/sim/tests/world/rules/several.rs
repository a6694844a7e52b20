//! Several engines over one store: what one decided, another knows, or finds out before it refuses anybody.

use edgewise_core::id::RunId;
use edgewise_core::state::{RunState, TaskState};
use edgewise_core::time::{Millis, Time};
use edgewise_engine::command::{Answer, Beat, Claim, Command, LeaseRef, Rerun, RerunOf, RunAct, Supply, TaskAct};
use edgewise_engine::retention::Removing;
use edgewise_sim::driver::{LEASE, World, claim_of, name};
use edgewise_sim::flows::{CHAIN, GATE, LIMITED, ONE};
use edgewise_store::faulty::{Fault, Op};
use serde_json::value::RawValue;

/// Two engines that have the same run on their desks.
fn both(text: &str) -> (World, World, RunId) {
    let mut one = World::new();
    let run = one.start(text);
    let mut other = World::over(&one);
    let _ = other.ask(Command::Wait(run));
    (one, other, run)
}

/// The same, where one has granted a lease, and the other hears and writes down after twenty seconds that its worker lives.
fn heard_by_the_other(text: &str) -> (World, World, RunId, LeaseRef) {
    let (mut one, mut other, run) = both(text);
    let lease = one.claim_one("w").lease;
    one.flush();
    other.step(Vec::new());
    other.now = other.now.plus(Millis(20_000));
    other.beat(lease);
    other.flush();
    (one, other, run, lease)
}

#[test]
fn a_report_is_heard_by_an_engine_that_has_not_heard_of_the_lease() {
    let (mut one, mut other, _) = both(CHAIN);
    let lease = one.claim_one("w").lease;
    other.report(lease, Ok(())).unwrap();
    let next = other.claim_one("w").lease;
    one.report(next, Ok(())).unwrap();
}

#[test]
fn a_lease_is_given_back_at_an_engine_that_has_not_heard_of_it() {
    let (mut one, mut other, run) = both(ONE);
    let lease = one.claim_one("w").lease;
    other.must(Command::GiveBack(vec![lease]));
    assert_eq!(other.task(run, "a"), TaskState::Enqueued);
}

#[test]
fn already_means_that_it_is_so_in_the_ledger() {
    let (mut one, mut other, run) = both(ONE);
    let act = one.act(run);
    one.must(Command::Pause(act.clone()));
    assert!(matches!(other.must(Command::Resume(act.clone())), Answer::Done), "it was paused elsewhere");
    assert!(matches!(one.must(Command::Pause(act)), Answer::Done), "it was resumed elsewhere");
    assert!(one.run(run).paused);
}

#[test]
fn a_gate_that_was_reached_elsewhere_can_be_approved_here() {
    let (mut one, mut other, run) = both(GATE);
    let lease = one.claim_one("w").lease;
    one.report(lease, Ok(())).unwrap();
    let act = other.gate_act(run, "ask", "ann");
    other.must(Command::Approve(act));
}

#[test]
fn a_run_that_was_taken_away_elsewhere_is_not_loaded_from_rows_it_left() {
    let (mut one, mut other, run) = both(ONE);
    let act = one.act(run);
    one.must(Command::Cancel(act));
    one.flush();
    let _ = other.ask(Command::Wait(run));
    one.witness.rests = true;
    one.must(Command::Remove(Removing { runs: vec![run], keep_keys: Millis(0) }));
    let asked = Rerun { run, from: RerunOf::Start, by: name("op"), why: None };
    assert_eq!(other.must_fail(Command::Rerun(asked)).code, "run_not_found");
}

#[test]
fn rows_of_one_engine_do_not_claim_to_have_what_another_wrote() {
    let (mut one, mut other, _) = both(ONE);
    let hidden = other.start(ONE);
    one.flush();
    one.crash();
    let runs: Vec<_> = one.claim("w", 5).iter().map(|grant| grant.lease.run).collect();
    assert!(runs.contains(&hidden), "whoever comes up next finds it");
}

#[test]
fn what_was_read_of_others_is_kept_when_the_next_page_cannot_be_read() {
    let (mut one, mut other, _) = both(ONE);
    let hidden = other.start(ONE);
    let second = one.faults.count(Op::ReadAll) + 2;
    one.faults = one.faults.clone().fail_nth_of(Op::ReadAll, second, Fault::Refused);
    one.flush();
    one.flush();
    one.crash();
    let runs: Vec<_> = one.claim("w", 5).iter().map(|grant| grant.lease.run).collect();
    assert!(runs.contains(&hidden), "whoever comes up next finds it");
}

#[test]
fn a_lease_of_an_engine_that_lives_is_not_ended_by_one_that_loads_the_run() {
    for worker in ["w", "local/engine-1"] {
        let mut one = World::new();
        let run = one.start(ONE);
        let mut other = World::over(&one);
        let lease = one.claim_one(worker).lease;
        one.flush();
        let _ = other.ask(Command::Wait(run));
        other.pass(Millis(2_000));
        assert_eq!(other.task(run, "a"), TaskState::InProgress, "{worker}");
        one.now = other.now;
        one.report(lease, Ok(())).unwrap();
        one.is(run, RunState::Complete);
    }
}

#[test]
fn a_lease_that_is_kept_alive_at_one_engine_is_not_ended_by_another() {
    let mut one = World::new();
    let run = one.start(ONE);
    let mut other = World::over(&one);
    let lease = one.claim_one("w").lease;
    one.flush();
    let _ = other.ask(Command::Wait(run));
    for _ in 0..12 {
        one.now = one.now.plus(Millis(9_000));
        assert!(matches!(one.beat(lease), Beat::Continue(_)));
        one.flush();
        let span = one.now.since(other.now);
        other.pass(span);
        one.now = other.now;
    }
    one.report(lease, Ok(())).unwrap();
    one.is(run, RunState::Complete);
}

#[test]
fn a_lease_whose_row_was_never_written_is_ended_nowhere_before_its_worker_was_told() {
    let (mut one, mut other, run) = both(ONE);
    one.claim_one("w");
    other.step(Vec::new());
    other.flush();
    other.pass(Millis(LEASE.0 - 1));
    assert_eq!(other.task(run, "a"), TaskState::InProgress, "the ledger tells what was granted");
    other.pass(Millis(1));
    assert_eq!(other.task(run, "a"), TaskState::Error);
}

#[test]
fn a_worker_that_is_heard_elsewhere_is_not_lost_to_who_granted_its_lease() {
    let (mut one, mut other, run) = both(ONE);
    let lease = one.claim_one("w").lease;
    one.flush();
    for _ in 0..6 {
        other.pass(Millis(9_000));
        assert!(matches!(other.beat(lease), Beat::Continue(_)), "also by an engine that has to look for it first");
        other.flush();
        one.pass(Millis(9_000));
        assert_eq!(one.task(run, "a"), TaskState::InProgress);
    }
    one.pass(LEASE);
    assert_eq!(one.task(run, "a"), TaskState::Error, "then it is lost like any other");
}

#[test]
fn a_lease_is_kept_up_for_as_long_as_it_was_granted_whoever_hears_its_heartbeats() {
    for span in [Millis(3_000), Millis(300_000)] {
        let mut one = World::new();
        let run = one.start(ONE);
        one.send(vec![Command::Claim(Claim { lease: Some(span), ..claim_of("w", &["work"], 1) })]);
        let lease = one.take().remove(0).lease;
        one.flush();
        // It comes up after that, and finds the lease in the rows alone.
        let mut other = World::over(&one);
        other.now = other.now.plus(Millis(span.0 - 1_000));
        other.beat(lease);
        other.flush();
        assert_eq!(other.beat(lease), Beat::Continue(other.now.plus(span)), "neither longer nor shorter");
        one.pass(Millis(other.now.since(one.now).0 + span.0 - 1));
        assert_eq!(one.task(run, "a"), TaskState::InProgress, "{span:?}");
        one.pass(Millis(1));
        assert_eq!(one.task(run, "a"), TaskState::Error, "{span:?}");
    }
}

#[test]
fn of_leases_that_lapse_together_those_granted_anew_elsewhere_hold() {
    let flow = "{ flow: f, tasks: {
        a: { action: work, retry: { max_attempts: 2, jitter: 0 } },
        b: { action: work, retry: { max_attempts: 2, jitter: 0 } } } }";
    let (mut one, mut other, run) = both(flow);
    assert_eq!(one.claim("w", 2).len(), 2);
    // This one knows of the leases and has not their run at hand; the other ends both and grants them anew.
    one.faults.fail_next(Op::Flush, Fault::Refused);
    let loads = one.faults.count(Op::Load);
    for nth in [loads + 1, loads + 2] {
        one.faults = one.faults.clone().fail_nth_of(Op::Load, nth, Fault::Refused);
    }
    one.flush();
    other.step(Vec::new());
    other.pass(LEASE);
    other.pass(Millis(60_000));
    let again = other.claim("w", 2);
    assert!(again.len() == 2 && again.iter().all(|grant| grant.lease.attempt == 2));
    one.now = other.now;
    one.witness.rests = true;
    one.step(Vec::new());
    one.settle();
    for grant in again {
        other.report(grant.lease, Ok(())).unwrap();
    }
    other.is(run, RunState::Complete);
}

#[test]
fn a_worker_within_an_engine_is_told_what_another_one_ended() {
    for (supplied, removed) in [(false, false), (true, false), (true, true)] {
        let (mut one, mut other, run) = both(LIMITED);
        let lease = one.claim_one("local/engine-1").lease;
        let RunAct { run, by, why } = other.act(run);
        if supplied {
            let act = TaskAct { run, task: "a".into(), by, why };
            other.must(Command::Supply(Supply { act, output: RawValue::from_string("1".into()).unwrap() }));
        } else {
            other.must(Command::Cancel(RunAct { run, by, why }));
        }
        if removed {
            other.witness.rests = true;
            other.flush();
            other.must(Command::Remove(Removing { runs: vec![run], keep_keys: Millis(0) }));
        }
        one.witness.rests = true;
        one.start(LIMITED);
        assert!(one.claim("local/engine-1", 1).is_empty(), "it is still at work");
        let told: Vec<_> = one.revoked.iter().map(|(run, attempt)| (*run, attempt.token)).collect();
        // Of a run that was taken away no record tells: then its worker hears of it when it speaks.
        assert_eq!(told.contains(&(run, lease.token.hash())), !removed);
        one.report(lease, Ok(())).unwrap_err();
        assert_eq!(one.take().len(), 1, "{removed}");
    }
}

#[test]
fn a_worker_that_reported_to_one_engine_holds_no_slot_at_another() {
    let (mut one, mut other, _) = both(LIMITED);
    let lease = one.claim_one("w").lease;
    other.report(lease, Ok(())).unwrap();
    one.start(LIMITED);
    assert_eq!(one.claim("w", 1).len(), 1);
}

#[test]
fn a_worker_is_told_at_every_engine_how_long_it_has() {
    let (mut one, mut other, _, lease) = heard_by_the_other(ONE);
    let Beat::Continue(told) = other.beat(lease) else { panic!("it is at work") };
    one.pass(LEASE);
    assert_eq!(one.beat(lease), Beat::Continue(told), "it has looked by now");
}

#[test]
fn one_lease_that_is_over_elsewhere_does_not_keep_a_heartbeat_from_the_others() {
    let mut one = World::new();
    let mut other = World::over(&one);
    other.start(ONE);
    let kept = other.claim_one("w").lease;
    let run = one.start(ONE);
    let _ = other.ask(Command::Wait(run));
    let over = one.claim_one("w").lease;
    let act = one.act(run);
    one.must(Command::Freeze(act));
    let Answer::Beats(beats) = other.must(Command::Heartbeat(vec![over, kept])) else { panic!("no beats") };
    assert!(matches!(beats[..], [Beat::Cancel, Beat::Continue(_)]), "{beats:?}");
}

#[test]
fn a_lease_of_a_frozen_run_that_was_heard_elsewhere_holds_its_slot_until_then() {
    let (mut one, _, run, _) = heard_by_the_other(LIMITED);
    let act = one.act(run);
    one.must(Command::Freeze(act));
    one.start(LIMITED);
    one.pass(Millis(LEASE.0 + 1_000));
    assert!(one.claim("w", 1).is_empty(), "it may be at work");
    one.pass(Millis(20_000));
    assert_eq!(one.take().len(), 1);
}

#[test]
fn rows_of_an_engine_that_knows_less_do_not_take_back_what_a_worker_was_told() {
    let (mut one, mut other, run) = both(ONE);
    let lease = one.claim_one("w").lease;
    one.flush();
    // The other hears one heartbeat and writes it late; meanwhile the worker is told of more.
    other.beat(lease);
    other.writing = Some(other.committer().flush_all().unwrap());
    one.pass(Millis(20_000));
    one.beat(lease);
    one.flush();
    let Beat::Continue(told) = one.beat(lease) else { panic!("it is at work") };
    other.write();
    other.pass(Millis(told.since(other.now).0 - 1));
    assert_eq!(other.task(run, "a"), TaskState::InProgress);
}

#[test]
fn a_heartbeat_is_written_also_if_its_run_was_loaded_anew_before() {
    let (mut one, mut other, run) = both(CHAIN);
    let lease = one.claim_one("w").lease;
    other.step(Vec::new());
    one.flush();
    one.pass(Millis(20_000));
    one.beat(lease);
    // What somebody else wrote makes the engine load the run before it writes its rows.
    other.now = one.now;
    let act = other.act(run);
    other.must(Command::Pause(act));
    one.step(Vec::new());
    one.flush();
    assert_eq!(one.beat(lease), Beat::Continue(one.now.plus(LEASE)));
}

#[test]
fn whoever_waits_elsewhere_hears_the_end_at_the_next_look() {
    let (mut one, mut other, run) = both(ONE);
    let lease = one.claim_one("w").lease;
    one.report(lease, Ok(())).unwrap();
    let now = other.now;
    other.committer().sweep(now);
    other.step(Vec::new());
    assert!(other.answers.values().any(|a| matches!(a, Ok(Answer::Ended(RunState::Complete)))), "{run}");
}

#[test]
fn after_an_unknown_result_nobody_takes_the_commit_of_another_for_its_own() {
    let (mut one, mut other, run) = both(CHAIN);
    // Both clocks are behind the stream, so that chance alone tells their events apart.
    (one.now, other.now) = (Time(1_000), Time(1_000));
    (one.witness.rests, other.witness.rests) = (true, true);
    let act = one.act(run);
    other.faults.fail_next(Op::Append, Fault::AnswerLost { landed: false });
    one.must(Command::Pause(act.clone()));
    let answer = other.ask(Command::Cancel(act)).unwrap();
    let cancelled = one.reader().run(run).unwrap().cancel.is_some();
    assert_eq!(answer.is_ok(), cancelled, "what is answered is so");
}
