//! What if: facts that have not happened, and what would come of them. Each row is folded as the engine would fold it.

use crate::driver::{Driver, Sketch, action, approval, gate, graph, name, plan, spread};
use crate::links::sub_run;
use edgewise_core::flow::compile_file;
use edgewise_core::gate::Wait;
use edgewise_core::plan::{Accepts, Join, OnFailure};
use edgewise_core::state::RunState;
use edgewise_core::time::Millis;
use edgewise_core::what_if::{Fact, Supposition};

const OK: Accepts = Accepts::SUCCESS;

fn supposed(driver: &Driver, facts: &str) -> Result<Supposition, String> {
    let mut supposition = Supposition::of(driver.run.clone(), driver.now, name("op"));
    for fact in facts.split_whitespace() {
        match fact {
            "..." => supposition.rest_goes_well(),
            fact => supposition.suppose(&Fact::parse(fact).unwrap()),
        }
        .map_err(|error| error.message)?;
    }
    Ok(supposition)
}

/// The facts, where the run would be, and `task: from > to` for each task that would be elsewhere.
fn check(driver: &Driver, facts: &str, state: &str, changes: &[&str]) {
    let before = driver.run.clone();
    let foretold = supposed(driver, facts).unwrap_or_else(|why| panic!("{facts}: {why}")).end();
    let told: Vec<String> = foretold
        .changes
        .iter()
        .map(|change| {
            let from = change.from.map_or("new", |phase| phase.word());
            format!("{}: {from} > {}", change.to.path, change.to.phase.word())
        })
        .collect();
    assert_eq!(
        (format!("{:?}", foretold.state).as_str(), told.iter().map(String::as_str).collect::<Vec<_>>()),
        (state, changes.to_vec()),
        "{facts}"
    );
    assert!(serde_json::to_value(&foretold).is_ok());
    assert_eq!(driver.run, before, "nothing happens to the run itself");
}

fn refuse(driver: &Driver, facts: &str, expected: &str) {
    let Err(why) = supposed(driver, facts) else { panic!("{facts} was not refused") };
    assert!(why.contains(expected), "{facts}: {why}");
}

/// a, then b and c, then d; clean-up if b fails.
fn release() -> Driver {
    let nodes = [("a", Join::All), ("b", Join::All), ("c", Join::All), ("d", Join::All), ("clean-up", Join::All)];
    let failed = Accepts::of(edgewise_core::plan::Resolution::Failed);
    let edges = [(0, 1, OK), (0, 2, OK), (1, 3, OK), (2, 3, OK), (1, 4, failed)];
    Driver::planned(graph(&nodes, &edges, OnFailure::Continue))
}

#[test]
fn what_becomes_ready_or_is_left_out_is_foretold() {
    let d = release();
    check(&d, "a=ok", "EnqueuingTasks", &["a: ready > succeeded", "b: blocked > ready", "c: blocked > ready"]);
    let lost = ["a: ready > failed", "b: blocked > skipped", "c: blocked > skipped", "d: blocked > skipped"];
    check(&d, "a=fail", "Error", &[&lost[..], &["clean-up: blocked > skipped"]].concat());
    let handled = ["a: ready > succeeded", "b: blocked > failed", "c: blocked > succeeded", "d: blocked > skipped"];
    check(&d, "a=ok b=fail:exit_1 ...", "Complete", &[&handled[..], &["clean-up: blocked > succeeded"]].concat());
    let all = ["a: ready > succeeded", "b: blocked > succeeded", "c: blocked > succeeded"];
    check(&d, "...", "Complete", &[&all[..], &["clean-up: blocked > skipped", "d: blocked > succeeded"]].concat());
    check(&d, "pause", "EnqueuingTasks", &[]);
}

#[test]
fn people_and_operators_are_supposed_to_act() {
    let nodes = [("sign", approval(&["lead", "quality"], 2), Join::All), ("go", action(1), Join::All)];
    let d = Driver::planned(plan(&nodes, &[(0, 1, OK)], OnFailure::Continue));
    check(&d, "sign=approve:lead", "WaitingForDependencies", &[]);
    let open = ["sign: waiting > succeeded", "go: blocked > ready"];
    check(&d, "sign=approve:lead sign=approve:quality", "EnqueuingTasks", &open);
    check(&d, "sign=approve", "EnqueuingTasks", &open);
    check(&d, "sign=ok", "EnqueuingTasks", &open);
    check(&d, "sign=reject", "Error", &["sign: waiting > failed", "go: blocked > skipped"]);
    check(&d, "sign=skip", "Complete", &["sign: waiting > skipped", "go: blocked > skipped"]);
    check(&d, "sign=resolve", "EnqueuingTasks", &open);
    check(&d, "cancel", "Cancelled", &["sign: waiting > cancelled", "go: blocked > cancelled"]);
    check(&d, "resolve", "ResolvedManually", &["sign: waiting > cancelled", "go: blocked > cancelled"]);
    refuse(&d, "sign=approve:ada", "this person may not");
    refuse(&d, "sign=approve:lead sign=approve:lead", "that is so already");
    refuse(&d, "sign=fail", "=reject");
    refuse(&d, "go=approve", "it is not a gate");
}

