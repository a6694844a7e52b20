//! What the outside world is told: each condition against each end, for tasks and for runs.

use crate::driver::*;
use edgewise_core::domain::{DomainEvent, Subject, told};
use edgewise_core::event::TimerKind;
use edgewise_core::flow::compile;
use edgewise_core::plan::{Condition, Delivery, Plan, Tells};
use serde_json::{Value, json};

const APPLIED: edgewise_core::fold::Verdict = edgewise_core::fold::Verdict::Applied;
const CONDITIONS: [&str; 5] = ["success", "failure", "retryable_failure", "permanent_failure", "always"];

fn flow(text: &str) -> Plan {
    compile(text, "flow.yaml").unwrap_or_else(|problems| panic!("{text}\n{problems}")).plan
}

/// The task that an event tells of.
fn path(event: &DomainEvent) -> Option<String> {
    match &event.about {
        Subject::Task(_, path) => Some(path.clone()),
        _ => None,
    }
}

/// A run whose every event is looked at for what it tells.
struct Told {
    driver: Driver,
    seen: Vec<DomainEvent>,
    looked: usize,
}

impl Told {
    fn of(plan: Plan) -> Self {
        let mut told = Self { driver: Driver::planned(plan), seen: Vec::new(), looked: 0 };
        told.look();
        told
    }

    /// What the last event told; the driver keeps the changes of one event only, so this is asked after each.
    fn look(&mut self) {
        told(&self.driver.run, self.driver.now, &self.driver.changes, &mut |event| self.seen.push(event));
        self.driver.changes.clear();
    }

    fn names(&mut self) -> Vec<String> {
        self.look();
        let names = self.seen[self.looked..].iter().map(|event| event.name.to_string()).collect();
        self.looked = self.seen.len();
        names
    }
}

/// A task `a` with two attempts, and a flow, that publish one event for each condition.
fn every_condition() -> Plan {
    let list = |of: &str, words: &[&str]| -> String {
        words.iter().map(|word| format!("{{ name: {of}.{word}, condition: {word} }}, ")).collect()
    };
    let run = CONDITIONS.map(|word| if word == "retryable_failure" { "failure" } else { word });
    let run: Vec<&str> = run.into_iter().collect::<std::collections::BTreeSet<_>>().into_iter().collect();
    let (task, run) = (list("task", &CONDITIONS), list("run", &run));
    flow(&format!("flow: f\npublish: [{run}]\ntasks:\n  a: {{ action: x, retry: 2, publish: [{task}] }}"))
}

fn check(act: impl FnOnce(&mut Told), expected: &[&str]) {
    let mut told = Told::of(every_condition());
    act(&mut told);
    assert_eq!(told.names(), expected);
}

#[test]
fn each_condition_is_told_of_the_ends_it_names_and_of_no_others() {
    let both = ["task.success", "task.always", "run.always", "run.success"];
    check(|told| told.driver.ok("a"), &both);
    check(|told| told.driver.fail("a"), &["task.failure", "task.retryable_failure", "task.always"]);
    let for_good = ["task.failure", "task.permanent_failure", "task.always"];
    let ended = ["run.always", "run.failure", "run.permanent_failure"];
    check(
        |told| {
            told.driver.fail("a");
            told.names();
            told.driver.fire_next();
            told.driver.fail("a");
        },
        &[for_good.as_slice(), &ended].concat(),
    );
    check(|told| assert_eq!(told.driver.skip("a"), APPLIED), &["task.always", "run.always", "run.success"]);
    check(|told| assert_eq!(told.driver.cancel(), APPLIED), &["task.always", "run.always"]);
    check(|told| assert_eq!(told.driver.resolve("a"), APPLIED), &both);
}

