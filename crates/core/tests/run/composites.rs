//! Spreads and gates: what waits for its items, for people or for time.

use crate::driver::{DUPLICATE, Driver, Sketch, Watch, action, approval, plan, refused, spread, spread_bearing, work};
use edgewise_core::event::TaskIx;
use edgewise_core::expr::Expr;
use edgewise_core::fold::{Ignored, Verdict};
use edgewise_core::gate::{Gate, OnDeadline, Wait};
use edgewise_core::plan::{Items, Join, OnFailure, Spread, Work};
use edgewise_core::state::{RunState, TaskState};
use edgewise_core::template::Root;
use edgewise_core::time::{Millis, Time};

const ALL: Join = Join::All;

#[test]
fn an_empty_spread_ends_at_once_with_an_empty_list() {
    let mut sketch = Sketch::new(OnFailure::Continue);
    let inner = sketch.region();
    let s = sketch.node(0, "s", spread(inner, 0), &[]);
    sketch.node(0, "after", action(1), &[s]);
    sketch.node(inner, "one", action(1), &[]);
    let d = Driver::planned(sketch.build());
    assert_eq!(d.states(&["s", "after"]), [TaskState::Complete, TaskState::Enqueued]);
    assert_eq!(*d.run.output(TaskIx(0)), serde_json::json!([]));
}

/// A spread that stops at the first of its items that fails.
fn failing_fast(items: usize) -> Driver {
    let mut sketch = Sketch::new(OnFailure::Continue);
    let inner = sketch.region();
    sketch.node(0, "s", spread_bearing(inner, items, 0, true), &[]);
    sketch.node(inner, "one", action(1), &[]);
    let mut d = Driver::triggered_watching(sketch.build(), Watch::Nothing);
    assert_eq!(d.plan_it(), Verdict::Applied);
    d.fail("s[0]");
    d
}

#[test]
fn a_spread_that_fails_fast_is_stopped_once_however_many_items_follow() {
    for items in [3, 1_000] {
        let d = failing_fast(items);
        assert_eq!(d.states(&["s", "s[1]"]), [TaskState::Error, TaskState::Cancelled]);
        let looks = d.changes.touched.iter().filter(|task| **task == d.ix("s")).count();
        assert!(looks < 3, "{looks} times for {items} items: each of them looks at all of them");
    }
}

#[test]
fn a_spread_bears_as_many_failures_as_it_says() {
    for (tolerate, fails, expected) in
        [(0, 0, TaskState::Complete), (0, 1, TaskState::Error), (1, 1, TaskState::Complete), (1, 2, TaskState::Error)]
    {
        let mut sketch = Sketch::new(OnFailure::Continue);
        let inner = sketch.region();
        sketch.node(0, "s", spread_bearing(inner, 3, tolerate, false), &[]);
        sketch.node(inner, "one", action(1), &[]);
        let mut d = Driver::planned(sketch.build());
        for item in 0..3 {
            let path = format!("s[{item}]");
            if item < fails { d.fail(&path) } else { d.ok_with(&path, "1") }
        }
        assert_eq!(d.state("s"), expected, "{fails} failures of {tolerate} tolerated");
        if expected == TaskState::Complete && fails == 1 {
            let output = d.run.output(TaskIx(0));
            assert_eq!((&output[0]["error"]["type"], &output[1]), (&"boom".into(), &1.into()));
        }
    }
}

#[test]
fn spreads_nest_and_read_what_is_outside_of_them() {
    let mut sketch = Sketch::new(OnFailure::Continue);
    let outer = sketch.region();
    let inner = sketch.region();
    let list = Expr::root("inputs", Root::Input, &["list"]);
    let over = |region, items| work(Work::Spread(Spread { region, items, tolerate: 0, fail_fast: false }));
    sketch.node(0, "s", over(outer, Items::Expr(list)), &[]);
    let pairs = sketch.node(outer, "pairs", action(1), &[]);
    let made = Expr::root("tasks.pairs.output", Root::Output { up: 0, node: pairs }, &[]);
    sketch.node(outer, "each", over(inner, Items::Expr(made)), &[pairs]);
    sketch.node(inner, "leaf", action(1), &[]);
    let mut d = Driver::planned(sketch.build());
    for (item, output) in ["[1]", "[]", "[1,2]"].into_iter().enumerate() {
        d.ok_with(&format!("s[{item}].pairs"), output);
    }
    for leaf in ["s[0].each[0]", "s[2].each[0]", "s[2].each[1]"] {
        d.ok_with(leaf, "7");
    }
    d.is(RunState::Complete);
    let each: Vec<&serde_json::Value> =
        d.run.output(TaskIx(0)).as_array().unwrap().iter().map(|s| &s["each"]).collect();
    assert_eq!(serde_json::to_string(&each).unwrap(), "[[7],[],[7,7]]");
}

#[test]
fn a_spread_over_what_is_no_list_fails_without_an_attempt() {
    let mut sketch = Sketch::new(OnFailure::Continue);
    let inner = sketch.region();
    let no_list = Items::Expr(Expr::root("inputs", Root::Input, &[]));
    sketch.node(
        0,
        "s",
        work(Work::Spread(Spread { region: inner, items: no_list, tolerate: 0, fail_fast: false })),
        &[],
    );
    sketch.node(inner, "one", action(1), &[]);
    let d = Driver::planned(sketch.build());
    assert_eq!(d.run.failure_of(TaskIx(0)).unwrap().kind, "TypeMismatch");
    d.is(RunState::Error);
}

#[test]
fn n_approvals_are_n_different_permitted_people() {
    let mut sketch = Sketch::new(OnFailure::Continue);
    let g = sketch.node(0, "g", approval(&["ann", "bob", "cyd"], 2), &[]);
    sketch.node(0, "after", action(1), &[g]);
    let mut d = Driver::planned(sketch.build());
    assert_eq!(d.approve("g", "ann"), Verdict::Applied);
    assert_eq!(d.approve("g", "ann"), DUPLICATE);
    assert_eq!(d.approve("g", "eve"), Verdict::Ignored(Ignored::Denied));
    assert_eq!(d.state("g"), TaskState::InProgress);
    assert_eq!(d.approve("g", "bob"), Verdict::Applied);
    assert_eq!(d.states(&["g", "after"]), [TaskState::Complete, TaskState::Enqueued]);
    assert_eq!(d.approve("g", "cyd"), refused("the gate is not waiting any more"));
}

#[test]
fn a_gate_that_stays_closed_meets_its_deadline() {
    for (on_deadline, expected) in [(OnDeadline::Reject, TaskState::Error), (OnDeadline::Open, TaskState::Complete)] {
        let wait = Wait::Approval { from: Vec::new(), count: 1 };
        let gate = Gate { deadline: Some(Millis(5_000)), on_deadline, ..Gate::new(wait) };
        let mut d = Driver::planned(plan(&[("g", work(Work::Gate(gate)), ALL)], &[], OnFailure::Continue));
        d.is(RunState::WaitingForDependencies);
        d.fire_next();
        assert_eq!((d.now, d.state("g")), (Time(1_005_000), expected));
        assert!(d.run.timers.is_empty());
    }
}