#[test]
fn a_failed_task_may_be_reset_and_what_was_lost_with_it_comes_back() {
    let mut d = release();
    d.fail("a");
    let back = ["a: failed > succeeded", "b: skipped > succeeded", "c: skipped > succeeded", "d: skipped > succeeded"];
    check(&d, "a=reset a=ok ...", "Complete", &back);
    refuse(&d, "a=ok", "`=reset` opens failed work again");
}

#[test]
fn what_is_done_elsewhere_ends_well_or_badly_and_the_rest_goes_on_behind_it() {
    let flow = |work: &str| {
        let text = format!("flow: f\ntasks:\n  ask: {{ {work}, retry: 1 }}\n  z: {{ after: ask, action: x }}\n");
        compile_file(&text, "f.yaml").unwrap().remove(0).plan
    };
    let nodes = [("ask", sub_run(1), Join::All), ("z", action(1), Join::All)];
    for (plan, was) in [
        (flow("item: Look at it"), "waiting"),
        (flow("http: 'http://example.com/'"), "ready"),
        (plan(&nodes, &[(0, 1, OK)], OnFailure::Continue), "waiting"),
    ] {
        let d = Driver::planned(plan);
        let (well, badly) = (format!("ask: {was} > succeeded"), format!("ask: {was} > failed"));
        check(&d, "...", "Complete", &[&well, "z: blocked > succeeded"]);
        check(&d, "ask=ok", "EnqueuingTasks", &[&well, "z: blocked > ready"]);
        check(&d, "ask=fail:late", "Error", &[&badly, "z: blocked > skipped"]);
        let foretold = supposed(&d, "ask=fail:late").unwrap().end();
        let sentence = foretold.changes[0].to.sentence(&|at| at.to_string());
        assert_eq!(sentence, "failed at attempt 1 of 1 with late: supposed");
        refuse(&d, "ask=ok ask=fail", "it is done");
        refuse(&d, "z=ok", "waits for ask");
        let output = supposed(&d, "ask:={\"n\":7}").unwrap();
        assert_eq!(output.run().output(d.ix("ask"))["n"], 7);
    }
}

#[test]
fn a_child_that_fails_once_is_begun_again() {
    let flow = "flow: f\ntasks:\n  ask: { item: Look at it, retry: { max_attempts: 2 } }\n";
    let d = Driver::planned(compile_file(flow, "f.yaml").unwrap().remove(0).plan);
    check(&d, "ask=fail-once", "WaitingForRetry", &["ask: waiting > waiting"]);
    check(&d, "ask=fail-once ask=ok", "Complete", &["ask: waiting > succeeded"]);
    check(&d, "ask=fail-once ask=fail", "Error", &["ask: waiting > failed"]);
}

#[test]
fn an_operator_may_be_supposed_to_do_it_again_to_give_up_or_to_do_it_by_hand() {
    let mut d = release();
    let by_hand = ["a: ready > succeeded", "b: blocked > ready", "c: blocked > ready"];
    check(&d, "a=complete:{\"n\":1}", "EnqueuingTasks", &by_hand);
    assert_eq!(supposed(&d, "a=complete:7").unwrap().run().output(d.ix("a")), &7);
    refuse(&d, "rerun", "the run is not over");
    ["a", "b", "c", "d"].iter().for_each(|path| d.ok(path));
    d.is(RunState::Complete);
    let again = ["c: succeeded > ready", "d: succeeded > blocked"];
    check(&d, "c=rerun", "EnqueuingTasks", &again);
    let all = ["a: succeeded > ready", "b: succeeded > blocked", "c: succeeded > blocked", "d: succeeded > blocked"];
    check(&d, "rerun", "EnqueuingTasks", &[&all[..], &["clean-up: skipped > blocked"]].concat());
    let same = ["a: succeeded > succeeded", "b: succeeded > succeeded", "c: succeeded > succeeded"];
    check(&d, "rerun ...", "Complete", &[&same[..], &["d: succeeded > succeeded"]].concat());
    let mut held = Driver::planned(graph(&[("a", Join::All), ("b", Join::All)], &[(0, 1, OK)], OnFailure::Hold));
    refuse(&held, "give-up", "it cannot be that the run is given up");
    held.fail("a");
    held.is(RunState::BlockedByFailures);
    check(&held, "give-up", "Error", &["b: blocked > skipped"]);
}

