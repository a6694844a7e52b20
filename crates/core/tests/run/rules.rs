//! The ten rules of the model, each with its sentences.

use crate::driver::{
    DUPLICATE, Driver, STALE, Sketch, Watch, action, approval, graph, name, plan, spread, spread_bearing, work,
};
use crate::load::reload;
use edgewise_core::event::{Event, Failure, PlanCreated, Request, TaskHeartbeat, TaskIx};
use edgewise_core::fold::{Ignored, Verdict};
use edgewise_core::gate::{Gate, OnDeadline, Wait};
use edgewise_core::id::PlanHash;
use edgewise_core::plan::{Accepts, Items, Join, OnFailure, PlanDraft, RegionDraft, Resolution, Spread, Work};
use edgewise_core::retry::Retry;
use edgewise_core::run::Reason;
use edgewise_core::state::{RunState, TaskState};
use edgewise_core::template::{Reference, Root, Step};
use edgewise_core::time::{Millis, Time};
use serde_json::value::RawValue;

const OK: Accepts = Accepts::SUCCESS;
const FAILED: Accepts = Accepts::of(Resolution::Failed);
const SKIPPED: Accepts = Accepts::of(Resolution::Skipped);
const CANCELLED: Accepts = Accepts::of(Resolution::Cancelled);
const ALL: Join = Join::All;

fn continuing(nodes: &[(&str, Join)], edges: &[(u32, u32, Accepts)]) -> Driver {
    Driver::planned(graph(nodes, edges, OnFailure::Continue))
}

fn request() -> Request {
    Request { by: name("op"), why: None }
}

fn refused(why: &'static str) -> Verdict {
    Verdict::Ignored(Ignored::Refused(why))
}

// Rule 1: a finish or heartbeat counts only if generation, attempt and token are the current ones.

#[test]
fn a_finish_counts_only_with_the_current_generation_attempt_and_token() {
    let mut d = continuing(&[("a", ALL)], &[]);
    d.lease(TaskIx(0));
    let good = d.report(TaskIx(0), None, Some("1"));
    for wrong in 0..3 {
        let mut report = good.clone();
        match wrong {
            0 => report.generation += 1,
            1 => report.attempt += 1,
            _ => report.token.0 ^= 1,
        }
        assert_eq!(d.say(Event::TaskFinished(report)), STALE);
    }
    let progress = RawValue::from_string("1".into()).unwrap();
    let mut beat = TaskHeartbeat { attempt: d.lease_of("a"), progress };
    assert_eq!(d.say(Event::TaskHeartbeat(beat.clone())), Verdict::Applied);
    beat.attempt.token.0 ^= 1;
    assert_eq!(d.say(Event::TaskHeartbeat(beat)), STALE);
    assert_eq!(d.say(Event::TaskFinished(good)), Verdict::Applied);
}

#[test]
fn the_same_outcome_again_is_a_duplicate_and_any_other_is_stale() {
    let mut d = continuing(&[("a", ALL), ("b", ALL)], &[]);
    d.ok_with("a", r#"{"n":1}"#);
    let same = d.report(TaskIx(0), None, Some(r#"{ "n": 1 }"#));
    assert_eq!(d.say(Event::TaskFinished(same)), DUPLICATE);
    let other = d.report(TaskIx(0), None, Some("2"));
    assert_eq!(d.say(Event::TaskFinished(other)), STALE);
    let failure = d.report(TaskIx(0), Some(Failure::new("timeout", "too late")), None);
    assert_eq!(d.say(Event::TaskFinished(failure)), STALE, "a timeout after the success");
    d.lease(TaskIx(1));
    let timeout = d.report(TaskIx(1), Some(Failure::new("timeout", "too late")), None);
    assert_eq!(d.say(Event::TaskFinished(timeout.clone())), Verdict::Applied);
    assert_eq!(d.say(Event::TaskFinished(timeout)), DUPLICATE);
    let late = d.report(TaskIx(1), None, None);
    assert_eq!(d.say(Event::TaskFinished(late)), STALE, "a success after the timeout");
}

// Rule 2: the first applied fact uses up a key; an ignored one does not.

#[test]
fn an_ignored_fact_uses_up_nothing() {
    let mut d = continuing(&[("a", ALL), ("b", ALL)], &[(0, 1, OK)]);
    let early = Event::DispatchEnqueued(edgewise_core::event::DispatchEnqueued {
        task: TaskIx(1),
        generation: 1,
        attempt: 1,
        token: edgewise_core::id::Token(5).hash(),
        worker: "w".into(),
    });
    assert_eq!(d.say(early.clone()), STALE, "b is not ready");
    d.ok("a");
    assert_eq!(d.say(early.clone()), Verdict::Applied);
    assert_eq!(d.say(early), DUPLICATE);
}

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

// Rule 5: accepted sets and joins, first come first decided, breadth first in plan order.

#[test]
fn an_edge_accepts_its_set_and_nothing_else() {
    let ends: [(Resolution, fn(&mut Driver)); 4] = [
        (Resolution::Success, |d| d.ok("a")),
        (Resolution::Failed, |d| d.fail("a")),
        (Resolution::Skipped, |d| drop(d.skip("a"))),
        (Resolution::Cancelled, |d| drop(d.cancel_task("a"))),
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
        while let Some(t) = d.run.tasks.iter().position(|t| t.state == TaskState::Enqueued) {
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
    d.ok("b");
    d.ok("c");
    d.is(RunState::Complete);
}
