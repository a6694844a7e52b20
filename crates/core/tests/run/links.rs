//! Sub-runs in the fold: what a task with a child goes through, said by the facts of both streams.

use crate::driver::{Driver, action, name, plan, work};
use edgewise_core::event::{Event, Failure, LinkRef, LinkRequested, LinkResolved, RerunFrom, TaskIx};
use edgewise_core::fold::{Ignored, Verdict};
use edgewise_core::id::{PlanHash, RunId};
use edgewise_core::limits;
use edgewise_core::plan::{Join, OnFailure, Plan, Spec, SubRun, Timeouts, Work};
use edgewise_core::retry::Retry;
use edgewise_core::run::{DISOWNED, Run};
use edgewise_core::state::{RunState, TaskState};
use edgewise_core::time::Millis;
use serde_json::value::RawValue;

const ALL: Join = Join::All;

/// A spec for a sub-run with so many attempts.
pub fn sub_run(attempts: u16) -> Spec {
    let sub = SubRun { flow: name("child"), plan: PlanHash(7), with: Default::default() };
    let retry = Retry { max_attempts: attempts, jitter_percent: 0, ..Retry::default() };
    Spec { retry, ..work(Work::SubRun(sub)) }
}

fn one(spec: Spec) -> Plan {
    plan(
        &[("sub", spec, ALL), ("z", action(1), ALL)],
        &[(0, 1, edgewise_core::plan::Accepts::SUCCESS)],
        OnFailure::Continue,
    )
}

pub fn link(attempt: u16) -> LinkRef {
    LinkRef { task: TaskIx(0), generation: 1, attempt }
}

/// What is told of the child of an attempt.
pub fn told(d: &Driver, link: LinkRef, error: Option<Failure>) -> Event {
    let state = if error.is_some() { RunState::Error } else { RunState::Complete };
    let output = error.is_none().then(|| RawValue::from_string("5".into()).unwrap());
    Event::LinkResolved(LinkResolved { link, run: d.run.child(link), state, output, error })
}

fn failed() -> Failure {
    Failure::of_sub_run(RunId(3), &name("child"), Some(Failure::new("exit_1", "no")))
}

#[test]
fn a_sub_run_begins_without_a_lease_and_its_childs_output_is_its_own() {
    let mut d = Driver::planned(one(sub_run(1)));
    assert_eq!((d.state("sub"), d.run.leased), (TaskState::InProgress, 0));
    d.is(RunState::WaitingForDependencies);
    assert_eq!(d.run.outbox_row(TaskIx(0)).unwrap().action.as_str(), "edgewise/sub-run");
    let event = told(&d, link(1), None);
    assert_eq!(d.say(event.clone()), Verdict::Applied);
    assert_eq!((d.state("sub"), d.state("z")), (TaskState::Complete, TaskState::Enqueued));
    assert_eq!(*d.run.output(TaskIx(0)), 5);
    assert_eq!(d.say(event), Verdict::Ignored(Ignored::Stale), "it ends once");
    d.close();
}

#[test]
fn another_attempt_is_another_child() {
    let mut d = Driver::planned(one(sub_run(2)));
    let first = d.run.last_child(TaskIx(0)).unwrap();
    d.say(told(&d, link(1), Some(failed())));
    assert_eq!(d.state("sub"), TaskState::WaitingForRetry);
    d.fire_next();
    assert_eq!(d.state("sub"), TaskState::InProgress);
    assert_ne!(d.run.last_child(TaskIx(0)).unwrap(), first);
    assert_eq!(d.say(told(&d, link(1), None)), Verdict::Ignored(Ignored::Stale), "the first one is over");
    d.say(told(&d, link(2), Some(failed())));
    assert_eq!(d.run.failure_of(TaskIx(0)).map(|f| f.kind.as_str()), Some("SubRunFailed"));
    d.close();
}

#[test]
fn a_task_that_goes_on_without_its_child_remembers_it_until_it_is_over() {
    let ends: [fn(&mut Driver) -> Verdict; 4] =
        [|d| d.skip("sub"), |d| d.cancel_task("sub"), Driver::cancel, |d| d.complete("sub", "1")];
    for end in ends {
        let mut d = Driver::planned(one(sub_run(3)));
        let child = d.run.last_child(TaskIx(0)).unwrap();
        assert_eq!(end(&mut d), Verdict::Applied);
        assert_eq!(d.run.disowned.get(&link(1)), Some(&child));
        assert_eq!(d.run.disowned_row().unwrap().task, DISOWNED);
        let (state, output) = (d.state("sub"), d.run.output(TaskIx(0)).clone());
        assert_eq!(d.say(told(&d, link(1), None)), Verdict::Applied);
        assert!(d.run.disowned.is_empty() && d.run.disowned_row().is_none());
        assert_eq!((d.state("sub"), d.run.output(TaskIx(0)).clone()), (state, output), "nothing else of it counts");
        d.close();
    }
}

#[test]
fn a_child_that_takes_too_long_is_left_for_another_one() {
    let timeouts = Timeouts { attempt: Some(Millis(10)), overall: Some(Millis(60_000)), ..Timeouts::default() };
    let mut d = Driver::planned(one(Spec { timeouts, ..sub_run(2) }));
    d.fire_next();
    assert_eq!(d.state("sub"), TaskState::WaitingForRetry);
    assert!(d.run.disowned.contains_key(&link(1)));
    d.fire_next();
    assert_eq!(d.run.awaited(TaskIx(0)), Some(link(2)));
    d.say(told(&d, link(1), None));
    assert_eq!(d.state("sub"), TaskState::InProgress, "the first one is over, the second is waited for");
    d.fire_next();
    assert_eq!(d.run.failure_of(TaskIx(0)).map(|f| f.kind.as_str()), Some("timeout"));
    d.close();
}