#[test]
fn attempts_and_timers_fall_due_in_their_order() {
    let nodes = [("a", action(2), Join::All), ("wait", gate(Wait::After(Millis(7_200_000))), Join::All)];
    let d = Driver::planned(plan(&nodes, &[], OnFailure::Continue));
    check(&d, "a=fail-once", "WaitingForRetry", &["a: ready > waiting"]);
    check(&d, "a=fail-once +1s", "EnqueuingTasks", &["a: ready > ready"]);
    check(&d, "a=fail-once a=fail-once", "WaitingForDependencies", &["a: ready > failed"]);
    check(&d, "a=fail", "WaitingForDependencies", &["a: ready > failed"]);
    check(&d, "+1h", "EnqueuingTasks", &[]);
    check(&d, "+1h +1h a=ok", "Complete", &["wait: waiting > succeeded", "a: ready > succeeded"]);
    let foretold = supposed(&d, "...").unwrap().end();
    assert_eq!(foretold.at.since(d.now), Millis(7_200_000));
}

#[test]
fn everything_inside_of_a_composite_may_be_meant_at_once() {
    let mut sketch = Sketch::new(OnFailure::Continue);
    let item = sketch.region();
    let each = sketch.node(0, "each", spread(item, 2), &[]);
    sketch.node(0, "join", action(1), &[each]);
    sketch.node(item, "each", action(1), &[]);
    let d = Driver::planned(sketch.build());
    let items = ["each[0]: ready > succeeded", "each[1]: ready > succeeded", "each: running > succeeded"];
    check(&d, "each=ok", "EnqueuingTasks", &[&items[..], &["join: blocked > ready"]].concat());
    let failed = ["each[0]: ready > failed", "each[1]: ready > failed", "each: running > failed"];
    check(&d, "each=fail", "Error", &[&failed[..], &["join: blocked > skipped"]].concat());
    refuse(&d, "each:=[1]", "made by what is inside of it");
    refuse(&d, "each[7]=ok", "did you mean");
    refuse(&d, "elsewhere=ok", "exists once it has begun");
    refuse(&d, "join=ok", "it is not ready, and waits for each");
}

#[test]
fn what_is_paused_does_not_begin() {
    let mut d = release();
    d.say(edgewise_core::event::Event::RunPauseRequested(edgewise_core::event::Request { by: name("op"), why: None }));
    refuse(&d, "a=ok", "suppose `resume` first");
    check(
        &d,
        "resume a=fail",
        "Error",
        &[
            "a: ready > failed",
            "b: blocked > skipped",
            "c: blocked > skipped",
            "d: blocked > skipped",
            "clean-up: blocked > skipped",
        ],
    );
    refuse(&d, "pause", "that is so already");
}

/// Two rounds, then something that needs what the last of them made.
#[test]
fn programs_go_on_and_what_is_not_known_is_said_to_be() {
    let flow =
        "flow f():\n    a = null\n    for n in [1, 2]:\n        a = @one(n=n)\n    b = @two(x=a.size)\n    return b\n";
    let d = Driver::planned(compile_file(flow, "f.flow").unwrap().remove(0).plan);
    let rounds = ["for#0.a: ready > succeeded", "for#1.a: new > succeeded", "for: running > succeeded"];
    check(
        &d,
        "for#0.a=ok for#1.a:={\"size\":3} b=ok",
        "Complete",
        &[&rounds[..], &["b: blocked > succeeded"]].concat(),
    );
    let foretold = supposed(&d, "...").unwrap().end();
    assert_eq!(
        (foretold.state, foretold.assumed_null),
        (RunState::Error, vec!["for#0.a".to_owned(), "for#1.a".to_owned()])
    );
    let foretold = supposed(&d, "for#0.a=fail").unwrap().end();
    assert_eq!((foretold.state, foretold.assumed_null), (RunState::Error, vec![]), "nothing was misled");
    refuse(&d, "b=ok", "waits for for");
    refuse(&d, "for#1.a=ok", "did you mean");
}