#[test]
fn a_grant_or_a_timer_tells_nothing() {
    let mut told = Told::of(every_condition());
    let task = told.driver.ix("a");
    told.driver.lease(task);
    assert_eq!(told.names(), [""; 0]);
    let report = told.driver.report(task, Some(edgewise_core::event::Failure::new("boom", "it broke")), None);
    told.driver.say(edgewise_core::event::Event::TaskFinished(report));
    told.names();
    assert!(told.driver.run.timers.keys().any(|timer| timer.kind == TimerKind::Retry));
    told.driver.fire_next();
    assert_eq!(told.names(), [""; 0]);
}

#[test]
fn what_is_derived_again_has_the_same_id_and_each_attempt_its_own() {
    let mut first = Told::of(every_condition());
    let mut second = Told::of(every_condition());
    for told in [&mut first, &mut second] {
        told.driver.fail("a");
        told.look();
        told.driver.fire_next();
        told.driver.ok("a");
        told.look();
    }
    assert_eq!(first.seen, second.seen);
    let ids: std::collections::BTreeSet<&str> = first.seen.iter().map(|event| event.id.as_str()).collect();
    assert_eq!(ids.len(), first.seen.len(), "`task.always` was told of two attempts");
}

#[test]
fn a_run_that_is_opened_again_tells_its_next_end_under_another_id() {
    let mut told = Told::of(flow("flow: f\npublish: [done]\ntasks: { a: { action: x } }"));
    told.driver.ok("a");
    told.look();
    told.driver.rerun_task("a");
    told.look();
    told.driver.ok("a");
    told.look();
    assert_eq!(told.seen.len(), 2);
    assert_ne!(told.seen[0].id, told.seen[1].id);
    assert_eq!(told.seen[1].data["generation"], 2);
}

