//! Finished work that is asked for again, in an engine: what is answered, and that nothing of it is lost.

use edgewise_core::Kind;
use edgewise_core::id::RunId;
use edgewise_core::state::{RunState, TaskState};
use edgewise_core::time::Millis;
use edgewise_engine::command::{Answer, Beat, Command, Rerun, RerunOf};
use edgewise_sim::driver::{World, boom, name};
use edgewise_sim::flows::CHAIN;

/// `a -> b -> c`, each with one attempt.
const LINE: &str = "{ flow: f, defaults: { retry: 1 }, tasks: { a: { action: work }, b: { after: a, action: work }, \
                    c: { after: b, action: work } } }";

fn rerun(run: RunId, from: RerunOf) -> Command {
    Command::Rerun(Rerun { run, from, by: name("op"), why: Some("fixed".into()) })
}

fn opened(answer: Answer) -> u32 {
    match answer {
        Answer::Reopened(tasks) => tasks,
        other => panic!("{other:?}"),
    }
}

fn do_one(w: &mut World, outcome: Result<(), edgewise_core::event::Failure>) {
    let lease = w.claim_one("w").lease;
    w.report(lease, outcome).unwrap();
}

/// A run that failed at its second task.
fn failed(w: &mut World) -> RunId {
    let run = w.start(LINE);
    do_one(w, Ok(()));
    do_one(w, Err(boom()));
    w.is(run, RunState::Error);
    run
}

#[test]
fn a_failed_run_goes_on_from_what_failed_whoever_dies_in_between() {
    for (flush, crash) in [(false, false), (false, true), (true, true)] {
        let mut w = World::new();
        let run = failed(&mut w);
        if flush {
            w.flush();
        }
        assert_eq!(opened(w.must(rerun(run, RerunOf::Failure))), 2);
        if crash {
            w.crash();
        }
        let grant = w.claim_one("w");
        assert_eq!((grant.path.as_str(), grant.lease.generation, grant.lease.attempt), ("b", 2, 1));
        assert!(grant.key().ends_with("/b/2"), "no key of an attempt is used twice");
        w.report(grant.lease, Ok(())).unwrap();
        do_one(&mut w, Ok(()));
        w.is(run, RunState::Complete);
        w.flush();
        w.crash();
        assert_eq!(opened(w.must(rerun(run, RerunOf::Start))), 3, "also of a run that is only in its rows");
    }
}

#[test]
fn leases_of_what_follows_are_over_at_once() {
    let mut w = World::new();
    let run = w.start(LINE);
    do_one(&mut w, Ok(()));
    let old = w.claim_one("w").lease;
    assert_eq!(opened(w.must(rerun(run, RerunOf::Task("a".into())))), 2);
    assert_eq!(w.revoked.len(), 1, "its worker is told");
    assert_eq!(w.beat(old), Beat::Cancel);
    assert_eq!(w.report(old, Ok(())).unwrap_err().kind, Kind::Stale);
    for _ in 0..3 {
        do_one(&mut w, Ok(()));
    }
    w.is(run, RunState::Complete);
}

#[test]
fn a_cancelled_run_goes_on_where_it_was_cancelled() {
    let mut w = World::new();
    let run = w.start(LINE);
    do_one(&mut w, Ok(()));
    let act = w.act(run);
    w.must(Command::Cancel(act.clone()));
    w.crash();
    assert_eq!(opened(w.must(rerun(run, RerunOf::Failure))), 2);
    do_one(&mut w, Ok(()));
    assert!(matches!(w.must(Command::Cancel(act)), Answer::Done), "and can be cancelled again");
    w.is(run, RunState::Cancelled);
}

#[test]
fn what_cannot_be_done_again_is_refused_with_the_better_choice() {
    let mut w = World::new();
    let run = w.start(CHAIN);
    let said = |error: edgewise_core::Error| (error.kind, error.code, error.message);
    let (kind, code, message) = said(w.must_fail(rerun(run, RerunOf::Start)));
    assert_eq!((kind, code), (Kind::Conflict, "not_over"));
    assert!(message.contains("rerun one of its tasks, or cancel it first"), "{message}");
    let (kind, code, message) = said(w.must_fail(rerun(run, RerunOf::Task("nobody".into()))));
    assert_eq!((kind, code), (Kind::NotFound, "task_not_found"));
    assert!(message.contains("edgewise show"), "{message}");
    assert_eq!(w.must_fail(rerun(run, RerunOf::Failure)).kind, Kind::Conflict);
    assert_eq!(w.must_fail(rerun(RunId(99), RerunOf::Failure)).kind, Kind::NotFound);
}

#[test]
fn whoever_waits_is_told_of_the_end_after_it() {
    let mut w = World::new();
    let run = failed(&mut w);
    opened(w.must(rerun(run, RerunOf::Failure)));
    let waits = w.send(vec![Command::Wait(run)])[0];
    assert!(!w.answers.contains_key(&waits));
    do_one(&mut w, Ok(()));
    do_one(&mut w, Ok(()));
    assert!(matches!(w.answers.remove(&waits), Some(Ok(Answer::Ended(RunState::Complete)))));
}

#[test]
fn a_spread_that_is_done_anew_is_loaded_from_its_rows() {
    let text = "{ flow: f, defaults: { retry: 1 }, tasks: { a: { action: work }, s: { after: a, each: [1, 2], as: n, \
                action: work }, z: { after: s, action: work } } }";
    let mut w = World::new();
    let run = w.start(text);
    for _ in 0..4 {
        do_one(&mut w, Ok(()));
    }
    w.is(run, RunState::Complete);
    assert_eq!(opened(w.must(rerun(run, RerunOf::Task("a".into())))), 3, "what is in the spread is made anew");
    for _ in 0..2 {
        do_one(&mut w, Ok(()));
        w.flush();
        w.crash();
    }
    assert_eq!(w.task(run, "s[0]"), TaskState::Complete);
    for _ in 0..2 {
        do_one(&mut w, Ok(()));
    }
    w.pass(Millis(1_000));
    w.flush();
    w.is(run, RunState::Complete);
    assert_eq!(w.run(run).counts[TaskState::Complete as usize], 5);
}
