//! Why a run or a task is where it is: each row drives a run somewhere and reads the reasons back.

use crate::driver::{Driver, Sketch, action, approval, gate, graph, name, plan, spread};
use edgewise_core::event::{Approved, Event, Request, TaskIx};
use edgewise_core::gate::Wait;
use edgewise_core::plan::{Accepts, Join, OnFailure, Plan, Resolution, Spec, Timeouts};
use edgewise_core::rate::Rate;
use edgewise_core::time::{Millis, Time};
use edgewise_core::why::{Closed, Hold, Holder, Shared, Why};

const OK: Accepts = Accepts::SUCCESS;

/// The driver's clock, in seconds since it was started.
fn clock(at: Time) -> String {
    format!("t+{}s", at.since(Time(1_000_000)).0 / 1_000)
}

/// The causes as lines: a task, what is said of it, what it needs, who moves it.
fn told(why: &Why) -> Vec<String> {
    let mut lines = vec![why.sentence(&clock)];
    lines.extend(why.moved_by.iter().map(|m| format!("  > {}", m.sentence(&clock))));
    for cause in &why.causes {
        lines.push(format!("{}: {}", cause.path, cause.sentence(&clock)));
        for need in &cause.needs {
            let condition = need.condition().map(|c| format!(" ({c})")).unwrap_or_default();
            lines.push(format!("  < {}{condition}", need.path));
        }
        lines.extend(cause.moved_by.iter().map(|m| format!("  > {}", m.sentence(&clock))));
    }
    lines
}

fn check(driver: &Driver, task: &str, expected: &[&str]) {
    let why = match task {
        "" => Why::of_run(&driver.run),
        path => Why::of_task(&driver.run, driver.ix(path)),
    };
    assert_eq!(told(&why), expected, "why {task:?}");
    assert!(serde_json::to_value(&why).is_ok());
}

/// a, then b and c, then d.
fn diamond(on_failure: OnFailure) -> Plan {
    let nodes = [("a", action(2), Join::All), ("b", action(1), Join::All), ("c", action(1), Join::All)];
    let nodes = [&nodes[..], &[("d", action(1), Join::All)]].concat();
    plan(&nodes, &[(0, 1, OK), (0, 2, OK), (1, 3, OK), (2, 3, OK)], on_failure)
}

#[test]
fn a_diamond_is_explained_once_and_ends_at_who_can_move_it() {
    let mut d = Driver::planned(diamond(OnFailure::Continue));
    let before = ["d: blocked, has 0 of 2 that it needs", "  < b", "  < c", "b: blocked", "  < a"];
    let ready = ["a: ready, waits for a worker that offers noop, since t+0s", "  > a worker that offers noop"];
    let after = ["c: blocked", "  < a"];
    let run = ["tasks are ready and wait to be taken"];
    check(&d, "d", &[&run[..], &before, &ready, &after].concat());
    d.fail("a");
    let retry = ["a: waits until t+1s for attempt 2 of 2, after boom", "  > at t+1s the next attempt is due"];
    check(&d, "d", &[&["a failed task waits for its next attempt"], &before[..], &retry, &after].concat());
    d.fire_next();
    let a = d.ix("a");
    d.lease(a);
    let work = ["tasks are at work", "a: running, attempt 2 of 2, since t+1s", "  > its worker reports how it ended"];
    check(&d, "", &work);
    check(&d, "a", &work);
}

#[test]
fn a_failure_is_followed_down_to_where_it_happened() {
    let mut d = Driver::planned(diamond(OnFailure::Continue));
    d.fail("a");
    d.fire_next();
    d.fail("a");
    let failed = "a: failed at attempt 2 of 2 with boom: it broke";
    check(&d, "", &["a failure was not answered", failed]);
    let expected = [
        "a failure was not answered",
        "d: skipped, because what it needs was skipped",
        "  < b",
        "b: skipped, because what it needs failed",
        "  < a",
        failed,
    ];
    check(&d, "d", &expected);
}

