//! Opening finished work again: what is opened, what is kept, and that nothing is left behind.

use crate::driver::{Driver, Sketch, action, graph, name, refused, spread_bearing};
use edgewise_core::event::{Event, Request};
use edgewise_core::fold::Verdict;
use edgewise_core::plan::{Accepts, Join, OnFailure, Resolution};
use edgewise_core::run::Reason;
use edgewise_core::state::{RunState, TaskState};

const FAILED: Accepts = Accepts::of(Resolution::Failed);
const OK: Accepts = Accepts::SUCCESS;

#[test]
fn a_handler_under_way_keeps_the_fact_it_was_started_on() {
    let plan = graph(&[("a", Join::All), ("h", Join::All)], &[(0, 1, FAILED)], OnFailure::Continue);
    let mut d = Driver::planned(plan);
    d.fail("a");
    assert_eq!(d.state("h"), TaskState::Enqueued);
    assert_eq!(d.reset("a"), Verdict::Applied);
    d.ok("a");
    assert_eq!(d.state("h"), TaskState::Enqueued, "it was ready and stays so");
    d.ok("h");
    d.is(RunState::Complete);
}

#[test]
fn a_handler_that_failed_and_was_dealt_with_has_answered_the_failure_it_was_for() {
    for by_output in [false, true] {
        let plan = graph(&[("a", Join::All), ("h", Join::All)], &[(0, 1, FAILED)], OnFailure::Continue);
        let mut d = Driver::planned(plan);
        d.fail("a");
        d.fail("h");
        d.is(RunState::Error);
        let verdict = if by_output { d.complete("h", "1") } else { d.resolve("h") };
        assert_eq!(verdict, Verdict::Applied);
        d.is(RunState::Complete);
    }
}

#[test]
fn a_reset_task_keeps_its_in_edges_while_their_upstream_is_done_anew() {
    let plan = graph(&[("a", Join::All), ("h", Join::All)], &[(0, 1, FAILED)], OnFailure::Continue);
    let mut d = Driver::planned(plan);
    d.fail("a");
    d.fail("h");
    assert_eq!(d.reset("a"), Verdict::Applied);
    assert_eq!(d.reset("h"), Verdict::Applied);
    assert_eq!(d.states(&["a", "h"]), [TaskState::Enqueued; 2]);
    d.ok("a");
    d.ok("h");
    d.is(RunState::Complete);
}

#[test]
fn a_reset_task_keeps_its_in_edges_also_from_what_was_stopped_because_of_it() {
    let nodes = [("a", Join::All), ("h", Join::All)];
    let mut d = Driver::planned(graph(&nodes, &[(0, 1, FAILED)], OnFailure::FailFast));
    d.fail("a");
    d.reset("a");
    d.fail("h");
    assert_eq!(d.state("a"), TaskState::Cancelled);
    d.reset("h");
    assert_eq!(d.states(&["a", "h"]), [TaskState::Enqueued; 2]);
}

#[test]
fn a_join_that_lost_all_its_upstreams_comes_back_with_any_of_them() {
    let nodes = [("a", Join::All), ("b", Join::All), ("d", Join::Any)];
    for again in ["a", "b"] {
        let mut d = Driver::planned(graph(&nodes, &[(0, 2, OK), (1, 2, OK)], OnFailure::Continue));
        d.fail("a");
        d.fail("b");
        assert_eq!(d.state("d"), TaskState::Skipped);
        d.reset(again);
        assert_eq!(d.state("d"), TaskState::Pending, "{again} may still come");
        d.ok(again);
        d.ok("d");
        d.is(RunState::Complete);
    }
}

#[test]
fn the_last_refusal_decides_also_when_a_join_is_decided_anew() {
    // Two of three, and c is the first to be lost; resetting it leaves a failed and b cancelled.
    let nodes = [("a", Join::All), ("b", Join::All), ("c", Join::All), ("d", Join::Count(2))];
    let mut d = Driver::planned(graph(&nodes, &[(0, 3, OK), (1, 3, OK), (2, 3, OK)], OnFailure::Continue));
    d.fail("c");
    d.fail("a");
    assert_eq!(d.state("d"), TaskState::Skipped);
    d.cancel_task("b");
    d.reset("c");
    assert_eq!(d.state("d"), TaskState::Cancelled, "by b, the last of the refusals that are left");
}

