//! Rerun of graphs: what is opened, what is kept, and where it is refused.

use crate::driver::{
    Driver, STALE, Sketch, Watch, action, approval, graph, name, refused, spread, spread_bearing, work,
};
use edgewise_core::event::{Event, RerunFrom, TaskIx};
use edgewise_core::expr::Expr;
use edgewise_core::fold::{Ignored, Verdict};
use edgewise_core::plan::{Accepts, Items, Join, OnFailure, Plan, Resolution, Spread, Work};
use edgewise_core::state::{RunState, TaskState};
use edgewise_core::template::Root;

const OK: Accepts = Accepts::SUCCESS;
const FAILED: Accepts = Accepts::of(Resolution::Failed);

/// `a -> b -> c`, and `x` beside them.
fn line(on_failure: OnFailure) -> Plan {
    let nodes = [("a", Join::All), ("b", Join::All), ("c", Join::All), ("x", Join::All)];
    graph(&nodes, &[(0, 1, OK), (1, 2, OK)], on_failure)
}

fn generations(d: &Driver, paths: &[&str]) -> Vec<u16> {
    paths.iter().map(|p| d.run.tasks[d.ix(p).0 as usize].generation).collect()
}

const DONE: &[&str] = &["a", "b", "c", "x"];

fn complete(plan: Plan, paths: &[&str]) -> Driver {
    let mut d = Driver::planned(plan);
    paths.iter().for_each(|path| d.ok(path));
    d.is(RunState::Complete);
    d
}

#[test]
fn a_task_is_opened_with_everything_that_follows_it_and_nothing_else() {
    let mut d = complete(line(OnFailure::Continue), DONE);
    let ended = d.run.completed_at;
    assert!(ended.known().is_some());
    assert_eq!(d.rerun_task("b"), Verdict::Applied);
    assert_eq!(generations(&d, DONE), [1, 2, 2, 1]);
    assert_eq!(d.states(&["a", "b", "c"]), [TaskState::Complete, TaskState::Enqueued, TaskState::Pending]);
    d.is(RunState::EnqueuingTasks);
    assert!(d.run.completed_at.known().is_none(), "it is not over any more, in the same fold");
    d.ok("b");
    d.ok("c");
    d.is(RunState::Complete);
    d.close();
}

#[test]
fn a_whole_run_is_done_again_once_it_is_over() {
    let mut d = Driver::planned(line(OnFailure::Continue));
    d.ok("a");
    let not_over = "the run is not over: rerun one of its tasks, or cancel it first";
    assert_eq!(d.rerun(RerunFrom::Start), refused(not_over));
    DONE[1..].iter().for_each(|path| d.ok(path));
    assert_eq!(d.rerun(RerunFrom::Start), Verdict::Applied);
    assert_eq!(generations(&d, DONE), [2; 4]);
    assert_eq!(d.states(&["a", "b", "x"]), [TaskState::Enqueued, TaskState::Pending, TaskState::Enqueued]);
    DONE.iter().for_each(|path| d.ok(path));
    d.is(RunState::Complete);
    d.close();
}

#[test]
fn what_failed_is_opened_with_what_was_left_out_because_of_it_and_finished_work_is_kept() {
    let mut d = Driver::planned(line(OnFailure::Continue));
    d.ok("a");
    d.fail("b");
    d.ok("x");
    d.is(RunState::Error);
    assert_eq!(d.rerun(RerunFrom::Failure), Verdict::Applied);
    assert_eq!(generations(&d, DONE), [1, 2, 2, 1]);
    d.ok("b");
    d.ok("c");
    d.is(RunState::Complete);
    let nothing = "nothing of it has failed: rerun it whole, or one of its tasks";
    assert_eq!(d.rerun(RerunFrom::Failure), refused(nothing));
    d.close();
}

#[test]
fn what_a_failure_stopped_is_opened_with_it() {
    let mut d = Driver::planned(line(OnFailure::FailFast));
    d.ok("a");
    d.lease(d.ix("x"));
    d.fail("b");
    assert_eq!(d.states(&["c", "x"]), [TaskState::Skipped, TaskState::Cancelled]);
    assert_eq!(d.rerun(RerunFrom::Failure), Verdict::Applied);
    assert_eq!(d.states(DONE), [TaskState::Complete, TaskState::Enqueued, TaskState::Pending, TaskState::Enqueued]);
    ["b", "c", "x"].iter().for_each(|path| d.ok(path));
    d.is(RunState::Complete);
}

