//! A run from trigger to end, and loading it from its rows at every step.

use crate::driver::{Driver, action, plan};
use crate::load::reload;
use edgewise_core::event::Event;
use edgewise_core::plan::{Accepts, Join, OnFailure, Resolution};
use edgewise_core::state::{RunState, TaskState};

#[test]
fn a_diamond_runs_to_its_end() {
    let nodes = [
        ("a", action(1), Join::All),
        ("b", action(1), Join::All),
        ("c", action(1), Join::All),
        ("d", action(1), Join::All),
    ];
    let edges =
        [(0, 1, Accepts::SUCCESS), (0, 2, Accepts::SUCCESS), (1, 3, Accepts::SUCCESS), (2, 3, Accepts::SUCCESS)];
    let mut d = Driver::planned(plan(&nodes, &edges, OnFailure::Continue));
    for path in ["a", "b", "c", "d"] {
        assert_eq!(reload(&d.run), d.run);
        assert_eq!(d.state(path), TaskState::Enqueued);
        d.ok(path);
    }
    d.is(RunState::Complete);
    assert_eq!(reload(&d.run), d.run);
}

#[test]
fn a_failure_travels_as_skipped_and_an_edge_that_wants_it_handles_it() {
    let nodes = [
        ("a", action(1), Join::All),
        ("b", action(1), Join::All),
        ("c", action(1), Join::All),
        ("h", action(1), Join::All),
    ];
    let edges = [(0, 1, Accepts::SUCCESS), (1, 2, Accepts::SUCCESS), (0, 3, Accepts::of(Resolution::Failed))];
    let mut d = Driver::planned(plan(&nodes, &edges, OnFailure::Continue));
    d.fail("a");
    assert_eq!(d.state("b"), TaskState::Skipped);
    assert_eq!(d.state("c"), TaskState::Skipped);
    let scope = d.run.scopes[0];
    assert_eq!(d.run.resolution(&scope, 0), Some(Resolution::Failed));
    assert_eq!(d.run.resolution(&scope, 1), Some(Resolution::Skipped));
    d.ok("h");
    d.is(RunState::Complete);
    assert_eq!(reload(&d.run), d.run);
}

#[test]
fn reset_opens_the_next_generation_of_the_task_and_of_what_it_left_out() {
    let nodes = [("a", action(1), Join::All), ("b", action(1), Join::All), ("c", action(1), Join::All)];
    let edges = [(0, 1, Accepts::SUCCESS), (1, 2, Accepts::SUCCESS)];
    let mut d = Driver::planned(plan(&nodes, &edges, OnFailure::Continue));
    d.fail("a");
    d.is(RunState::Error);
    let act = d.act("a");
    d.say(Event::TaskResetForRetry(act));
    assert_eq!(reload(&d.run), d.run);
    for path in ["a", "b", "c"] {
        d.ok(path);
        assert_eq!(d.run.tasks[d.ix(path).0 as usize].generation, 2);
    }
    d.is(RunState::Complete);
    assert_eq!(reload(&d.run), d.run);
}
