//! How edges resolve: rules 5, 6 and 7.

use crate::driver::{Driver, action, graph, plan};
use edgewise_core::event::{Event, TaskIx};
use edgewise_core::fold::{Ignored, Verdict};
use edgewise_core::plan::{Accepts, Join, OnFailure, Resolution};
use edgewise_core::retry::Retry;
use edgewise_core::run::Reason;
use edgewise_core::state::{RunState, TaskState};
use edgewise_core::time::Time;

use super::*;

// Rule 5: accepted sets and joins, first come first decided, breadth first in plan order.

#[test]
fn an_edge_accepts_its_set_and_nothing_else() {
    type End = fn(&mut Driver);
    let ends: [(Resolution, End); 4] = [
        (Resolution::Success, |d| d.ok("a")),
        (Resolution::Failed, |d| d.fail("a")),
        (Resolution::Skipped, |d| assert_eq!(d.skip("a"), Verdict::Applied)),
        (Resolution::Cancelled, |d| assert_eq!(d.cancel_task("a"), Verdict::Applied)),
    ];
    for (resolution, end) in ends {
        for bits in 1..16u8 {
            let chosen = Resolution::ALL.into_iter().filter(|r| bits >> (*r as u8 - 1) & 1 == 1);
            let accepts = chosen.map(Accepts::of).reduce(Accepts::or).unwrap();
            let mut d = continuing(&[("a", ALL), ("b", ALL)], &[(0, 1, accepts)]);
            end(&mut d);
            let expected = match (accepts.contains(resolution), resolution) {
                (true, _) => TaskState::Enqueued,
                (false, Resolution::Cancelled) => TaskState::Cancelled,
                (false, _) => TaskState::Skipped,
            };
            assert_eq!(d.state("b"), expected, "{accepts:?} {resolution:?}");
        }
    }
}

#[test]
fn all_is_decided_by_the_first_refusal_in_the_order_of_the_ledger() {
    let nodes = [("a", ALL), ("b", ALL), ("d", ALL)];
    let mut d = continuing(&nodes, &[(0, 2, OK), (1, 2, OK)]);
    let mut other = d.clone();
    d.fail("a");
    d.cancel_task("b");
    assert_eq!(d.state("d"), TaskState::Skipped);
    assert_eq!(d.run.reasons[&TaskIx(2)], Reason::Upstream { task: TaskIx(0), resolution: Resolution::Failed });
    other.cancel_task("b");
    other.fail("a");
    assert_eq!(other.state("d"), TaskState::Cancelled);
    assert_eq!(other.run.reasons[&TaskIx(2)], Reason::Upstream { task: TaskIx(1), resolution: Resolution::Cancelled });
}

#[test]
fn any_and_a_number_are_ready_at_the_acceptance_and_lost_with_the_last_refusal() {
    let nodes = |join| [("a", ALL), ("b", ALL), ("c", ALL), ("d", join)];
    let edges = [(0, 3, OK), (1, 3, OK), (2, 3, OK)];
    for (join, needed) in [(Join::Any, 1), (Join::Count(2), 2), (Join::Count(3), 3)] {
        for fails in 0..8u32 {
            let mut d = continuing(&nodes(join), &edges);
            let (mut accepted, mut lost) = (0, 0);
            for (n, path) in ["a", "b", "c"].into_iter().enumerate() {
                if fails >> n & 1 == 1 {
                    lost += 1;
                    d.fail(path);
                } else {
                    accepted += 1;
                    d.ok(path);
                }
                let expected = match () {
                    () if accepted >= needed => TaskState::Enqueued,
                    () if 3 - lost < needed => TaskState::Skipped,
                    () => TaskState::Pending,
                };
                assert_eq!(d.state("d"), expected, "{join:?} {fails:b} after {path}");
            }
        }
    }
    let mut d = continuing(&nodes(Join::Any), &edges);
    d.fail("a");
    d.cancel_task("b");
    d.fail("c");
    assert_eq!(d.state("d"), TaskState::Skipped, "by c, the last");
    let mut d = continuing(&nodes(Join::Any), &edges);
    d.fail("a");
    d.fail("c");
    d.cancel_task("b");
    assert_eq!(d.state("d"), TaskState::Cancelled, "by b, the last");
}