#[test]
fn resetting_an_item_brings_back_the_items_that_were_stopped_because_of_it() {
    let mut sketch = Sketch::new(OnFailure::Continue);
    let inner = sketch.region();
    sketch.node(0, "s", spread_bearing(inner, 3, 0, true), &[]);
    let p = sketch.node(inner, "p", action(1), &[]);
    sketch.node(inner, "q", action(1), &[p]);
    let mut d = Driver::planned(sketch.build());
    d.ok("s[0].p");
    d.fail("s[0].q");
    d.is(RunState::Error);
    let failed = d.ix("s[0].q");
    for path in ["s[1].p", "s[1].q", "s[2].p", "s[2].q"] {
        assert_eq!(d.state(path), TaskState::Cancelled);
        assert_eq!(d.run.reasons[&d.ix(path)], Reason::BecauseOf { task: failed }, "{path}");
    }
    d.reset("s[0].q");
    for path in ["s[0].q", "s[1].p", "s[1].q", "s[2].p", "s[2].q"] {
        d.ok(path);
    }
    d.is(RunState::Complete);
}

#[test]
fn a_spread_that_had_begun_goes_on_with_the_facts_it_began_on() {
    let mut sketch = Sketch::new(OnFailure::FailFast);
    let inner = sketch.region();
    let a = sketch.node(0, "a", action(1), &[]);
    let s = sketch.node(0, "s", spread_bearing(inner, 2, 0, false), &[]);
    sketch.edge(0, a, s, Accepts::DONE);
    sketch.node(inner, "p", action(1), &[]);
    let mut d = Driver::planned(sketch.build());
    d.fail("a");
    assert_eq!(d.state("s"), TaskState::Cancelled, "an observer answers nothing");
    d.reset("a");
    assert_eq!(d.states(&["a", "s", "s[0]"]), [TaskState::Enqueued, TaskState::InProgress, TaskState::Enqueued]);
    for path in ["s[0]", "a", "s[1]"] {
        d.ok(path);
    }
    d.is(RunState::Complete);
}

#[test]
fn what_is_opened_again_in_a_resolved_run_is_held_by_nothing() {
    let nodes = [("a", Join::All), ("x", Join::All), ("y", Join::All)];
    let mut d = Driver::planned(graph(&nodes, &[(1, 2, OK), (0, 2, OK)], OnFailure::Hold));
    d.fail("a");
    d.fail("x");
    assert_eq!(d.resolve_run(), Verdict::Applied);
    d.is(RunState::ResolvedManually);
    assert_eq!(d.complete("y", "1"), Verdict::Applied);
    d.is(RunState::ResolvedManually);
}

#[test]
fn a_run_that_ended_cancelled_is_not_opened_again_by_its_tasks() {
    let mut d = Driver::planned(graph(&[("a", Join::All)], &[], OnFailure::Continue));
    d.cancel_task("a");
    d.is(RunState::Cancelled);
    assert_eq!(d.resolve("a"), refused("the run was cancelled"));
    assert_eq!(d.complete("a", "1"), refused("the run was cancelled"));
}

#[test]
fn a_wide_run_that_stopped_at_a_failure_is_opened_again_in_one_pass() {
    // A scan of all reasons for each of the tasks would take some 10^9 steps.
    const N: u32 = 30_000;
    let mut sketch = Sketch::new(OnFailure::FailFast);
    for n in 0..N {
        sketch.node(0, &format!("n{n}"), action(1), &[]);
    }
    let mut d = Driver::triggered_watching(sketch.build(), crate::driver::Watch::Nothing);
    d.plan_it();
    d.fail("n0");
    assert_eq!(d.run.counts[TaskState::Cancelled as usize], N - 1);
    d.reset("n0");
    assert_eq!(d.run.counts[TaskState::Enqueued as usize], N);
}

#[test]
fn a_failure_that_is_answered_does_not_stop_a_run_that_fails_fast() {
    let nodes = [("a", Join::All), ("h", Join::All), ("other", Join::All), ("b", Join::All)];
    let mut d = Driver::planned(graph(&nodes, &[(0, 1, FAILED), (0, 3, OK)], OnFailure::FailFast));
    d.fail("a");
    assert_eq!(d.states(&["h", "other", "b"]), [TaskState::Enqueued, TaskState::Enqueued, TaskState::Skipped]);
    d.fail("other");
    d.is(RunState::Error);
    assert_eq!(d.state("h"), TaskState::Cancelled, "nobody answers this one");
    let asked = Request { by: name("op"), why: None };
    assert_eq!(d.say(Event::RunCancelRequested(asked)), refused("the run is over"));
}