#[test]
fn a_failure_that_was_answered_is_not_opened() {
    let nodes = [("a", Join::All), ("h", Join::All), ("b", Join::All)];
    let mut d = Driver::planned(graph(&nodes, &[(0, 1, FAILED)], OnFailure::Continue));
    d.fail("a");
    d.ok("h");
    d.fail("b");
    assert_eq!(d.rerun(RerunFrom::Failure), Verdict::Applied);
    assert_eq!(generations(&d, &["a", "h", "b"]), [1, 1, 2]);
    d.ok("b");
    d.is(RunState::Complete);
}

#[test]
fn attempts_start_at_zero_and_a_wait_for_the_next_one_is_over() {
    let mut sketch = Sketch::new(OnFailure::Continue);
    let a = sketch.node(0, "a", action(1), &[]);
    sketch.node(0, "b", action(3), &[a]);
    let mut d = Driver::planned(sketch.build());
    d.ok("a");
    d.fail("b");
    assert_eq!((d.state("b"), d.run.timers.len()), (TaskState::WaitingForRetry, 1));
    assert_eq!(d.rerun_task("a"), Verdict::Applied);
    assert_eq!((d.state("b"), d.run.timers.len()), (TaskState::Pending, 0));
    d.ok("a");
    let entry = d.run.tasks[d.ix("b").0 as usize];
    assert_eq!((entry.generation, entry.attempt), (2, 0));
    for _ in 0..2 {
        d.fail("b");
        d.fire_next();
    }
    d.ok("b");
    d.is(RunState::Complete);
}

#[test]
fn leased_work_that_follows_is_revoked_and_its_report_is_stale() {
    let mut d = Driver::planned(line(OnFailure::Continue));
    d.ok("a");
    d.lease(d.ix("b"));
    let (lease, late) = (d.lease_of("b"), d.report(d.ix("b"), None, None));
    assert_eq!(d.rerun_task("a"), Verdict::Applied);
    assert_eq!(d.changes.revoked, [lease]);
    assert_eq!(d.run.leased, 0);
    assert_eq!(d.say(Event::TaskFinished(late)), STALE);
    ["a", "b", "c", "x"].iter().for_each(|path| d.ok(path));
    d.is(RunState::Complete);
}

#[test]
fn a_gate_asks_again() {
    let mut sketch = Sketch::new(OnFailure::Continue);
    let gate = sketch.node(0, "gate", approval(&[], 1), &[]);
    sketch.node(0, "b", action(1), &[gate]);
    let mut d = Driver::planned(sketch.build());
    d.approve("gate", "ann");
    d.ok("b");
    assert_eq!(d.rerun_task("gate"), Verdict::Applied);
    assert_eq!(d.states(&["gate", "b"]), [TaskState::InProgress, TaskState::Pending]);
    assert_eq!(d.approve("gate", "ann"), Verdict::Applied, "what she said of the old one is not said of this one");
    d.ok("b");
    d.is(RunState::Complete);
    d.close();
}

#[test]
fn edges_from_outside_resolve_at_once_from_what_is_already_there() {
    let nodes = [("a", Join::All), ("b", Join::All), ("c", Join::All)];
    let mut d = complete(graph(&nodes, &[(0, 2, OK), (1, 2, OK)], OnFailure::Continue), &["a", "b", "c"]);
    d.rerun_task("a");
    let c = &d.run.tasks[d.ix("c").0 as usize];
    assert_eq!((c.state, c.accepted, c.refused), (TaskState::Pending, 1, 0));
    d.ok("a");
    assert_eq!(d.state("c"), TaskState::Enqueued);
}

#[test]
fn what_had_begun_keeps_the_facts_it_was_ready_by() {
    let nodes = [("a", Join::All), ("h", Join::All)];
    let mut d = Driver::planned(graph(&nodes, &[(0, 1, FAILED)], OnFailure::Continue));
    d.fail("a");
    d.fail("h");
    d.reset("a");
    d.ok("a");
    assert_eq!(d.rerun_task("h"), Verdict::Applied);
    assert_eq!(d.state("h"), TaskState::Enqueued, "it deals with the failure that it was started on");
    d.ok("h");
    d.is(RunState::Complete);
    d.close();
}

