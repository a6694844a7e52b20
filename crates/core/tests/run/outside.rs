//! Gates that wait for something outside: a call of their address, or another system.

use crate::driver::{Driver, Sketch, Watch, action, approval, gate, name, refused};
use crate::programs::{Performance, compiled};
use edgewise_core::event::{Approved, Event, GateSatisfied, RerunFrom, TaskIx};
use edgewise_core::fold::{Ignored, Verdict};
use edgewise_core::gate::{Gate, OnDeadline, Wait};
use edgewise_core::plan::{OnFailure, Plan, Work};
use edgewise_core::state::{RunState, TaskState};
use edgewise_core::template::Template;
use edgewise_core::time::Millis;
use edgewise_core::why::Why;
use serde_json::value::RawValue;
use serde_json::{Value, json};

pub fn external(id: &str) -> Wait {
    Wait::External { system: name("jira"), id: Template::Value(id.into()) }
}

/// `t` behind `other`, and something behind `t`.
fn waiting(wait: Wait) -> Driver {
    let mut sketch = Sketch::new(OnFailure::Continue);
    sketch.node(0, "other", action(1), &[]);
    sketch.node(0, "t", gate(wait), &[0]);
    sketch.node(0, "next", action(1), &[1]);
    Driver::planned(sketch.build())
}

fn told(d: &Driver, path: &str, generation: u16, output: Option<&Value>) -> Event {
    let output = output.map(|value| RawValue::from_string(value.to_string()).unwrap());
    let (task, by, delivery) = (d.ix(path), name("webhook"), Some("msg_1".to_owned()));
    Event::GateSatisfied(GateSatisfied { task, generation, by, comment: None, delivery, output })
}

fn satisfy(d: &mut Driver, path: &str, output: Option<&Value>) -> Verdict {
    let generation = d.run.tasks[d.ix(path).0 as usize].generation;
    let event = told(d, path, generation, output);
    d.say(event)
}

fn said(d: &Driver, path: &str) -> Approved {
    let task = d.ix(path);
    Approved { task, generation: d.run.tasks[task.0 as usize].generation, by: name("ann"), comment: None }
}

#[test]
fn a_word_from_outside_opens_a_gate_that_waits_for_one_and_no_other() {
    for (wait, expected) in [
        (Wait::Webhook, Verdict::Applied),
        (external("ABC-1"), Verdict::Applied),
        (Wait::After(Millis(5)), refused("it opens by itself when its time has come")),
        (
            Wait::Approval { from: vec![name("ann")], count: 1 },
            refused("it asks for approvals, which nobody can go round"),
        ),
    ] {
        let mut d = waiting(wait.clone());
        if expected == Verdict::Applied {
            assert_eq!(satisfy(&mut d, "t", None), refused("the gate is not reached yet"), "{wait:?}");
        }
        assert_eq!(satisfy(&mut d, "other", None), refused("it is not a gate"), "{wait:?}");
        d.ok("other");
        assert_eq!(satisfy(&mut d, "t", Some(&json!({ "n": 7 }))), expected, "{wait:?}");
        if expected == Verdict::Applied {
            assert_eq!(*d.run.outputs[&d.ix("t")], json!({ "n": 7 }), "what came is the output");
            assert_eq!(satisfy(&mut d, "t", None), refused("the gate is not waiting any more"), "{wait:?}");
            assert_eq!(d.state("next"), TaskState::Enqueued);
        }
    }
}

#[test]
fn people_do_not_approve_what_waits_for_something_outside_but_anybody_may_reject_it() {
    for wait in [Wait::Webhook, external("ABC-1")] {
        let mut d = waiting(wait);
        d.ok("other");
        for event in [Event::ApprovalGiven, Event::ApprovalWithdrawn] {
            let event = event(said(&d, "t"));
            assert_eq!(d.say(event), refused("it is not an approval gate"));
        }
        let no = Event::GateRejected(said(&d, "t"));
        assert_eq!(d.say(no), Verdict::Applied);
        assert_eq!((d.state("t"), d.state("next")), (TaskState::Error, TaskState::Skipped));
        assert_eq!(d.run.failure_of(d.ix("t")).unwrap().kind, "rejected");
    }
}

