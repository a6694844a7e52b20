//! How tasks begin, end, and are opened again: rules 3 and 4.

use crate::driver::{DUPLICATE, Driver, STALE, action, graph, name, plan};
use edgewise_core::event::{Event, PlanCreated, TaskIx};
use edgewise_core::fold::{Ignored, Verdict};
use edgewise_core::id::PlanHash;
use edgewise_core::plan::{Accepts, OnFailure, PlanDraft, RegionDraft, Resolution};
use edgewise_core::state::{RunState, TaskState};

use super::*;

// Rule 3: terminal is absorbing within a generation.

#[test]
fn reset_opens_the_next_generation_of_what_was_left_out_and_keeps_the_rest() {
    let nodes = [("a", ALL), ("b", ALL), ("c", ALL), ("kept", ALL)];
    let mut d = continuing(&nodes, &[(0, 1, OK), (1, 2, OK), (0, 3, FAILED)]);
    d.fail("a");
    d.ok_with("kept", "1");
    d.is(RunState::Complete);
    assert_eq!(d.reset("a"), Verdict::Applied);
    d.is(RunState::EnqueuingTasks);
    let generations: Vec<u16> = d.run.tasks.iter().map(|t| t.generation).collect();
    assert_eq!(generations, [2, 2, 2, 1]);
    let stale = d.lease_of("kept");
    assert_eq!(d.states(&["a", "b", "c", "kept"])[3], TaskState::Complete);
    assert_eq!(d.say(Event::DispatchReturned(stale)), STALE);
    for path in ["a", "b", "c"] {
        d.ok(path);
    }
    d.is(RunState::Complete);
    d.close();
}

#[test]
fn a_reset_task_has_all_its_attempts_again_and_no_backoff() {
    let mut d = Driver::planned(plan(&[("a", action(2), ALL)], &[], OnFailure::Continue));
    for generation in 1..=3 {
        d.fail("a");
        d.fire_next();
        d.fail("a");
        d.is(RunState::Error);
        assert_eq!(d.run.tasks[0].generation, generation);
        d.reset("a");
        assert_eq!((d.state("a"), d.run.tasks[0].attempt), (TaskState::Enqueued, 0));
        assert!(d.run.timers.is_empty());
    }
    let act = edgewise_core::event::TaskAct { generation: 2, ..d.act("a") };
    assert_eq!(d.say(Event::TaskResetForRetry(act)), STALE, "the operator looked at an older generation");
}

#[test]
fn resolve_and_complete_open_a_done_task_and_finish_it_at_once() {
    for (complete, expected) in [(false, TaskState::ResolvedManually), (true, TaskState::Complete)] {
        let mut d = continuing(&[("a", ALL), ("b", ALL)], &[(0, 1, OK)]);
        d.fail("a");
        d.is(RunState::Error);
        let verdict = if complete { d.complete("a", "5") } else { d.resolve("a") };
        assert_eq!(verdict, Verdict::Applied);
        assert_eq!((d.state("a"), d.run.tasks[0].generation), (expected, 2));
        assert_eq!(*d.run.output(TaskIx(0)), if complete { 5.into() } else { serde_json::Value::Null });
        d.ok("b");
        d.is(RunState::Complete);
    }
}

#[test]
fn operators_skip_and_cancel_single_tasks_and_what_follows_says_so() {
    let nodes = [("a", ALL), ("b", ALL), ("c", ALL)];
    let mut d = continuing(&nodes, &[(0, 1, OK), (0, 2, SKIPPED.or(CANCELLED))]);
    let mut other = d.clone();
    d.skip("a");
    assert_eq!(d.states(&["a", "b", "c"]), [TaskState::Skipped, TaskState::Skipped, TaskState::Enqueued]);
    d.ok("c");
    d.is(RunState::Complete);
    other.lease(TaskIx(0));
    other.cancel_task("a");
    assert_eq!(other.changes.revoked.len(), 1, "its worker is told");
    assert_eq!(other.states(&["a", "b", "c"]), [TaskState::Cancelled, TaskState::Cancelled, TaskState::Enqueued]);
    let report = other.report(TaskIx(0), None, None);
    assert_eq!(other.say(Event::TaskFinished(report)), STALE);
    other.ok("c");
    other.is(RunState::Cancelled);
}