#[test]
fn a_task_that_is_not_done_is_refused_with_what_to_do_instead() {
    let mut d = Driver::planned(line(OnFailure::Continue));
    let not_done = refused("the task is not done: let it finish, or skip or cancel it first");
    assert_eq!([d.rerun_task("a"), d.rerun_task("b")], [not_done; 2]);
    d.fail("a");
    assert_eq!(d.rerun_task("b"), refused("it was left out because of a task before it: rerun that one"));
    let task = d.ix("a");
    assert_eq!(d.rerun(RerunFrom::Task { task, generation: 2 }), STALE);
    assert_eq!(d.rerun(RerunFrom::Task { task: TaskIx(9), generation: 1 }), Verdict::Ignored(Ignored::Unknown));
    assert_eq!(d.rerun_task("a"), Verdict::Applied, "of a run that is still at work, too");
    d.is(RunState::EnqueuingTasks);
}

#[test]
fn what_its_own_condition_left_out_is_refused() {
    let when = Expr::root("inputs.no", Root::Input, &["no"]);
    let mut sketch = Sketch::new(OnFailure::Continue);
    sketch.node(0, "a", action(1), &[]);
    let spec = edgewise_core::plan::Spec { when: Some(when), ..action(1) };
    sketch.node(0, "b", spec, &[]);
    let mut d = Driver::planned(sketch.build());
    // What cannot be evaluated fails; it may be tried again and fails again.
    assert_eq!(d.state("b"), TaskState::Error);
    d.ok("a");
    assert_eq!(d.rerun_task("b"), Verdict::Applied);
    assert_eq!(d.state("b"), TaskState::Error);
    d.is(RunState::Error);
    d.close();
}

#[test]
fn a_cancelled_run_takes_nothing_but_a_rerun_and_then_its_cancel_is_gone() {
    let mut d = Driver::planned(line(OnFailure::Continue));
    d.ok("a");
    d.lease(d.ix("b"));
    d.cancel();
    d.is(RunState::Cancelled);
    assert_eq!(d.reset("b"), refused("the run was cancelled"));
    assert_eq!(d.rerun(RerunFrom::Failure), Verdict::Applied);
    assert!(d.run.cancel.is_none());
    assert_eq!(d.states(DONE), [TaskState::Complete, TaskState::Enqueued, TaskState::Pending, TaskState::Enqueued]);
    ["b", "c", "x"].iter().for_each(|path| d.ok(path));
    d.is(RunState::Complete);
    d.rerun(RerunFrom::Start);
    assert_eq!(d.cancel(), Verdict::Applied, "what was opened again can be cancelled again");
    d.is(RunState::Cancelled);
    d.close();
}

#[test]
fn one_task_of_a_cancelled_run_leaves_the_others_cancelled_and_says_why() {
    let mut d = Driver::planned(line(OnFailure::Continue));
    d.ok("a");
    d.cancel();
    assert_eq!(d.rerun_task("c"), refused("it was left out because of a task before it: rerun that one"));
    assert_eq!(d.rerun_task("a"), Verdict::Applied);
    ["a", "b", "c"].iter().for_each(|path| d.ok(path));
    assert_eq!(d.state("x"), TaskState::Cancelled);
    d.is(RunState::Cancelled);
    d.close();
}

#[test]
fn a_run_that_was_dealt_with_is_judged_anew() {
    let mut d = Driver::planned(line(OnFailure::Hold));
    d.fail("a");
    d.resolve_run();
    d.is(RunState::ResolvedManually);
    assert_eq!(d.rerun(RerunFrom::Failure), Verdict::Applied);
    DONE.iter().for_each(|path| d.ok(path));
    d.is(RunState::Complete);
    d.close();
}

#[test]
fn a_failure_that_holds_a_run_holds_what_is_opened_behind_it() {
    let nodes = [("a", Join::All), ("b", Join::All), ("c", Join::All)];
    let mut d = Driver::planned(graph(&nodes, &[(0, 2, OK), (1, 2, OK)], OnFailure::Hold));
    d.fail("a");
    d.ok("b");
    d.cancel();
    assert_eq!(d.rerun_task("b"), Verdict::Applied);
    d.ok("b");
    assert_eq!(d.state("c"), TaskState::Pending, "nobody has decided about `a` yet");
    d.is(RunState::BlockedByFailures);
    d.resolve("a");
    d.ok("c");
    d.is(RunState::Complete);
}

