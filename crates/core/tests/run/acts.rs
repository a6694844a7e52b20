//! What an operator may do to a run, state by state: allowed with its result, or refused with its reason.

use crate::driver::{Driver, STALE, Sketch, action, approval, check_table, name, refused, spread, told};
use edgewise_core::event::{Event, Request, Rerun, RerunFrom, Unfrozen};
use edgewise_core::fold::Verdict;
use edgewise_core::plan::{Accepts, OnFailure, Resolution};
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

/// Cancel, pause, resume, resolve, give up, freeze, unfreeze, rerun whole, rerun from failure, by the state they meet:
/// the state they lead to, or why they change nothing.
#[rustfmt::skip]
const TABLE: [(&str, [&str; 9]); 10] = [
    ("Pending",                ["Cancelled", "Pending",                "duplicate", "unknown",          "unknown",   "Pending",                "duplicate", "unknown",        "unknown"]),
    ("EnqueuingTasks",         ["Cancelled", "EnqueuingTasks",         "duplicate", "ResolvedManually", "not_held",  "EnqueuingTasks",         "duplicate", "not_over",       "not_failed"]),
    ("TasksInProcess",         ["Cancelled", "TasksInProcess",         "duplicate", "ResolvedManually", "not_held",  "TasksInProcess",         "duplicate", "not_over",       "not_failed"]),
    ("WaitingForRetry",        ["Cancelled", "WaitingForRetry",        "duplicate", "ResolvedManually", "not_held",  "WaitingForRetry",        "duplicate", "not_over",       "not_failed"]),
    ("WaitingForDependencies", ["Cancelled", "WaitingForDependencies", "duplicate", "ResolvedManually", "not_held",  "WaitingForDependencies", "duplicate", "not_over",       "not_failed"]),
    ("BlockedByFailures",      ["Cancelled", "BlockedByFailures",      "duplicate", "ResolvedManually", "Error",     "BlockedByFailures",      "duplicate", "not_over",       "EnqueuingTasks"]),
    ("Complete",               ["run_over",  "run_over",               "run_over",  "run_over",         "run_over",  "Complete",               "duplicate", "EnqueuingTasks", "not_failed"]),
    ("Error",                  ["run_over",  "run_over",               "run_over",  "ResolvedManually", "duplicate", "Error",                  "duplicate", "EnqueuingTasks", "EnqueuingTasks"]),
    ("Cancelled",              ["duplicate", "run_over",               "run_over",  "run_cancelled",    "run_over",  "Cancelled",              "duplicate", "EnqueuingTasks", "EnqueuingTasks"]),
    ("ResolvedManually",       ["run_over",  "run_over",               "run_over",  "duplicate",        "run_over",  "ResolvedManually",       "duplicate", "EnqueuingTasks", "EnqueuingTasks"]),
];
const ACTS: [fn(&Driver) -> Event; 9] = [
    |_| Event::RunCancelRequested(ask()),
    |_| Event::RunPauseRequested(ask()),
    |_| Event::RunResumeRequested(ask()),
    |_| Event::RunResolvedManually(ask()),
    |_| Event::RunGivenUp(ask()),
    |_| Event::RunFrozen(ask()),
    |_| unfrozen(),
    |d| rerun(d, RerunFrom::Start),
    |d| rerun(d, RerunFrom::Failure),
];

fn unfrozen() -> Event {
    Event::RunUnfrozen(Unfrozen { by: name("op"), why: None, mark: None })
}

fn rerun(d: &Driver, from: RerunFrom) -> Event {
    Event::RunRerunRequested(Rerun { by: name("op"), why: None, from, generation: d.run.generation })
}

fn state_of(word: &str) -> RunState {
    RunState::ALL.into_iter().find(|state| format!("{state:?}") == word).expect(word)
}

/// What each act comes to; what changes nothing leaves the run as it was.
fn met(d: &Driver) -> Vec<String> {
    let meet = |act: &fn(&Driver) -> Event| {
        let mut d = d.clone();
        let (before, event) = (d.run.clone(), act(&d));
        let verdict = d.say(event);
        if verdict != Verdict::Applied {
            let kept = (d.run.state, &d.run.frozen, d.run.paused, &d.run.tasks);
            assert_eq!(kept, (before.state, &before.frozen, before.paused, &before.tasks), "{verdict:?}");
        }
        d.close();
        told(verdict, d.run.state)
    };
    ACTS.iter().map(meet).collect()
}

#[test]
fn every_act_on_a_run_meets_every_state() {
    check_table(&TABLE, |state| met(&at(state_of(state))));
}