#[test]
fn a_deadline_rejects_or_opens_what_nobody_called() {
    for wait in [Wait::Webhook, external("ABC-1")] {
        for (on_deadline, state) in [(OnDeadline::Reject, TaskState::Error), (OnDeadline::Open, TaskState::Complete)] {
            let mut sketch = Sketch::new(OnFailure::Continue);
            let bounded = Gate { deadline: Some(Millis(5_000)), on_deadline, ..Gate::new(wait.clone()) };
            sketch.node(0, "t", crate::driver::work(Work::Gate(bounded)), &[]);
            let mut d = Driver::planned(sketch.build());
            assert_eq!(d.fire_next(), Verdict::Applied);
            assert_eq!(d.state("t"), state);
            assert_eq!(satisfy(&mut d, "t", None), refused("the gate is not waiting any more"));
        }
    }
}

#[test]
fn a_gate_that_asks_again_does_not_hear_what_was_meant_for_the_generation_before() {
    let mut d = waiting(Wait::Webhook);
    d.ok("other");
    assert_eq!(satisfy(&mut d, "t", Some(&json!(1))), Verdict::Applied);
    d.ok("next");
    assert_eq!(d.rerun(RerunFrom::Start), Verdict::Applied);
    d.ok("other");
    assert_eq!(d.state("t"), TaskState::InProgress, "it asks again");
    let old = told(&d, "t", 1, Some(&json!(2)));
    assert_eq!(d.say(old), Verdict::Ignored(Ignored::Stale));
    assert_eq!(satisfy(&mut d, "t", Some(&json!(3))), Verdict::Applied);
    assert_eq!(*d.run.outputs[&d.ix("t")], json!(3));
    d.ok("next");
    d.close();
}

#[test]
fn what_is_loaded_from_rows_waits_and_opens_the_same() {
    let mut d = waiting(external("ABC-1"));
    d.ok("other");
    let mut loaded = d.clone();
    loaded.run = crate::load::reload(&d.run);
    for d in [&mut d, &mut loaded] {
        assert_eq!(satisfy(d, "t", Some(&json!([1]))), Verdict::Applied);
    }
    assert_eq!(format!("{:?}", d.run.outputs), format!("{:?}", loaded.run.outputs));
}

fn graph(text: &str) -> Plan {
    edgewise_core::flow::compile(text, "pair.yaml").unwrap_or_else(|problems| panic!("{problems}")).plan
}

/// Goes on until a gate waits, sends it something, and goes on: effects, end and output.
fn played(plan: Plan, input: &Value, sent: &Value) -> (Vec<String>, RunState, Value) {
    let mut performance = Performance::of(plan, input, Watch::All);
    performance.play(&mut crate::programs::stub);
    let d = &mut performance.driver;
    let closed: Vec<TaskIx> =
        d.run.present().filter(|t| d.run.tasks[t.0 as usize].state == TaskState::InProgress).collect();
    assert_eq!(closed.len(), 1, "one gate waits");
    let path = d.run.path(closed[0]);
    assert_eq!(satisfy(d, &path, Some(sent)), Verdict::Applied);
    performance.play(&mut crate::programs::stub);
    performance.driver.close();
    let run = &performance.driver.run;
    (performance.effects, run.state, run.final_output().unwrap())
}

#[test]
fn graphs_and_programs_make_the_same_gates_and_use_what_came() {
    for (yaml, text, work) in [
        ("webhook: {}, deadline: 2d", "webhook(deadline=2d)", json!({ "wait": "webhook", "deadline": 172_800_000 })),
        (
            "external: { system: jira, id: 'ABC-1' }, deadline: 1h, on_deadline: open",
            "external(system=\"jira\", id=\"ABC-1\", deadline=1h, on_deadline=open)",
            json!({
                "wait": { "external": { "system": "jira", "id": { "value": "ABC-1" } } },
                "deadline": 3_600_000, "on_deadline": "open",
            }),
        ),
    ] {
        let yaml = graph(&format!(
            "flow: pair\ntasks:\n  came: {{ gate: {{ {yaml} }} }}\n  \
             b: {{ action: echo, with: {{ v: '${{{{ tasks.came.output.n }}}}' }} }}\noutput: '${{{{ tasks.b.output }}}}'\n"
        ));
        let text = compiled(&format!("flow pair():\n    came = wait {text}\n    b = @echo(v=came.n)\n    return b\n"));
        for plan in [&yaml, &text] {
            let gates: Vec<Value> = plan.specs.iter().map(|spec| json!(spec.work)).collect();
            assert!(gates.contains(&json!({ "gate": work })), "{gates:?}");
        }
        let sent = json!({ "n": 7 });
        // A deadline must not pass while the gate is awaited, so timers are not fired here.
        let expected = (vec!["echo(7)".to_owned()], RunState::Complete, json!(7));
        assert_eq!(sent_first(yaml, &sent), expected);
        assert_eq!(sent_first(text, &sent), expected);
    }
}