#[test]
fn a_held_failure_waits_for_an_operator_and_fail_fast_names_its_cause() {
    let nodes = [("a", Join::All), ("b", Join::All), ("c", Join::All)];
    let mut d = Driver::planned(graph(&nodes, &[(0, 1, OK)], OnFailure::Hold));
    d.fail("a");
    d.ok("c");
    let held =
        "a: failed at attempt 1 of 1 with boom: it broke; what follows is held until an operator decides".to_owned();
    let run = "it holds at a failure until an operator decides";
    check(
        &d,
        "b",
        &[run, "b: blocked", "  < a", &held, "  > edgewise task reset 00000000 'a'", "  > edgewise give-up 00000000"],
    );
    check(&d, "", &[run, &held, "  > edgewise task reset 00000000 'a'", "  > edgewise give-up 00000000"]);
    let mut d = Driver::planned(graph(&nodes, &[], OnFailure::FailFast));
    d.fail("a");
    let stopped = "c: cancelled, because another task failed and the rest was not wanted any more";
    let failed = "a: failed at attempt 1 of 1 with boom: it broke";
    check(&d, "c", &["a failure was not answered", stopped, "  < a", failed]);
}

#[test]
fn joins_say_how_many_and_edges_what_they_want() {
    let failed = Accepts::of(Resolution::Failed);
    let nodes = [("a", Join::All), ("b", Join::All), ("any", Join::Any), ("two", Join::Count(2)), ("h", Join::All)];
    let edges = [(0, 2, OK), (1, 2, OK), (0, 3, OK), (1, 3, Accepts::DONE), (1, 4, failed)];
    let mut d = Driver::planned(graph(&nodes, &edges, OnFailure::Continue));
    d.fail("a");
    let b = ["b: ready, waits for a worker that offers noop, since t+0s", "  > a worker that offers noop"];
    let a = "a: failed at attempt 1 of 1 with boom: it broke";
    let run = "tasks are ready and wait to be taken";
    check(&d, "any", &[&[run, "any: blocked, needs one of 2", "  < a", "  < b", a], &b[..]].concat());
    check(&d, "h", &[&[run, "h: blocked", "  < b (must fail)"], &b[..]].concat());
    check(&d, "two", &[run, "two: skipped, because what it needs failed", "  < a", a]);
    d.fail("b");
    let both = ["any: skipped, because what it needs failed", "  < a", "  < b", a];
    let b = "b: failed at attempt 1 of 1 with boom: it broke; the flow answered it";
    check(&d, "any", &[&[run], &both[..], &[b]].concat());
}

#[test]
fn gates_say_for_whom_or_until_when() {
    let nodes = [
        ("sign", approval(&["lead", "quality"], 2), Join::All),
        ("any", approval(&[], 1), Join::All),
        ("wait", gate(Wait::After(Millis(5_000))), Join::All),
    ];
    let mut d = Driver::planned(plan(&nodes, &[], OnFailure::Continue));
    d.approve("sign", "lead");
    let expected = [
        "nothing is at work; it waits",
        "sign: gate, waits for 2 of lead, quality (has lead)",
        "  > edgewise gate approve 00000000 sign --as quality",
        "any: gate, waits for anybody",
        "  > edgewise gate approve 00000000 any",
        "wait: gate, opens at t+5s",
        "  > at t+5s the gate opens",
    ];
    check(&d, "", &expected);
    let no = Approved { task: TaskIx(0), generation: 1, by: name("lead"), comment: Some("no".into()) };
    d.say(Event::GateRejected(no));
    check(&d, "sign", &[expected[0], "sign: failed with rejected: rejected by lead: no"]);
}

#[test]
fn what_is_shared_and_full_is_named_with_who_could_free_it() {
    let mut d = Driver::planned(plan(&[("a", action(1), Join::All)], &[], OnFailure::Continue));
    let holder = Holder { run: d.run.id, task: "s[1]".into(), attempt: 1, worker: "w".into() };
    let full = Closed::Full { most: 2, used: 2, holders: vec![holder] };
    let (rate, opens) = (Rate::parse("1/m").unwrap(), Time(1_060_000));
    let id = d.run.id.short();
    let frees = format!("  > s[1] of run {id} ends, by itself or by `edgewise task cancel {id} 's[1]'`");
    let resumes = "  > edgewise queues resume night";
    let queue = || Shared::Queue(name("night"));
    for (holds, sentence, moves) in [
        (vec![Hold { of: queue(), closed: full }], "queue night is full, with 2 of 2 at work", frees.as_str()),
        (vec![Hold { of: queue(), closed: Closed::Paused }], "queue night is paused", resumes),
        (
            vec![Hold { of: Shared::Key("db".into()), closed: Closed::Rate { rate, opens } }],
            "key db lets 1/m begin, the next at t+60s",
            "  > at t+60s the next one may begin",
        ),
    ] {
        let mut why = Why::of_run(&d.run);
        let a = d.ix("a");
        assert_eq!(why.unclaimed(), [a]);
        why.learn_holds(&d.run, a, holds);
        assert_eq!(told(&why)[1..], [format!("a: ready, but {sentence}"), moves.to_owned()]);
    }
    d.say(Event::RunPauseRequested(Request { by: name("ada"), why: None }));
    assert_eq!(Why::of_run(&d.run).unclaimed(), [], "a run that is paused waits for nothing else");
}