#[test]
fn nothing_is_done_to_a_frozen_run_but_to_let_it_go_on() {
    const FROZEN: &str = "run_frozen";
    for (word, row) in TABLE {
        let state = state_of(word);
        let mut d = at(state);
        assert_eq!(d.say(Event::RunFrozen(ask())), Verdict::Applied);
        let (twice, goes_on) = ("duplicate", word);
        let frozen = [FROZEN, FROZEN, FROZEN, FROZEN, FROZEN, twice, goes_on, FROZEN, FROZEN];
        assert_eq!(met(&d), frozen, "{word}");
        assert_eq!(d.say(unfrozen()), Verdict::Applied);
        assert_eq!(d.run.frozen, None);
        assert_eq!(met(&d), row, "{word}: it goes on as if it had never been frozen");
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
    assert_eq!(d.say(Event::RunUnfrozen(marked)), Verdict::Applied);
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
fn a_rerun_forgets_that_failures_were_given_up_and_what_was_decided_on_one_that_it_does_not_open_stays_so() {
    let mut sketch = Sketch::new(OnFailure::Hold);
    let inner = sketch.region();
    let x = sketch.node(0, "x", action(1), &[]);
    sketch.node(0, "y", action(1), &[x]);
    sketch.node(0, "s", spread(inner, 1), &[]);
    let p = sketch.node(inner, "p", action(1), &[]);
    sketch.node(inner, "q", action(1), &[p]);
    sketch.node(inner, "r", action(1), &[]);
    let mut d = Driver::planned(sketch.build());
    d.fail("x");
    // It stands in a spread that is still at work, so the rerun does not open it.
    d.fail("s[0].p");
    assert_eq!(d.say(Event::RunGivenUp(ask())), Verdict::Applied);
    assert_eq!(d.states(&["y", "s[0].q"]), [TaskState::Skipped; 2]);
    assert_eq!(d.rerun(RerunFrom::Failure), Verdict::Applied);
    assert_eq!(d.states(&["y", "s[0].q"]), [TaskState::Pending, TaskState::Skipped]);
    d.fail("x");
    assert_eq!(d.state("y"), TaskState::Pending, "what fails now is held again");
    d.ok("s[0].r");
    assert_eq!(d.state("s"), TaskState::Error, "what was decided stands");
    d.close();
}

#[test]
fn a_failure_that_a_rerun_held_again_and_somebody_opens_is_waited_for_by_what_was_still_pending() {
    for act in [Driver::reset, Driver::resolve] {
        let mut sketch = Sketch::new(OnFailure::Hold);
        let inner = sketch.region();
        sketch.node(0, "x", action(1), &[]);
        sketch.node(0, "s", spread(inner, 1), &[]);
        let p = sketch.node(inner, "p", action(1), &[]);
        let v = sketch.node(inner, "v", action(1), &[]);
        let d = sketch.node(inner, "d", action(1), &[v]);
        sketch.edge(inner, p, d, Accepts::DONE);
        let mut d = Driver::planned(sketch.build());
        d.fail("x");
        d.fail("s[0].p");
        assert_eq!(d.say(Event::RunGivenUp(ask())), Verdict::Applied);
        assert_eq!(d.rerun(RerunFrom::Failure), Verdict::Applied);
        assert_eq!(d.state("s[0].d"), TaskState::Pending, "it waits for another one as well");
        // What is checked after every event: a run that is loaded is the run that was folded.
        assert_eq!(act(&mut d, "s[0].p"), Verdict::Applied);
        d.ok("s[0].v");
    }
}

#[test]
fn what_follows_a_failure_that_was_answered_is_done_again_with_what_was_decided_on_it() {
    let mut sketch = Sketch::new(OnFailure::Hold);
    let x = sketch.node(0, "x", action(1), &[]);
    let y = sketch.node(0, "y", action(1), &[]);
    sketch.edge(0, x, y, Accepts::of(Resolution::Failed));
    let z = sketch.node(0, "z", action(1), &[y]);
    sketch.edge(0, x, z, Accepts::DONE);
    let mut d = Driver::planned(sketch.build());
    d.fail("x");
    assert_eq!(d.say(Event::RunGivenUp(ask())), Verdict::Applied);
    d.fail("y");
    assert_eq!(d.state("z"), TaskState::Skipped);
    d.is(RunState::Error);
    assert_eq!(d.rerun(RerunFrom::Failure), Verdict::Applied);
    d.ok("y");
    assert_eq!(d.state("z"), TaskState::Enqueued, "nobody has to give up the same failure again");
    d.ok("z");
    d.close();
}

#[test]
fn nothing_is_given_up_before_something_has_failed() {
    let mut sketch = Sketch::new(OnFailure::Hold);
    sketch.node(0, "a", action(1), &[]);
    let mut d = Driver::planned(sketch.build());
    assert_eq!(d.say(Event::RunGivenUp(ask())), refused("it holds no failure: nothing of it has failed for good"));
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