#[test]
fn a_cancel_forbids_everything_later_even_what_accepts_it() {
    let mut d = Driver::planned(plan(
        &[("a", action(3), ALL), ("b", action(1), ALL), ("c", action(1), ALL)],
        &[(0, 1, CANCELLED), (0, 2, Accepts::DONE)],
        OnFailure::Continue,
    ));
    d.fail("a");
    assert_eq!(d.state("a"), TaskState::WaitingForRetry);
    let (timer, due) = d.run.timers.iter().map(|(k, v)| (*k, *v)).next().unwrap();
    assert_eq!(d.cancel(), Verdict::Applied);
    assert_eq!(d.states(&["a", "b", "c"]), [TaskState::Cancelled; 3]);
    d.is(RunState::Cancelled);
    assert!(d.run.tasks.iter().all(|t| t.completed_at == d.now), "each has its end");
    let scope = d.run.scopes[0];
    assert_eq!([0, 1].map(|e| d.run.resolution(&scope, e)), [Some(Resolution::Cancelled); 2]);
    d.now = due;
    assert_eq!(d.say(Event::TimerFired(edgewise_core::event::TimerFired { timer, due })), STALE);
    assert_eq!(d.cancel(), DUPLICATE);
    for verdict in [d.reset("a"), d.resolve("b"), d.complete("c", "1"), d.skip("a")] {
        assert_eq!(verdict, refused("the run was cancelled"));
    }
    assert_eq!(d.resolve_run(), refused("the run was cancelled"));
}

#[test]
fn a_plan_that_comes_after_the_cancel_makes_cancelled_tasks() {
    let mut d = Driver::triggered(graph(&[("a", ALL), ("b", ALL)], &[(0, 1, CANCELLED)], OnFailure::Continue));
    d.cancel();
    d.is(RunState::Cancelled);
    assert_eq!(d.plan_it(), Verdict::Applied);
    assert_eq!(d.states(&["a", "b"]), [TaskState::Cancelled; 2]);
    d.is(RunState::Cancelled);
    assert!(d.changes.ready.is_empty());
    assert_eq!(d.plan_it(), DUPLICATE);
}

// Rule 4: roots are ready at PlanCreated; one edge for one pair; what cannot be is refused.

#[test]
fn roots_are_ready_with_the_plan_and_only_with_its_own() {
    let mut d = Driver::triggered(graph(&[("a", ALL), ("b", ALL), ("c", ALL)], &[(0, 2, OK)], OnFailure::Continue));
    let foreign = PlanCreated { plan: PlanHash(1) };
    assert_eq!(d.say(Event::PlanCreated(foreign)), Verdict::Ignored(Ignored::Unknown));
    d.plan_it();
    assert_eq!(d.states(&["a", "b", "c"]), [TaskState::Enqueued, TaskState::Enqueued, TaskState::Pending]);
    assert_eq!(d.changes.ready, [TaskIx(0), TaskIx(1)]);
}

#[test]
fn self_edges_unknown_names_and_cycles_are_refused_before_anything_is_written() {
    for (edges, code) in [
        (vec![(0, 0)], "self_edge"),
        (vec![(0, 7)], "unknown_name"),
        (vec![(0, 1), (1, 0)], "cycle"),
        (vec![(0, 1), (1, 2), (2, 0)], "cycle"),
    ] {
        let mut region = RegionDraft::default();
        for node in ["a", "b", "c"] {
            region.node(node, 0, ALL);
        }
        for (up, down) in edges {
            region.edge(up, down, OK);
        }
        let draft = PlanDraft { specs: vec![action(1)], regions: vec![region], ..PlanDraft::default() };
        assert_eq!(draft.build(name("f")).unwrap_err()[0].code, code);
    }
}
