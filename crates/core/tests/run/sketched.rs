//! Sketches of runs: nodes and edges carry their states, and a node within a spread stands for all its tasks.

use crate::driver::{Driver, Sketch as Draft, action, approval, spread};
use edgewise_core::plan::{Accepts, OnFailure, Resolution};
use edgewise_core::sketch::Sketch;
use edgewise_core::state::{Phase, RunState};

/// `list`, then a spread of `fetch` and `store` over three items, a gate beside it, and two behind them.
fn etl() -> Driver {
    let mut draft = Draft::new(OnFailure::Continue);
    let inner = draft.region();
    let list = draft.node(0, "list", action(3), &[]);
    let load = draft.node(0, "load", spread(inner, 3), &[list]);
    let sign = draft.node(0, "sign", approval(&["lead"], 1), &[list]);
    draft.node(0, "publish", action(1), &[load, sign]);
    let page = draft.node(0, "page", action(1), &[]);
    draft.edge(0, load, page, Accepts::of(Resolution::Failed));
    let fetch = draft.node(inner, "fetch", action(1), &[]);
    draft.node(inner, "store", action(1), &[fetch]);
    Driver::planned(draft.build())
}

fn check(d: &Driver, expected: &[(&str, Phase, &str)]) {
    let sketch = Sketch::of_run(&d.run);
    let shown: Vec<_> =
        sketch.nodes().iter().map(|n| (n.id.as_str(), n.now.expect("a run has states").phase, n.line())).collect();
    let expected: Vec<_> = expected.iter().map(|(id, phase, line)| (*id, *phase, (*line).to_owned())).collect();
    assert_eq!(shown, expected);
}

fn facts(d: &Driver) -> Vec<Option<Resolution>> {
    Sketch::of_run(&d.run).edges().iter().map(|edge| edge.resolution).collect()
}

#[test]
fn before_its_plan_everything_is_blocked() {
    let d = Driver::triggered(etl().run.plan.as_ref().clone());
    let sketch = Sketch::of_run(&d.run);
    assert!(sketch.nodes().iter().all(|node| node.now.is_some_and(|now| now.phase == Phase::Blocked)));
    assert_eq!(sketch.run.map(|head| (head.state, head.done, head.total)), Some((RunState::Pending, 0, 5)));
}

#[test]
fn a_run_in_the_middle_shows_how_far_each_node_is() {
    use Phase::{Blocked, Failed, Ready, Running, Succeeded, Waiting};
    let mut d = etl();
    d.fail("list");
    check(
        &d,
        &[
            ("list", Waiting, "waits for attempt 2 of 3"),
            ("load", Blocked, "blocked"),
            ("sign", Blocked, "blocked"),
            ("publish", Blocked, "blocked"),
            ("page", Blocked, "blocked"),
            ("load.fetch", Blocked, "blocked"),
            ("load.store", Blocked, "blocked"),
        ],
    );
    d.fire_next();
    d.ok("list");
    d.ok("load[2].fetch");
    d.ok("load[2].store");
    d.lease(d.ix("load[1].fetch"));
    check(
        &d,
        &[
            ("list", Succeeded, "succeeded, attempt 2 of 3"),
            ("load", Running, "1/3, 1 running"),
            ("sign", Waiting, "waiting"),
            ("publish", Blocked, "blocked"),
            ("page", Blocked, "blocked"),
            ("load.fetch", Running, "1/3, 1 running"),
            ("load.store", Blocked, "1/3"),
        ],
    );
    let open = None;
    let ok = Some(Resolution::Success);
    assert_eq!(facts(&d), [ok, ok, open, open, open, open], "the last is open in two of three scopes");
    let head = Sketch::of_run(&d.run).run.expect("it is a run");
    assert_eq!(head.sentence(), "running, 1 of 5 done");
    d.fail("load[0].fetch");
    let now = |d: &Driver, n: usize| Sketch::of_run(&d.run).nodes()[n].now.expect("a run has states");
    assert_eq!((now(&d, 5).phase, now(&d, 5).count.map(|count| count.failed)), (Running, Some(1)));
    let report = d.report(d.ix("load[1].fetch"), None, None);
    d.say(edgewise_core::event::Event::TaskFinished(report));
    assert_eq!((now(&d, 5).phase, now(&d, 6).phase), (Failed, Ready));
    d.ok("load[1].store");
    assert_eq!((now(&d, 1).phase, now(&d, 3).phase, now(&d, 4).phase), (Failed, Phase::Skipped, Ready));
    assert_eq!(facts(&d)[4], Some(Resolution::Failed));
    d.close();
}

#[test]
fn the_sketch_of_a_run_has_the_nodes_of_its_plan() {
    let d = etl();
    let (plan, run) = (Sketch::of_plan(&d.run.plan), Sketch::of_run(&d.run));
    let ids = |sketch: &Sketch| sketch.nodes().iter().map(|node| node.id.clone()).collect::<Vec<_>>();
    assert_eq!(ids(&plan), ids(&run));
    assert_eq!(plan.groups(), [false, true, false, false, false, false, false]);
    assert!(plan.run.is_none() && plan.nodes().iter().all(|node| node.now.is_none()));
}