/// The gate is the first thing that waits, and is told at once.
fn sent_first(plan: Plan, sent: &Value) -> (Vec<String>, RunState, Value) {
    let mut performance = Performance::of(plan, &json!({}), Watch::All);
    assert_eq!(satisfy(&mut performance.driver, "came", Some(sent)), Verdict::Applied);
    performance.play(&mut crate::programs::stub);
    performance.driver.close();
    let run = &performance.driver.run;
    (performance.effects, run.state, run.final_output().unwrap())
}

#[test]
fn what_is_waited_for_in_another_system_is_computed_when_the_gate_is_reached() {
    let yaml = graph(
        "flow: pair\ninputs: { ticket: {} }\ntasks:\n  a: { action: echo, with: { v: '${{ inputs.ticket }}' } }\n  \
         w: { gate: { external: { system: jira, id: 'ABC-${{ tasks.a.output }}' } } }\noutput: '${{ tasks.w.output }}'\n",
    );
    let text = compiled(
        "flow pair(ticket):\n    a = @echo(v=ticket)\n    w = wait external(system=jira, id=\"ABC-\" + string(a))\n    \
         return w\n",
    );
    for plan in [yaml, text] {
        let mut performance = Performance::of(plan.clone(), &json!({ "ticket": 7 }), Watch::All);
        performance.play(&mut crate::programs::stub);
        let run = &performance.driver.run;
        let (system, id) = run.external(performance.driver.ix("w")).unwrap().unwrap();
        assert_eq!((system.as_str(), id.as_str()), ("jira", "ABC-7"));
        assert_eq!(played(plan, &json!({ "ticket": 7 }), &json!("done")).2, json!("done"));
    }
}

#[test]
fn a_gate_whose_name_elsewhere_cannot_be_known_fails_without_waiting() {
    for (value, kind) in [(json!(null), "bad_gate"), (json!({ "a": 1 }), "bad_gate"), (json!(""), "bad_gate")] {
        let plan = graph(
            "flow: pair\ninputs: { ticket: {} }\ntasks:\n  w: { gate: { external: { system: jira, id: '${{ inputs.ticket }}' } } }\n",
        );
        let performance = Performance::of(plan, &json!({ "ticket": value }), Watch::All);
        let d = &performance.driver;
        assert_eq!(d.state("w"), TaskState::Error, "{value}");
        assert_eq!(d.run.failure_of(d.ix("w")).unwrap().kind, kind, "{value}");
    }
}

#[test]
fn why_names_the_address_or_the_system_that_can_move_it() {
    let mut sketch = Sketch::new(OnFailure::Continue);
    sketch.node(0, "hook", gate(Wait::Webhook), &[]);
    sketch.node(0, "ticket", gate(external("ABC-1")), &[]);
    sketch.node(0, "sign", approval(&["lead"], 1), &[]);
    let d = Driver::planned(sketch.build());
    let why = Why::of_run(&d.run);
    let clock = |_| String::new();
    let found: Vec<(String, Vec<String>)> = why
        .causes
        .iter()
        .map(|cause| (cause.sentence(&clock), cause.moved_by.iter().map(|mover| mover.sentence(&clock)).collect()))
        .collect();
    let id = d.run.id.short();
    assert_eq!(
        found[..2],
        [
            (
                "gate, opens when its address is called".to_owned(),
                vec![format!("edgewise gate url {id} hook"), format!("edgewise gate satisfy {id} hook")]
            ),
            ("gate, opens when jira says so of ABC-1".to_owned(), vec![format!("edgewise gate satisfy {id} ticket")]),
        ]
    );
}