#[test]
fn edges_resolve_breadth_first_in_plan_order() {
    let nodes = [("a", ALL), ("b", ALL), ("c", ALL), ("b2", ALL), ("c2", ALL)];
    let mut d = continuing(&nodes, &[(0, 1, OK), (0, 2, OK), (1, 3, OK), (2, 4, OK)]);
    d.fail("a");
    let order: Vec<u32> = d.changes.moves.iter().map(|m| m.task.0).filter(|t| *t > 0).collect();
    assert_eq!(order, [1, 2, 3, 4]);
}

// Rule 6: decided against travels on as SKIPPED or CANCELLED.

#[test]
fn a_failure_is_failed_on_its_own_edge_and_skipped_on_every_further_one() {
    let nodes = [("a", ALL), ("b", ALL), ("c", ALL), ("d", ALL)];
    let mut d = continuing(&nodes, &[(0, 1, OK), (1, 2, OK), (2, 3, OK)]);
    d.fail("a");
    let scope = d.run.scopes[0];
    let found = [0, 1, 2].map(|e| d.run.resolution(&scope, e).unwrap());
    assert_eq!(found, [Resolution::Failed, Resolution::Skipped, Resolution::Skipped]);
    assert_eq!(d.states(&["b", "c", "d"]), [TaskState::Skipped; 3]);
}

// Rule 7: only a terminal failure resolves edges; hold keeps it open.

#[test]
fn a_failure_with_attempts_left_resolves_nothing() {
    let nodes = [("a", action(2), ALL), ("b", action(1), ALL)];
    let mut d = Driver::planned(plan(&nodes, &[(0, 1, OK)], OnFailure::Continue));
    d.fail("a");
    assert_eq!(d.states(&["a", "b"]), [TaskState::WaitingForRetry, TaskState::Pending]);
    d.is(RunState::WaitingForRetry);
    assert_eq!(d.run.edges, [0]);
    d.now = Time(d.now.0 - 1);
    let (timer, due) = d.run.timers.iter().map(|(k, v)| (*k, *v)).next().unwrap();
    let fired = Event::TimerFired(edgewise_core::event::TimerFired { timer, due });
    assert_eq!(d.say(fired), Verdict::Ignored(Ignored::Early));
    d.fire_next();
    d.fail("a");
    assert_eq!(d.states(&["a", "b"]), [TaskState::Error, TaskState::Skipped]);
}

#[test]
fn the_definition_of_retries_wins_over_the_worker() {
    let once = edgewise_core::plan::Spec { retry: Retry { retryable: false, ..Retry::default() }, ..action(3) };
    let mut d = Driver::planned(plan(&[("a", once, ALL)], &[], OnFailure::Continue));
    d.fail("a");
    assert_eq!(d.state("a"), TaskState::Error, "the worker thinks it could be retried, the flow says no");
}

#[test]
fn under_hold_a_failure_waits_for_an_operator_and_independent_work_goes_on() {
    let nodes = [("a", ALL), ("b", ALL), ("other", ALL)];
    let begin = || {
        let mut d = Driver::planned(graph(&nodes, &[(0, 1, OK)], OnFailure::Hold));
        d.fail("a");
        assert_eq!(d.states(&["a", "b"]), [TaskState::Error, TaskState::Pending]);
        d.is(RunState::EnqueuingTasks);
        d.ok("other");
        d.is(RunState::BlockedByFailures);
        d
    };
    let mut d = begin();
    d.reset("a");
    d.ok("a");
    d.ok("b");
    d.is(RunState::Complete);
    let mut d = begin();
    d.resolve("a");
    d.ok("b");
    d.is(RunState::Complete);
    let mut d = begin();
    d.cancel();
    assert_eq!(d.run.edges, [Resolution::Failed as u8], "a cancel resolves what was held");
    d.is(RunState::Cancelled);
}
