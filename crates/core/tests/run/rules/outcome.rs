//! How runs end, what is unknown, what is bounded: rules 8, 9 and 10.

use crate::driver::{DUPLICATE, Driver, Sketch, Watch, action, graph, name, spread};
use crate::load::reload;
use edgewise_core::event::{Event, TaskIx};
use edgewise_core::fold::{Ignored, Verdict};
use edgewise_core::plan::{Accepts, Join, OnFailure};
use edgewise_core::run::Reason;
use edgewise_core::state::{RunState, TaskState};

use super::*;

// Rule 8: the outcome of a run.

#[test]
fn the_outcome_of_a_run_is_the_first_rule_that_matches() {
    let nodes = [("a", ALL), ("h", ALL), ("any", Join::Any), ("c", ALL)];
    let outcome = |accepts: Accepts, with_any: bool, fails: &[&str], cancel: Option<&str>| {
        let mut edges = vec![(0, 1, accepts)];
        if with_any {
            edges.extend([(0, 2, OK), (3, 2, OK)]);
        }
        let mut d = continuing(&nodes, &edges);
        if let Some(path) = cancel {
            d.cancel_task(path);
        }
        loop {
            let ready = d.run.tasks.iter().position(|t| t.state == TaskState::Enqueued);
            let Some(t) = ready else { break };
            let path = d.run.path(TaskIx(t as u32));
            if fails.contains(&path.as_str()) { d.fail(&path) } else { d.ok(&path) }
        }
        d.run.state
    };
    assert_eq!(outcome(OK, false, &[], None), RunState::Complete);
    assert_eq!(outcome(OK, false, &["a"], None), RunState::Error);
    assert_eq!(outcome(FAILED, false, &["a"], None), RunState::Complete, "handled");
    assert_eq!(outcome(FAILED, false, &["a", "h"], None), RunState::Error, "the handler itself failed");
    assert_eq!(outcome(Accepts::DONE, false, &["a"], None), RunState::Error, "observed, not handled");
    assert_eq!(outcome(OK, true, &["a"], None), RunState::Complete, "a satisfied any does without it");
    assert_eq!(outcome(OK, true, &["a", "c"], None), RunState::Error, "an any that was lost does not");
    assert_eq!(outcome(OK, false, &[], Some("c")), RunState::Cancelled);
    assert_eq!(outcome(OK, false, &["a"], Some("c")), RunState::Error, "a failure weighs more than a cancelled task");
}

#[test]
fn a_run_whose_tasks_were_all_skipped_is_complete() {
    let mut d = continuing(&[("a", ALL), ("b", ALL)], &[(0, 1, OK)]);
    d.skip("a");
    assert_eq!(d.states(&["a", "b"]), [TaskState::Skipped; 2]);
    d.is(RunState::Complete);
}

#[test]
fn fail_fast_cancels_the_rest_and_the_run_is_an_error() {
    let nodes = [("a", ALL), ("b", ALL), ("c", ALL)];
    let mut d = Driver::planned(graph(&nodes, &[(1, 2, CANCELLED)], OnFailure::FailFast));
    d.lease(TaskIx(1));
    d.fail("a");
    assert_eq!(d.states(&["a", "b", "c"]), [TaskState::Error, TaskState::Cancelled, TaskState::Cancelled]);
    assert_eq!(d.run.reasons[&TaskIx(1)], Reason::BecauseOf { task: TaskIx(0) });
    assert_eq!(d.changes.revoked.len(), 1);
    d.is(RunState::Error);
}

#[test]
fn an_operator_may_declare_the_whole_run_dealt_with() {
    let mut d = continuing(&[("a", ALL), ("b", ALL)], &[]);
    d.fail("a");
    assert_eq!(d.resolve_run(), Verdict::Applied);
    assert_eq!(d.states(&["a", "b"]), [TaskState::Error, TaskState::Cancelled]);
    d.is(RunState::ResolvedManually);
    assert_eq!(d.resolve_run(), DUPLICATE);
    let mut d = continuing(&[("a", ALL)], &[]);
    d.ok("a");
    assert_eq!(d.resolve_run(), refused("the run is complete"));
}

// Rule 9: what does not exist is refused.