#[test]
fn what_was_decided_when_a_run_was_stopped_stays_so() {
    let nodes = [("a", Join::All), ("h", Join::All), ("x", Join::All)];
    let mut d = Driver::planned(graph(&nodes, &[(0, 1, FAILED)], OnFailure::Hold));
    d.fail("a");
    d.ok("x");
    d.cancel();
    assert_eq!(d.rerun_task("x"), Verdict::Applied);
    assert_eq!(d.states(&["a", "h"]), [TaskState::Error, TaskState::Cancelled]);
    d.ok("x");
    d.is(RunState::Error);
    d.close();
}

#[test]
fn said_twice_it_counts_once() {
    let mut d = complete(line(OnFailure::Continue), DONE);
    d.rerun(RerunFrom::Start);
    let said = d.ledger.last().unwrap().event.clone();
    DONE.iter().for_each(|path| d.ok(path));
    assert_eq!(d.say(said), STALE, "the run is over again, but it is not the run that was meant");
    d.is(RunState::Complete);
}

/// `plan`, a spread over what it made, and `test` behind that.
fn fan() -> Plan {
    let mut sketch = Sketch::new(OnFailure::Continue);
    let inner = sketch.region();
    let plan = sketch.node(0, "plan", action(1), &[]);
    let items = Items::Expr(Expr::root("tasks.plan.output", Root::Output { up: 0, node: plan }, &[]));
    let each = Work::Spread(Spread { region: inner, items, tolerate: 0, fail_fast: false });
    let build = sketch.node(0, "build", work(each), &[plan]);
    sketch.node(0, "test", action(1), &[build]);
    sketch.node(inner, "p", action(1), &[]);
    sketch.build()
}

#[test]
fn failed_items_are_opened_and_the_spread_keeps_its_items_and_what_is_finished_of_them() {
    let mut d = Driver::planned(fan());
    d.ok_with("plan", "[10,20,30]");
    d.ok_with("build[0]", "0");
    d.fail("build[1]");
    d.ok_with("build[2]", "2");
    d.is(RunState::Error);
    assert_eq!(d.rerun(RerunFrom::Failure), Verdict::Applied);
    assert_eq!(generations(&d, &["plan", "build", "build[0]", "build[1]", "build[2]", "test"]), [1, 2, 1, 2, 1, 2]);
    d.ok_with("build[1]", "1");
    assert_eq!(d.run.output(d.ix("build")), &serde_json::json!([0, 1, 2]));
    d.ok("test");
    d.is(RunState::Complete);
    d.close();
}

#[test]
fn an_item_is_opened_with_its_spread_and_what_follows_that() {
    let mut d = Driver::planned(fan());
    d.ok_with("plan", "[1,2]");
    ["build[0]", "build[1]", "test"].iter().for_each(|path| d.ok(path));
    assert_eq!(d.rerun_task("build[0]"), Verdict::Applied);
    let states = [TaskState::InProgress, TaskState::Enqueued, TaskState::Complete, TaskState::Pending];
    assert_eq!(d.states(&["build", "build[0]", "build[1]", "test"]), states);
    d.ok("build[0]");
    d.ok("test");
    d.is(RunState::Complete);
    d.close();
}

#[test]
fn a_spread_that_follows_goes_over_what_there_is_now_and_is_not_counted_twice() {
    let mut d = Driver::planned(fan());
    d.ok_with("plan", "[1,2]");
    d.ok("build[0]");
    d.fail("build[1]");
    assert_eq!(d.rerun_task("plan"), Verdict::Applied);
    d.ok_with("plan", "[1,2,3]");
    assert_eq!(d.states(&["build[0]", "build[1]", "build[2]"]), [TaskState::Enqueued; 3]);
    assert_eq!(generations(&d, &["build", "build[0]"]), [2, 2], "no key of an attempt is used twice");
    assert_eq!(d.run.counts[TaskState::Error as usize], 0, "what is done anew counts once");
    ["build[0]", "build[1]", "build[2]", "test"].iter().for_each(|path| d.ok(path));
    d.is(RunState::Complete);
    assert_eq!(d.run.counts[TaskState::Complete as usize], 6);
    let over = std::mem::take(&mut d.run.over);
    d.run.release(over);
    edgewise_core::invariant::check_state(&d.run).unwrap_or_else(|violation| panic!("{violation}"));
}

