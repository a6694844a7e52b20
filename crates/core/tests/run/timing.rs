//! Where the time of a run went: small graphs, with figures that were computed by hand.

use crate::driver::{Driver, Sketch, action, approval, gate, graph, plan, spread};
use edgewise_core::event::Event;
use edgewise_core::flow::compile_file;
use edgewise_core::gate::Wait;
use edgewise_core::plan::{Accepts, Join, OnFailure};
use edgewise_core::time::Millis;
use edgewise_core::timing::Timing;

const OK: Accepts = Accepts::SUCCESS;

/// `path`, then of each task: waited, ran, slack, and `*` if it is critical; all in seconds.
fn check(driver: &Driver, path: &str, tasks: &[&str]) {
    let timing = Timing::of(&driver.stream(), driver.now);
    let seconds = |span: Millis| span.0 as f64 / 1_000.0;
    let held = |span: Millis| if span.0 > 0 { format!("(held {}) ", seconds(span)) } else { String::new() };
    let told: Vec<String> = timing
        .critical_path
        .iter()
        .map(|link| format!("{}{} {}", held(link.held), link.path, seconds(link.took)))
        .collect();
    assert_eq!(told.join(", "), path);
    let told: Vec<String> = timing
        .tasks
        .iter()
        .map(|t| {
            let slack = t.slack.map_or("?".into(), |span| seconds(span).to_string());
            let mark = if t.critical { " *" } else { "" };
            format!("{} {} {} {slack}{mark}", t.path, seconds(t.waited), seconds(t.ran))
        })
        .collect();
    assert_eq!(told, tasks);
}

fn pass(d: &mut Driver, seconds: u64) {
    d.now = d.now.plus(Millis(seconds * 1_000));
}

fn begin(d: &mut Driver, path: &str) {
    let task = d.ix(path);
    d.lease(task);
}

fn end(d: &mut Driver, path: &str) {
    let report = d.report(d.ix(path), None, None);
    d.say(Event::TaskFinished(report));
}

fn runs_for(d: &mut Driver, path: &str, seconds: u64) {
    begin(d, path);
    pass(d, seconds);
    end(d, path);
}

/// a 2 s, then b 3 s and c 5 s at once, then d.
#[test]
fn the_longer_arm_of_a_diamond_decides_and_the_other_has_slack() {
    let nodes = [("a", Join::All), ("b", Join::All), ("c", Join::All), ("d", Join::All)];
    let edges = [(0, 1, OK), (0, 2, OK), (1, 3, OK), (2, 3, OK)];
    let mut d = Driver::planned(graph(&nodes, &edges, OnFailure::Continue));
    pass(&mut d, 1);
    runs_for(&mut d, "a", 2);
    begin(&mut d, "b");
    begin(&mut d, "c");
    pass(&mut d, 3);
    end(&mut d, "b");
    pass(&mut d, 2);
    end(&mut d, "c");
    let so_far = ["a 1 2 0 *", "b 0 3 2", "c 0 5 0 *"];
    check(&d, "a 3, c 5, d 0", &[&so_far[..], &["d 0 0 ? *"]].concat());
    pass(&mut d, 1);
    runs_for(&mut d, "d", 4);
    check(&d, "a 3, c 5, d 5", &[&so_far[..], &["d 1 4 0 *"]].concat());
}

/// A short branch of two has the slack of both; a side branch may end with the run.
#[test]
fn slack_reaches_back_through_what_follows() {
    let nodes = [("long", Join::All), ("s1", Join::All), ("s2", Join::All), ("end", Join::All), ("side", Join::All)];
    let edges = [(1, 2, OK), (0, 3, OK), (2, 3, OK), (1, 4, OK)];
    let mut d = Driver::planned(graph(&nodes, &edges, OnFailure::Continue));
    begin(&mut d, "long");
    begin(&mut d, "s1");
    pass(&mut d, 2);
    end(&mut d, "s1");
    begin(&mut d, "s2");
    begin(&mut d, "side");
    pass(&mut d, 1);
    end(&mut d, "s2");
    end(&mut d, "side");
    pass(&mut d, 7);
    end(&mut d, "long");
    runs_for(&mut d, "end", 5);
    let tasks = ["long 0 10 0 *", "s1 0 2 7", "s2 0 1 7", "end 0 5 0 *", "side 0 1 12"];
    check(&d, "long 10, end 5", &tasks);
}