#[test]
fn a_fact_for_a_task_or_run_that_does_not_exist_is_unknown() {
    let mut d = continuing(&[("a", ALL)], &[]);
    let mut report = d.report(TaskIx(0), None, None);
    report.task = TaskIx(9);
    let unknown = Verdict::Ignored(Ignored::Unknown);
    assert_eq!(d.say(Event::TaskFinished(report)), unknown);
    let mut early = Driver::triggered(graph(&[("a", ALL)], &[], OnFailure::Continue));
    let act = edgewise_core::event::TaskAct { task: TaskIx(0), generation: 1, by: name("op"), why: None };
    assert_eq!(early.say(Event::TaskSkipRequested(act)), unknown, "no plan, no task");
    assert_eq!(early.resolve_run(), unknown);
}

// Rule 10: unknown types are counted; inline work is bounded.

#[test]
fn unknown_events_fold_to_nothing_and_are_counted() {
    let mut d = continuing(&[("a", ALL)], &[]);
    for n in 1..=3 {
        assert_eq!(d.say(Event::Unknown("Later".into())), Verdict::Ignored(Ignored::Unknown));
        assert_eq!(d.run.unknown, n);
    }
    d.ok("a");
    d.is(RunState::Complete);
}

#[test]
fn a_spread_over_25_000_items_is_made_in_three_goes() {
    let mut sketch = Sketch::new(OnFailure::Continue);
    let inner = sketch.region();
    sketch.node(0, "s", spread(inner, 25_000), &[]);
    sketch.node(inner, "one", action(1), &[]);
    let mut d = Driver::triggered_watching(sketch.build(), Watch::Nothing);
    d.plan_it();
    for made in [10_000, 20_000, 25_000] {
        assert_eq!(d.run.total(), made + 1);
        assert_eq!(d.run.advancing.is_empty(), made == 25_000);
        edgewise_core::invariant::check_state(&d.run).unwrap();
        assert!(reload(&d.run) == d.run);
        let expected = if made == 25_000 { DUPLICATE } else { Verdict::Applied };
        assert_eq!(d.advance(), expected);
    }
    for item in 0..25_000 {
        let task = TaskIx(item + 1);
        d.lease(task);
        let report = d.report(task, None, None);
        d.say(Event::TaskFinished(report));
    }
    d.is(RunState::Complete);
    assert_eq!(d.run.output(TaskIx(0)).as_array().unwrap().len(), 25_000);
    edgewise_core::invariant::check_state(&d.run).unwrap();
}

#[test]
fn more_resolved_edges_than_there_are_is_an_alarm() {
    let mut d = continuing(&[("a", ALL), ("b", ALL), ("c", ALL)], &[(0, 2, OK), (1, 2, OK)]);
    d.ok("a");
    d.watch = Watch::Nothing;
    d.run.tasks[2].refused = 1;
    d.lease(TaskIx(1));
    let report = d.report(TaskIx(1), None, None);
    assert_eq!(d.say(Event::TaskFinished(report)), Verdict::Overflow(TaskIx(2)));
}

// A pause is a flag.

#[test]
fn a_pause_stops_leases_and_nothing_else() {
    let mut d = continuing(&[("a", ALL), ("b", ALL), ("c", ALL)], &[(0, 1, OK)]);
    d.lease(TaskIx(0));
    d.say(Event::RunPauseRequested(request()));
    assert_eq!(d.lease(TaskIx(2)), refused("the run is paused"));
    let report = d.report(TaskIx(0), None, None);
    assert_eq!(d.say(Event::TaskFinished(report)), Verdict::Applied, "what runs goes on");
    assert_eq!(d.state("b"), TaskState::Enqueued);
    assert_eq!(d.say(Event::RunPauseRequested(request())), DUPLICATE);
    d.say(Event::RunResumeRequested(request()));
    assert_eq!(d.changes.ready, [TaskIx(1), TaskIx(2)], "offered again");
    assert_eq!(d.say(Event::RunResumeRequested(request())), DUPLICATE);
    d.ok("b");
    d.ok("c");
    d.is(RunState::Complete);
    assert_eq!(d.say(Event::RunPauseRequested(request())), refused("the run is over"));
    assert_eq!(d.say(Event::RunResumeRequested(request())), refused("the run is over"));
}
