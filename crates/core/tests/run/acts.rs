//! What an operator may do to a run, state by state: allowed with its result, or refused with its reason.

use crate::driver::{Driver, STALE, Sketch, action, approval, name};
use edgewise_core::event::{Event, Request, Unfrozen};
use edgewise_core::fold::{Ignored, Verdict};
use edgewise_core::plan::OnFailure;
use edgewise_core::state::{RunState, TaskState};

fn ask() -> Request {
    Request { by: name("op"), why: Some("because".into()) }
}

/// A gate after `first`, and something behind it.
fn gated(on_failure: OnFailure) -> Driver {
    let mut sketch = Sketch::new(on_failure);
    sketch.node(0, "first", action(2), &[]);
    sketch.node(0, "t", approval(&[], 1), &[0]);
    sketch.node(0, "after", action(1), &[1]);
    Driver::planned(sketch.build())
}

/// A run at rest in a state.
fn at(state: RunState) -> Driver {
    let mut sketch = Sketch::new(OnFailure::Hold);
    sketch.node(0, "first", action(1), &[]);
    sketch.node(0, "then", action(1), &[0]);
    let mut held = Driver::planned(sketch.build());
    let mut d = gated(OnFailure::Continue);
    match state {
        RunState::Pending => {
            let mut sketch = Sketch::new(OnFailure::Continue);
            sketch.node(0, "first", action(1), &[]);
            d = Driver::triggered(sketch.build());
        }
        RunState::EnqueuingTasks => {}
        RunState::TasksInProcess => drop(d.lease(d.ix("first"))),
        RunState::WaitingForRetry => d.fail("first"),
        RunState::WaitingForDependencies => d.ok("first"),
        RunState::BlockedByFailures => {
            held.fail("first");
            d = held;
        }
        RunState::Complete => {
            d.ok("first");
            d.approve("t", "ann");
            d.ok("after");
        }
        RunState::Error => {
            held.fail("first");
            held.say(Event::RunGivenUp(ask()));
            d = held;
        }
        RunState::Cancelled => drop(d.cancel()),
        RunState::ResolvedManually => drop(d.resolve_run()),
        RunState::Initializing | RunState::EvaluatingResults => panic!("{state:?} is passed within one event"),
    }
    d.is(state);
    d
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Applied => "applied",
        Verdict::Ignored(Ignored::Duplicate) => "duplicate",
        Verdict::Ignored(Ignored::Unknown) => "unknown",
        Verdict::Ignored(Ignored::Refused(why)) => why,
        other => panic!("no act comes to {other:?}"),
    }
}

const YES: &str = "applied";
const TWICE: &str = "duplicate";
const NOTHING: &str = "unknown";
const OVER: &str = "the run is over";
const COMPLETE: &str = "the run is complete";
const CANCELLED: &str = "the run was cancelled";
const NOT_HELD: &str = "its flow does not hold failures (`on_failure: hold`): cancel it, or resolve it";

/// Cancel, pause, resume, resolve, give up, freeze, unfreeze, by the state they meet.
#[rustfmt::skip]
const TABLE: [(RunState, [&str; 7]); 10] = [
    (RunState::Pending,                [YES,   YES,  TWICE, NOTHING,   NOTHING, YES, TWICE]),
    (RunState::EnqueuingTasks,         [YES,   YES,  TWICE, YES,       NOT_HELD, YES, TWICE]),
    (RunState::TasksInProcess,         [YES,   YES,  TWICE, YES,       NOT_HELD, YES, TWICE]),
    (RunState::WaitingForRetry,        [YES,   YES,  TWICE, YES,       NOT_HELD, YES, TWICE]),
    (RunState::WaitingForDependencies, [YES,   YES,  TWICE, YES,       NOT_HELD, YES, TWICE]),
    (RunState::BlockedByFailures,      [YES,   YES,  TWICE, YES,       YES, YES, TWICE]),
    (RunState::Complete,               [OVER,  OVER, OVER,  COMPLETE,  OVER, YES, TWICE]),
    (RunState::Error,                  [OVER,  OVER, OVER,  YES,       TWICE, YES, TWICE]),
    (RunState::Cancelled,              [TWICE, OVER, OVER,  CANCELLED, OVER, YES, TWICE]),
    (RunState::ResolvedManually,       [OVER,  OVER, OVER,  TWICE,     OVER, YES, TWICE]),
];

const ACTS: [fn(Request) -> Event; 7] = [
    Event::RunCancelRequested,
    Event::RunPauseRequested,
    Event::RunResumeRequested,
    Event::RunResolvedManually,
    Event::RunGivenUp,
    Event::RunFrozen,
    unfrozen,
];

fn unfrozen(ask: Request) -> Event {
    Event::RunUnfrozen(Unfrozen { by: ask.by, why: ask.why, mark: None })
}