#[test]
fn what_an_engine_does_itself_waits_for_no_worker() {
    for flow in ["flow: f\ntasks:\n  a: { run: x }\n", "flow: f\ntasks:\n  a: { http: 'http://example.com/' }\n"] {
        let plan = edgewise_core::flow::compile(flow, "f.yaml").unwrap().plan;
        let d = Driver::planned(plan);
        assert_eq!(
            told(&Why::of_run(&d.run))[1..],
            ["a: ready, waits for a free slot", "  > an engine at work in this folder"],
            "{flow}"
        );
    }
}

#[test]
fn a_spread_comes_down_to_its_items() {
    let mut sketch = Sketch::new(OnFailure::Continue);
    let item = sketch.region();
    let each = sketch.node(0, "each", spread(item, 3), &[]);
    sketch.node(0, "join", action(1), &[each]);
    sketch.node(item, "each", action(1), &[]);
    let mut d = Driver::planned(sketch.build());
    d.ok("each[0]");
    d.fail("each[1]");
    let run = "tasks are ready and wait to be taken";
    let items = ["each: running, 2 of 3 items ended, 1 failed", "  < each[2]"];
    let ready = ["each[2]: ready, waits for a worker that offers noop, since t+0s", "  > a worker that offers noop"];
    check(&d, "join", &[&[run, "join: blocked", "  < each"], &items[..], &ready].concat());
    d.ok("each[2]");
    let failed = "each: failed with boom: it broke";
    let item = "each[1]: failed at attempt 1 of 1 with boom: it broke";
    check(&d, "", &["a failure was not answered", failed, "  < each[1]", item]);
}

#[test]
fn people_who_paused_skipped_or_cancelled_are_named() {
    let nodes = [("a", Join::All), ("b", Join::All), ("c", Join::All)];
    let mut d = Driver::planned(graph(&nodes, &[(0, 1, OK)], OnFailure::Continue));
    d.say(Event::RunPauseRequested(Request { by: name("op"), why: None }));
    let resume = "  > edgewise resume 00000000";
    let paused = ["tasks are ready, but it is paused"];
    check(&d, "a", &[&paused[..], &["a: ready, but the run is paused", resume]].concat());
    d.skip("a");
    let skipped = ["b: skipped, because what it needs was skipped", "  < a", "a: skipped by op at t+0s"];
    check(&d, "b", &[&paused[..], &skipped].concat());
    d.say(Event::RunCancelRequested(Request { by: name("op"), why: Some("wrong version".into()) }));
    let by = "by op at t+0s: wrong version";
    check(&d, "", &[&format!("cancelled {by}")]);
    check(&d, "c", &[&format!("cancelled {by}"), &format!("c: cancelled with the whole run, {by}")]);
}

#[test]
fn every_instant_that_would_change_something_is_named() {
    let timeouts = Timeouts {
        attempt: Some(Millis(10_000)),
        overall: Some(Millis(60_000)),
        queue: Some(Millis(30_000)),
        heartbeat: None,
    };
    let spec = Spec { timeouts, ..action(2) };
    let mut d = Driver::planned(plan(&[("a", spec, Join::All)], &[], OnFailure::Continue));
    let overall = "  > at t+60s it fails as timeout";
    let ready = ["a: ready, waits for a worker that offers noop, since t+0s", "  > a worker that offers noop"];
    let queue = "  > at t+30s it fails as queue_timeout";
    check(&d, "a", &[&["tasks are ready and wait to be taken"], &ready[..], &[queue, overall]].concat());
    d.lease(TaskIx(0));
    let work = ["a: running, attempt 1 of 2, since t+0s", "  > its worker reports how it ended"];
    let ends = "  > at t+10s the attempt ends as timeout";
    check(&d, "a", &[&["tasks are at work"], &work[..], &[ends, overall]].concat());
    let failed = d.report(TaskIx(0), Some(edgewise_core::event::Failure::new("boom", "")), None);
    d.say(Event::TaskFinished(failed));
    let retry = ["a: waits until t+1s for attempt 2 of 2, after boom", "  > at t+1s the next attempt is due", overall];
    check(&d, "a", &[&["a failed task waits for its next attempt"], &retry[..]].concat());
}