/// Two attempts of 2 s with a wait of 1 s between them.
#[test]
fn a_wait_for_the_next_attempt_is_waited_and_not_run() {
    let nodes = [("a", action(2), Join::All), ("b", action(1), Join::All)];
    let mut d = Driver::planned(plan(&nodes, &[], OnFailure::Continue));
    begin(&mut d, "a");
    runs_for(&mut d, "b", 2);
    let failed = d.report(d.ix("a"), Some(edgewise_core::event::Failure::new("boom", "")), None);
    d.say(Event::TaskFinished(failed));
    d.fire_next();
    runs_for(&mut d, "a", 2);
    check(&d, "a 5", &["a 1 4 0 *", "b 0 2 3"]);
}

/// Items of 1, 6 and 2 s, then join.
#[test]
fn a_spread_stands_on_the_path_as_its_last_item() {
    let mut sketch = Sketch::new(OnFailure::Continue);
    let item = sketch.region();
    let each = sketch.node(0, "each", spread(item, 3), &[]);
    sketch.node(0, "join", action(1), &[each]);
    let first = sketch.node(item, "get", action(1), &[]);
    sketch.node(item, "put", action(1), &[first]);
    let mut d = Driver::planned(sketch.build());
    for n in 0..3 {
        begin(&mut d, &format!("each[{n}].get"));
    }
    for (n, seconds) in [(0, 1), (2, 1), (1, 4)] {
        pass(&mut d, seconds);
        end(&mut d, &format!("each[{n}].get"));
        begin(&mut d, &format!("each[{n}].put"));
        end(&mut d, &format!("each[{n}].put"));
    }
    runs_for(&mut d, "join", 2);
    let each = "each 0 6 0 *";
    let items = ["each[0].get 0 1 5", "each[0].put 0 0 5", "each[1].get 0 6 0 *", "each[1].put 0 0 0 *"];
    let last = ["each[2].get 0 2 4", "each[2].put 0 0 4", "join 0 2 0 *"];
    check(&d, "each[1].get 6, each[1].put 0, join 2", &[&[each], &items[..], &last].concat());
}

#[test]
fn a_join_of_any_waits_for_the_first_and_the_others_do_not_bind_it() {
    let nodes = [("slow", Join::All), ("quick", Join::All), ("any", Join::Any)];
    let mut d = Driver::planned(graph(&nodes, &[(0, 2, OK), (1, 2, OK)], OnFailure::Continue));
    begin(&mut d, "slow");
    runs_for(&mut d, "quick", 1);
    begin(&mut d, "any");
    pass(&mut d, 2);
    end(&mut d, "slow");
    pass(&mut d, 7);
    end(&mut d, "any");
    check(&d, "quick 1, any 9", &["slow 0 3 7", "quick 0 1 0 *", "any 0 9 0 *"]);
}

#[test]
fn gates_wait_and_what_is_at_work_counts_as_ending_now() {
    let nodes = [
        ("sleep", gate(Wait::After(Millis(3_000))), Join::All),
        ("sign", approval(&["lead"], 1), Join::All),
        ("a", action(1), Join::All),
    ];
    let mut d = Driver::planned(plan(&nodes, &[(0, 2, OK)], OnFailure::Continue));
    d.fire_next();
    begin(&mut d, "a");
    pass(&mut d, 4);
    // Both end now; the gate was ready first.
    check(&d, "sign 7", &["sleep 3 0 0", "sign 7 0 ? *", "a 0 4 ?"]);
    d.approve("sign", "lead");
    check(&d, "sleep 3, a 4", &["sleep 3 0 0 *", "sign 7 0 0", "a 0 4 ? *"]);
}