#[test]
fn every_act_on_a_run_meets_every_state() {
    for (state, row) in TABLE {
        for (act, expected) in ACTS.iter().zip(row) {
            let mut d = at(state);
            let event = act(ask());
            let name = event.name().to_owned();
            assert_eq!(word(d.say(event)), expected, "{name} at {state:?}");
            d.close();
        }
    }
}

#[test]
fn nothing_is_done_to_a_frozen_run_but_to_let_it_go_on() {
    const FROZEN: &str = "the run is frozen";
    for (state, row) in TABLE {
        for (act, expected) in ACTS.iter().zip([FROZEN, FROZEN, FROZEN, FROZEN, FROZEN, TWICE, YES]) {
            let mut d = at(state);
            assert_eq!(word(d.say(Event::RunFrozen(ask()))), YES);
            let before = d.run.clone();
            let event = act(ask());
            let name = event.name().to_owned();
            assert_eq!(word(d.say(event)), expected, "{name} at {state:?}");
            let expected = (expected != YES).then_some(before.frozen).flatten();
            assert_eq!((d.run.state, &d.run.frozen, &d.run.tasks), (before.state, &expected, &before.tasks), "{name}");
            d.close();
        }
        for (act, expected) in ACTS.iter().zip(row) {
            let mut d = at(state);
            d.say(Event::RunFrozen(ask()));
            d.say(unfrozen(ask()));
            assert_eq!(word(d.say(act(ask()))), expected, "{state:?}: it goes on as if it had never been frozen");
        }
    }
}

#[test]
fn a_freeze_says_who_why_and_when_and_its_rows_remember_it() {
    let mut d = gated(OnFailure::Continue);
    d.say(Event::RunFrozen(ask()));
    let frozen = d.run.frozen.clone().expect("it is frozen");
    assert_eq!((frozen.by, frozen.why.as_deref(), frozen.at), (name("op"), Some("because"), d.now));
    assert_eq!(d.run.freeze_mark().as_deref(), Some("op froze it: because"));
    assert_eq!(crate::load::reload(&d.run).frozen, d.run.frozen);
    assert_eq!(d.run.row().and_then(|row| row.frozen()), d.run.frozen);
    d.close();
}

#[test]
fn what_was_only_marked_is_let_go_on_by_name() {
    let mut d = gated(OnFailure::Continue);
    let marked = Unfrozen { by: name("op"), why: None, mark: Some("a checksum did not fit".into()) };
    assert_eq!(word(d.say(Event::RunUnfrozen(marked))), YES);
    assert_eq!((d.run.frozen.as_ref(), d.run.state), (None, RunState::EnqueuingTasks));
    d.close();
}

#[test]
fn a_run_that_is_given_up_lets_its_failures_travel_and_ends_in_the_same_commit() {
    let mut sketch = Sketch::new(OnFailure::Hold);
    sketch.node(0, "a", action(1), &[]);
    sketch.node(0, "b", action(1), &[0]);
    sketch.node(0, "c", action(1), &[]);
    sketch.node(0, "d", action(1), &[2]);
    let mut d = Driver::planned(sketch.build());
    d.fail("a");
    assert_eq!(d.states(&["a", "b"]), [TaskState::Error, TaskState::Pending], "held");
    assert_eq!(d.say(Event::RunGivenUp(ask())), Verdict::Applied);
    assert_eq!(d.state("b"), TaskState::Skipped, "in the same commit");
    d.fail("c");
    assert_eq!(d.state("d"), TaskState::Skipped, "what fails later is not held either");
    d.is(RunState::Error);
    assert_eq!(d.run.given_up.as_ref().map(|asked| asked.why.as_deref()), Some(Some("because")));
    assert_eq!(crate::load::reload(&d.run).given_up, d.run.given_up, "its rows remember who, why and when");
    d.close();
}

#[test]
fn nothing_is_given_up_before_something_has_failed() {
    let mut sketch = Sketch::new(OnFailure::Hold);
    sketch.node(0, "a", action(1), &[]);
    let mut d = Driver::planned(sketch.build());
    assert_eq!(word(d.say(Event::RunGivenUp(ask()))), "it holds no failure: nothing of it has failed for good");
}

#[test]
fn a_worker_that_reports_just_what_an_operator_supplied_is_late() {
    let mut d = gated(OnFailure::Continue);
    let task = d.ix("first");
    assert_eq!(d.lease(task), Verdict::Applied);
    let report = d.report(task, None, Some("5"));
    assert_eq!(d.complete("first", "5"), Verdict::Applied);
    assert_eq!(d.say(Event::TaskFinished(report)), STALE, "it was not heard, and is not told that it was");
    assert_eq!(d.state("first"), TaskState::Complete);
}