#[test]
fn a_program_says_in_which_round_it_sleeps() {
    let flow = "flow f():\n    for n in [1, 2]:\n        sleep 5s\n    last = @one()\n";
    let flow = edgewise_core::flow::compile_file(flow, "f.flow").unwrap().remove(0);
    let mut d = Driver::planned(flow.plan);
    d.fire_next();
    let sleeps = ["for#1.sleep: gate, opens at t+10s", "  > at t+10s the gate opens"];
    let before = ["nothing is at work; it waits", "last: its program has not come to it", "  < for"];
    check(&d, "last", &[&before[..], &["for: running, in round 2 of 2", "  < for#1.sleep"], &sleeps].concat());
}

#[test]
fn the_ledger_knows_who_paused_it_and_who_works() {
    let nodes = [("a", Join::All), ("b", Join::All)];
    let mut d = Driver::planned(graph(&nodes, &[], OnFailure::Continue));
    d.lease(TaskIx(0));
    for by in ["ada", "op"] {
        d.say(Event::RunPauseRequested(Request { by: name(by), why: Some("a look at it".into()) }));
        if by == "ada" {
            d.say(Event::RunResumeRequested(Request { by: name(by), why: None }));
        }
    }
    let mut why = Why::of_run(&d.run);
    assert!(why.could_learn());
    d.ledger.iter().for_each(|entry| why.learn(entry));
    let told = told(&why);
    assert_eq!(told[0], "tasks are at work; paused by op at t+0s: a look at it");
    assert_eq!(told[1], "a: running, attempt 1 of 1 at w, since t+0s");
    let json = serde_json::to_value(&why).unwrap();
    assert_eq!((&json["paused_by"]["by"], &json["causes"][0]["worker"]), (&"op".into(), &"w".into()));
}

#[test]
fn a_frozen_run_says_who_froze_it_and_how_it_goes_on() {
    for ended in [false, true] {
        let mut d = Driver::planned(graph(&[("a", Join::All)], &[], OnFailure::Continue));
        if ended {
            d.ok("a");
        }
        let was = Why::of_run(&d.run).sentence(&|at| at.to_string());
        d.say(Event::RunFrozen(Request { by: name("op"), why: Some("evidence".into()) }));
        let why = Why::of_run(&d.run);
        let told = told(&why);
        assert_eq!(told[0], format!("frozen by op at t+0s: evidence; {was}"));
        assert!(told[1].contains("edgewise unfreeze"), "{told:?}");
        assert_eq!(serde_json::to_value(&why).unwrap()["frozen_by"]["why"], "evidence");
    }
}

#[test]
fn what_ended_well_is_said_to_have_and_a_run_without_a_plan_waits_for_an_engine() {
    let mut d = Driver::planned(graph(&[("a", Join::All)], &[], OnFailure::Continue));
    d.ok("a");
    check(&d, "", &["every task ended well, or its failure was answered"]);
    check(&d, "a", &["every task ended well, or its failure was answered", "a: succeeded at t+0s"]);
    let d = Driver::triggered(graph(&[("a", Join::All)], &[], OnFailure::Continue));
    let engine = "  > an engine at work in this folder";
    check(&d, "", &["it is accepted, and waits for an engine to plan it", engine]);
}

#[test]
fn a_chain_of_many_tasks_is_a_list_and_no_recursion() {
    let names: Vec<String> = (0..50_000).map(|n| format!("t{n}")).collect();
    let nodes: Vec<_> = names.iter().map(|n| (n.as_str(), Join::All)).collect();
    let edges: Vec<_> = (1..50_000).map(|n| (n - 1, n, OK)).collect();
    let mut d = Driver::triggered_watching(graph(&nodes, &edges, OnFailure::Continue), crate::driver::Watch::Nothing);
    d.plan_it();
    let why = Why::of_task(&d.run, d.ix("t49999"));
    assert_eq!(why.causes.len(), 50_000);
    assert!(serde_json::to_string(&why).unwrap().len() > 1_000_000);
}