#[test]
fn a_payload_may_use_the_inputs_and_the_tasks_own_output_and_without_one_the_output_is_told() {
    let text = "flow: f
inputs: { list: {} }
publish: [{ name: run.done, delivery: broadcast, payload: { n: '${{ size(inputs.list) }}' } }]
tasks:
  a:
    action: x
    publish: [a.done, { name: a.told, delivery: fast, payload: { sha: '${{ tasks.a.output.sha }}' } }]
  b:
    each: [1, 2]
    action: y
    publish: [{ name: b.told, payload: '${{ tasks.b.output }}' }]";
    let mut told = Told::of(flow(text));
    told.driver.ok_with("a", r#"{"sha":"1f"}"#);
    told.look();
    told.driver.ok_with("b[0]", "10");
    told.look();
    told.driver.ok_with("b[1]", "20");
    told.look();
    let said: Vec<(&str, Delivery, &Value)> =
        told.seen.iter().map(|event| (event.name.as_str(), event.delivery, &event.data["payload"])).collect();
    let expected = [
        ("a.done", Delivery::Durable, &json!({"sha": "1f"})),
        ("a.told", Delivery::Fast, &json!({"sha": "1f"})),
        ("b.told", Delivery::Durable, &json!(10)),
        ("b.told", Delivery::Durable, &json!(20)),
        ("run.done", Delivery::Broadcast, &json!({"n": 3})),
    ];
    assert_eq!(said, expected);
    assert_eq!(path(&told.seen[3]).as_deref(), Some("b[1]"));
}

#[test]
fn a_payload_that_cannot_be_made_or_is_too_large_is_left_out_and_the_event_is_told_all_the_same() {
    let text =
        "flow: f\ntasks:\n  a: { action: x, publish: [{ name: t, payload: '${{ tasks.a.output.none.at }}' }, o] }";
    let mut told = Told::of(flow(text));
    told.driver.ok_with("a", &format!("{{\"text\":\"{}\"}}", "x".repeat(edgewise_core::limits::DOMAIN_PAYLOAD_BYTES)));
    assert_eq!(told.names(), ["t", "o"]);
    for event in &told.seen {
        assert!(event.data.get("payload").is_none());
        assert!(event.data["payload_error"].is_string(), "{}", event.data);
    }
}

#[test]
fn an_emit_tells_once_the_flow_comes_to_it_and_its_payload_is_its_output() {
    let text = "flow: f
namespace: shop
tasks:
  a: { action: x }
  told: { after: [a], emit: { name: order.shipped, payload: { id: '${{ tasks.a.output }}' } } }
  b: { action: y, env: {}, with: '${{ tasks.told.output.id }}' }
  not: { after: [b], when: 'false', emit: never.told }"
        .replace(", env: {}", "");
    let mut told = Told::of(flow(&text));
    assert_eq!(told.names(), [""; 0]);
    told.driver.ok_with("a", "7");
    assert_eq!(told.names(), ["order.shipped"]);
    let event = told.seen[0].clone();
    assert_eq!((event.namespace.as_str(), path(&event)), ("shop", Some("told".to_owned())));
    assert_eq!(event.data["payload"], json!({"id": 7}));
    let with = match &told.driver.run.spec_of(told.driver.ix("b")).work {
        edgewise_core::plan::Work::Action { with, .. } => with.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(*told.driver.run.evaluate(told.driver.ix("b"), &with).unwrap(), json!(7));
    told.driver.ok("b");
    assert_eq!(told.names(), [""; 0], "what is skipped tells nothing");
    told.driver.close();
}

#[test]
fn a_program_tells_with_an_action_of_its_own() {
    let text = "flow f(n):\n    x = @double(v=n)\n    @emit(name=\"doubled\", delivery=\"fast\", payload={\"x\": x})\n    return x\n";
    let mut told = Told::of(program(text));
    told.driver.ok_with("x", "4");
    assert_eq!(told.names(), ["doubled"]);
    assert_eq!(told.seen[0].data["payload"], json!({"x": 4}));
    assert_eq!(told.seen[0].delivery, Delivery::Fast);
    told.driver.close();
}

fn program(text: &str) -> Plan {
    edgewise_core::text::compile(text, "f.flow").unwrap_or_else(|problems| panic!("{text}\n{problems}")).remove(0).plan
}

#[test]
fn a_program_publishes_in_brackets_what_a_graph_publishes_under_its_key() {
    let yaml = "flow: f
publish: [{ name: run.done, condition: always, delivery: broadcast, payload: { v: 1 } }]
tasks:
  x: { action: work, publish: [done, { name: failed, condition: failure, delivery: fast }] }";
    let text = "flow f() [publish: {\"name\": \"run.done\", \"condition\": \"always\", \"delivery\": \"broadcast\", \"payload\": {\"v\": 1}}]:
    x = @work() [retry: 3] [publish: [\"done\", {\"name\": \"failed\", \"condition\": \"failure\", \"delivery\": \"fast\"}]]
    return x
";
    let (graph, program) = (flow(yaml), program(text));
    let both = Tells { fast: true, durable: true };
    assert_eq!(graph.publish, program.publish);
    assert_eq!(graph.specs[0].publish, program.specs[0].publish);
    assert_eq!((graph.tells, program.tells), (both, both));
    assert_eq!(flow("flow: f\ntasks: { a: { emit: x } }").tells, Tells { fast: false, durable: true });
    let fast = flow("flow: f\ntasks: { a: { emit: { name: x, delivery: fast } } }");
    assert_eq!(fast.tells, Tells { fast: true, durable: false });
    let told = |plan: Plan| {
        let mut told = Told::of(plan);
        told.driver.fail("x");
        told.look();
        told.driver.fire_next();
        told.driver.ok_with("x", "7");
        told.look();
        let said = |event: DomainEvent| {
            let path = path(&event);
            (event.name, event.delivery, path, event.data["payload"].clone())
        };
        told.seen.into_iter().map(said).collect::<Vec<_>>()
    };
    let said = told(graph);
    assert_eq!(said.iter().map(|(name, ..)| name.as_str()).collect::<Vec<_>>(), ["failed", "done", "run.done"]);
    assert_eq!(told(program), said);
}

#[test]
fn items_and_runs_within_a_program_are_told_of_as_well() {
    let text = "flow f():
    spread [1, 2]:n -> @work(n=n) [publish: \"worked\"]
    @item(title=\"look\") [publish: \"made\"]
    flow g() [publish: \"gone\"]

flow g():
    @work()
";
    let plan = program(text);
    let told: Vec<&str> = plan.specs.iter().flat_map(|spec| &spec.publish).map(|one| one.name.as_str()).collect();
    assert_eq!(told.iter().copied().collect::<std::collections::BTreeSet<_>>(), ["gone", "made", "worked"].into());
}

#[test]
fn what_cannot_be_published_by_a_program_is_refused_with_what_to_write() {
    let one = |line: &str, code: &str, help: &str| {
        let text = format!("flow f(n):\n    {line}\n");
        let problems = edgewise_core::text::compile(&text, "f.flow").expect_err(line).to_string();
        assert!(problems.contains(code) && problems.contains(help), "{line}\n{problems}");
    };
    one("@a() [publish: done]", "not_constant", "@emit(");
    one("@a() [publish: [{\"name\": \"d\", \"payload\": n}]]", "not_constant", "@emit(");
    one("@a() [publish: 7]", "bad_value", "such as `publish:");
    one("@a() [publish: [{\"nmae\": \"d\"}]]", "unknown_key", "did you mean `name`?");
    one("@a() [publish: [{\"condition\": \"failure\"}]]", "missing_key", "such as `publish:");
    one("@a() [publish: {\"name\": \"d\", \"condition\": \"sucess\"}]", "bad_value", "\"success\"");
    one("@a() [publish: {\"name\": \"d\", \"delivery\": \"slow\"}]", "bad_value", "\"broadcast\"");
    one("@a() [publish: [\"d\", \"d\"]]", "duplicate_name", "another name");
    one("@a() [publish: \"two words\"]", "bad_name", "");
    one("@a() [publish]", "missing_value", "order.shipped");
    one("@a() [publsih: \"d\"]", "unknown_key", "publish");
    one("@emit(name=\"d\") [publish: \"d\"]", "duplicate_name", "`@emit` alone");
    one(
        "sleep 1s\n\nflow g() [publish: {\"name\": \"d\", \"condition\": \"retryable_failure\"}]:\n    pass",
        "bad_condition",
        "behind a call",
    );
    one("h()\n\nfn h():\n    pass\n\nflow g():\n    h() [publish: \"d\"]", "misplaced_key", "in the function");
}

#[test]
fn the_form_that_travels_is_a_cloud_event() {
    let mut told = Told::of(flow("flow: f\ntasks: { a: { action: x, publish: [done] } }"));
    told.driver.ok_with("a", "1");
    told.look();
    let (event, run) = (&told.seen[0], told.driver.run.id);
    let expected = json!({
        "specversion": "1.0",
        "id": event.id,
        "source": "/local/default/f",
        "type": "done",
        "subject": format!("{run}/a"),
        "time": event.at.to_string(),
        "datacontenttype": "application/json",
        "data": {
            "flow": "f", "run": run.to_string(), "task": "a", "generation": 1, "attempt": 1,
            "ended": "success", "payload": 1,
        },
    });
    assert_eq!(event.cloud_event(&name("local"), &name("default")), expected);
}

#[test]
fn what_is_published_is_in_the_plan_and_in_its_words() {
    let plan = every_condition();
    assert!(plan.tells.anything());
    let (hash, bytes) = plan.encode();
    let read = Plan::decode(&bytes).unwrap();
    assert_eq!(read, plan);
    assert_eq!(read.specs[0].publish[1].condition, Condition::Failure);
    let quiet = flow("flow: f\ntasks: { a: { action: x, retry: 2 } }");
    assert!(!quiet.tells.anything());
    assert_ne!(quiet.encode().0, hash);
    let lines = plan.outline().remove(0);
    assert!(lines.head.contains("publishes run.success on success (durable)"), "{}", lines.head);
    assert!(lines.lines[0].contains("publishes task.failure on failure (durable)"), "{}", lines.lines[0]);
}