#[test]
fn what_was_left_out_took_no_time_and_a_failure_ends_the_path_it_caused() {
    let nodes = [("a", Join::All), ("b", Join::All), ("c", Join::All), ("other", Join::All)];
    let edges = [(0, 1, OK), (1, 2, Accepts::of(edgewise_core::plan::Resolution::Skipped))];
    let mut d = Driver::planned(graph(&nodes, &edges, OnFailure::Continue));
    begin(&mut d, "other");
    begin(&mut d, "a");
    pass(&mut d, 2);
    let failed = d.report(d.ix("a"), Some(edgewise_core::event::Failure::permanent("boom", "")), None);
    d.say(Event::TaskFinished(failed));
    runs_for(&mut d, "c", 1);
    end(&mut d, "other");
    // b was skipped because of a, and c wanted just that.
    check(&d, "other 3", &["a 0 2 0", "c 0 1 0", "other 0 3 0 *"]);
    let mut d = Driver::planned(graph(&nodes[..3], &[], OnFailure::FailFast));
    begin(&mut d, "a");
    begin(&mut d, "b");
    pass(&mut d, 2);
    let failed = d.report(d.ix("b"), Some(edgewise_core::event::Failure::permanent("boom", "")), None);
    d.say(Event::TaskFinished(failed));
    check(&d, "b 2", &["a 0 2 0", "b 0 2 0 *", "c 2 0 0"]);
}

#[test]
fn the_time_before_an_operator_opened_work_again_is_held() {
    let nodes = [("a", Join::All), ("b", Join::All)];
    let mut d = Driver::planned(graph(&nodes, &[(0, 1, OK)], OnFailure::Continue));
    runs_for(&mut d, "a", 1);
    begin(&mut d, "b");
    pass(&mut d, 5);
    let failed = d.report(d.ix("b"), Some(edgewise_core::event::Failure::permanent("boom", "")), None);
    d.say(Event::TaskFinished(failed));
    pass(&mut d, 60);
    d.reset("b");
    runs_for(&mut d, "b", 2);
    // What an earlier generation took is not the time of this one.
    check(&d, "a 1, (held 65) b 2", &["a 0 1 65 *", "b 0 2 0 *"]);
}

#[test]
fn the_rounds_of_a_program_follow_each_other() {
    let flow = "flow f():\n    for n in [1, 2]:\n        a = @one(n=n)\n        b = @two(n=n)\n    \
                left, right = parallel:\n        @three()\n        @four()\n    last = @five()\n";
    let plan = compile_file(flow, "f.flow").unwrap().remove(0).plan;
    let mut d = Driver::planned(plan);
    for (path, seconds) in [("for#0.a", 1), ("for#0.b", 2), ("for#1.a", 3), ("for#1.b", 4)] {
        runs_for(&mut d, path, seconds);
    }
    begin(&mut d, "parallel[0]");
    runs_for(&mut d, "parallel[1]", 5);
    pass(&mut d, 1);
    end(&mut d, "parallel[0]");
    runs_for(&mut d, "last", 1);
    let rounds = "for#0.a 1, for#0.b 2, for#1.a 3, for#1.b 4";
    let tasks = ["for 0 10 0 *", "for#0.a 0 1 0 *", "for#0.b 0 2 0 *", "for#1.a 0 3 0 *", "for#1.b 0 4 0 *"];
    let rest = ["parallel 0 6 0 *", "parallel[0] 0 6 0 *", "parallel[1] 0 5 1", "last 0 1 0 *"];
    check(&d, &format!("{rounds}, parallel[0] 6, last 1"), &[&tasks[..], &rest].concat());
}

#[test]
fn a_chain_of_many_tasks_is_a_list_and_no_recursion() {
    let names: Vec<String> = (0..20_000).map(|n| format!("t{n}")).collect();
    let nodes: Vec<_> = names.iter().map(|n| (n.as_str(), Join::All)).collect();
    let edges: Vec<_> = (1..20_000).map(|n| (n - 1, n, OK)).collect();
    let mut d = Driver::triggered_watching(graph(&nodes, &edges, OnFailure::Continue), crate::driver::Watch::Nothing);
    d.plan_it();
    for n in 0..20_000 {
        let task = edgewise_core::event::TaskIx(n);
        d.lease(task);
        pass(&mut d, 1);
        let report = d.report(task, None, None);
        d.say(Event::TaskFinished(report));
    }
    let timing = Timing::of(&d.stream(), d.now);
    assert_eq!((timing.critical_path.len(), timing.took()), (20_000, Millis(20_000_000)));
    assert!(timing.tasks.iter().all(|task| task.slack == Some(Millis(0))));
}