#[test]
fn a_run_knows_who_waits_for_it_and_only_a_later_attempt_takes_it_over() {
    let asked = |task: u32, generation: u16| {
        let link = LinkRef { task: TaskIx(task), generation, attempt: 1 };
        Event::LinkRequested(LinkRequested { run: RunId(9), link, path: "sub".into(), depth: 1 })
    };
    let mut d = Driver::triggered(one(sub_run(1)));
    assert_eq!(d.say(asked(0, 1)), Verdict::Applied);
    assert_eq!(d.say(asked(0, 1)), Verdict::Ignored(Ignored::Duplicate));
    d.plan_it();
    assert!(matches!(d.say(asked(1, 2)), Verdict::Ignored(Ignored::Refused(_))), "another task's");
    assert_eq!(d.say(asked(0, 2)), Verdict::Applied);
    assert_eq!(d.say(asked(0, 1)), Verdict::Ignored(Ignored::Stale));
    let mut alone = Driver::planned(one(sub_run(1)));
    assert!(matches!(alone.say(asked(0, 1)), Verdict::Ignored(Ignored::Refused(_))), "nobody's");
}

#[test]
fn runs_are_nested_only_so_deep() {
    let mut d = Driver::triggered(one(sub_run(1)));
    let link = LinkRef { task: TaskIx(0), generation: 1, attempt: 1 };
    let asked = LinkRequested { run: RunId(9), link, path: "sub".into(), depth: limits::RUN_DEPTH };
    d.say(Event::LinkRequested(asked));
    d.plan_it();
    assert_eq!(d.run.failure_of(TaskIx(0)).map(|f| f.kind.as_str()), Some("too_deep"));
    d.close();
}

#[test]
fn what_a_childs_end_means_depends_on_how_it_ended() {
    let mut d = Driver::planned(plan(&[("a", action(1), ALL)], &[], OnFailure::Continue));
    let outcome = |run: &Run, retry: &Retry| run.outcome_for(retry).map_err(|f| (f.kind.clone(), f.retryable));
    let mut cancelled = d.clone();
    cancelled.cancel();
    let wanted = Retry { on: vec!["SubRunCancelled".into()], ..Retry::default() };
    assert_eq!(outcome(&cancelled.run, &Retry::default()), Err(("SubRunCancelled".into(), false)));
    assert_eq!(outcome(&cancelled.run, &wanted), Err(("SubRunCancelled".into(), true)), "the flow asks for it");
    let mut failed = d.clone();
    failed.fail("a");
    assert_eq!(outcome(&failed.run, &Retry::default()), Err(("SubRunFailed".into(), true)));
    d.ok_with("a", "[1]");
    assert_eq!(d.run.outcome_for(&Retry::default()), Ok(serde_json::json!({ "a": [1] })));
}

fn again(attempt: u16) -> LinkRef {
    LinkRef { generation: 2, ..link(attempt) }
}

#[test]
fn a_rerun_from_failure_waits_for_the_child_that_failed_and_a_retry_of_it_for_a_new_one() {
    let mut d = Driver::planned(one(sub_run(2)));
    d.say(told(&d, link(1), Some(failed())));
    d.fire_next();
    let second = d.run.child(link(2));
    d.say(told(&d, link(2), Some(failed())));
    assert_eq!(d.rerun(RerunFrom::Failure), Verdict::Applied);
    assert_eq!(d.run.awaited(TaskIx(0)), Some(again(1)));
    assert_eq!(d.run.last_child(TaskIx(0)), Some(second));
    d.say(told(&d, again(1), Some(failed())));
    d.fire_next();
    assert_eq!(d.run.last_child(TaskIx(0)), Some(RunId::child(d.run.id, 0, 2, 2)));
    d.say(told(&d, again(2), None));
    assert_eq!(d.state("z"), TaskState::Enqueued);
    d.close();
}

#[test]
fn only_a_rerun_from_a_childs_failure_goes_on_with_it() {
    let check = |failure: Failure, from: fn(&mut Driver) -> Verdict, same: bool| {
        let mut d = Driver::planned(one(sub_run(1)));
        let first = d.run.child(link(1));
        d.say(told(&d, link(1), Some(failure)));
        assert_eq!(from(&mut d), Verdict::Applied);
        assert_eq!(d.run.last_child(TaskIx(0)) == Some(first), same);
        d.close();
    };
    let from_failure: fn(&mut Driver) -> Verdict = |d| d.rerun(RerunFrom::Failure);
    check(failed(), from_failure, true);
    check(Failure::new("SubRunCancelled", "no"), from_failure, false);
    check(failed(), |d| d.rerun_task("sub"), false);
    check(failed(), |d| d.rerun(RerunFrom::Start), false);
}

#[test]
fn a_child_that_is_gone_is_replaced_in_the_same_attempt() {
    let mut d = Driver::planned(one(sub_run(1)));
    let gone = Failure::of_gone_sub_run(d.run.child(link(1)));
    d.say(told(&d, link(1), Some(failed())));
    d.rerun(RerunFrom::Failure);
    d.say(told(&d, again(1), Some(gone)));
    assert_eq!(d.run.awaited(TaskIx(0)), Some(again(1)));
    assert_eq!(d.run.last_child(TaskIx(0)), Some(RunId::child(d.run.id, 0, 2, 1)));
    d.say(told(&d, again(1), None));
    assert_eq!(d.state("sub"), TaskState::Complete);
    d.close();
}