#[test]
fn leases_within_a_spread_that_is_done_anew_are_revoked() {
    let mut d = Driver::planned(fan());
    d.ok_with("plan", "[1,2]");
    d.lease(d.ix("build[0]"));
    let (lease, late) = (d.lease_of("build[0]"), d.report(d.ix("build[0]"), None, None));
    let old = d.act("build[0]");
    assert_eq!(d.rerun_task("plan"), Verdict::Applied);
    assert_eq!(d.changes.revoked, [lease]);
    assert_eq!(d.say(Event::TaskFinished(late)), STALE);
    assert_eq!(d.say(Event::TaskResolvedManually(old)), refused("what it was part of was done anew since"));
    d.ok_with("plan", "[]");
    d.ok("test");
    d.is(RunState::Complete);
    d.close();
}

#[test]
fn items_that_were_never_made_are_made_then() {
    let mut sketch = Sketch::new(OnFailure::Continue);
    let inner = sketch.region();
    sketch.node(0, "s", spread_bearing(inner, 3, 0, true), &[]);
    sketch.node(inner, "p", action(1), &[]);
    let mut d = Driver::planned(sketch.build());
    d.ok("s[0]");
    d.fail("s[1]");
    assert_eq!(d.states(&["s", "s[2]"]), [TaskState::Error, TaskState::Cancelled]);
    assert_eq!(d.rerun(RerunFrom::Failure), Verdict::Applied);
    assert_eq!(generations(&d, &["s", "s[0]", "s[1]", "s[2]"]), [2, 1, 2, 2]);
    d.ok("s[1]");
    d.ok("s[2]");
    d.is(RunState::Complete);
    d.close();
}

#[test]
fn what_is_inside_of_something_that_is_done_anew_is_dropped_with_it() {
    let mut sketch = Sketch::new(OnFailure::Continue);
    let inner = sketch.region();
    let a = sketch.node(0, "a", action(1), &[]);
    let s = sketch.node(0, "s", spread(inner, 2), &[]);
    sketch.edge(0, a, s, Accepts::DONE);
    sketch.node(inner, "p", action(1), &[]);
    let mut d = Driver::planned(sketch.build());
    d.fail("a");
    d.fail("s[0]");
    d.ok("s[1]");
    assert_eq!(d.rerun(RerunFrom::Failure), Verdict::Applied);
    assert_eq!(d.states(&["a", "s"]), [TaskState::Enqueued, TaskState::Pending]);
    ["a", "s[0]", "s[1]"].iter().for_each(|path| d.ok(path));
    d.is(RunState::Complete);
    d.close();
}

#[test]
fn failures_of_a_spread_that_bore_them_are_not_opened() {
    let mut sketch = Sketch::new(OnFailure::Continue);
    let inner = sketch.region();
    sketch.node(0, "s", spread_bearing(inner, 2, 1, false), &[]);
    sketch.node(0, "b", action(1), &[]);
    sketch.node(inner, "p", action(1), &[]);
    let mut d = Driver::planned(sketch.build());
    d.fail("s[0]");
    d.ok("s[1]");
    d.fail("b");
    assert_eq!(d.rerun(RerunFrom::Failure), Verdict::Applied);
    assert_eq!(generations(&d, &["s", "s[0]", "b"]), [1, 1, 2]);
}

#[test]
fn opened_work_answers_how_much_of_it_there_is() {
    use edgewise_core::event::Rerun;
    let mut d = Driver::planned(line(OnFailure::Continue));
    d.fail("a");
    d.ok("x");
    let rerun = |from| Rerun { by: name("op"), why: None, from, generation: 1 };
    let count = |from| edgewise_core::fold::reopens(&d.run, &rerun(from));
    assert_eq!([count(RerunFrom::Start), count(RerunFrom::Failure)], [Some(4), Some(3)]);
    let not_done = RerunFrom::Task { task: TaskIx(9), generation: 1 };
    assert_eq!(count(not_done), None);
}

#[test]
fn a_wide_run_is_opened_in_one_pass() {
    const N: usize = 30_000;
    let mut sketch = Sketch::new(OnFailure::Continue);
    let inner = sketch.region();
    sketch.node(0, "s", spread(inner, N), &[]);
    sketch.node(inner, "p", action(1), &[]);
    let mut d = Driver::triggered_watching(sketch.build(), Watch::Nothing);
    d.plan_it();
    while d.run.is_advancing() {
        d.advance();
    }
    d.cancel();
    assert_eq!(d.rerun(RerunFrom::Failure), Verdict::Applied);
    assert_eq!(d.run.counts[TaskState::Enqueued as usize], N as u32);
}
