//! `queue`, `priority` and `limit`: the same in both front ends, in the stored form, and when a key fails.

use edgewise_core::flow::{compile, compile_file};
use edgewise_core::plan::{Plan, Share, Work};

fn shares(plan: &Plan) -> Vec<&Share> {
    plan.specs.iter().filter(|s| matches!(s.work, Work::Action { .. })).map(|s| &s.share).collect()
}

fn yaml(text: &str) -> Plan {
    compile(text, "f.yaml").unwrap_or_else(|problems| panic!("{problems}")).plan
}

#[test]
fn a_plan_without_shares_is_stored_as_it_always_was() {
    let (_, bytes) = yaml("{ flow: f, tasks: { a: { action: x } } }").encode();
    assert!(!String::from_utf8(bytes).unwrap().contains("share"));
}

#[test]
fn what_is_stored_is_what_was_written() {
    let plan = yaml(
        "{ flow: f, inputs: { who: {} }, tasks: { a: { action: x, queue: q, priority: -3, limit: { key: inputs.who, max: 2, rate: 10/s } } } }",
    );
    let (hash, bytes) = plan.encode();
    let read = Plan::decode(&bytes).unwrap();
    assert_eq!((&read, read.encode().0), (&plan, hash));
    let share = shares(&plan)[0];
    let limit = share.limit.as_ref().unwrap();
    assert_eq!((share.queue.as_deref(), share.priority), (Some("q"), -3));
    assert_eq!((limit.key.text(), limit.max, limit.rate.unwrap().to_string()), ("inputs.who", Some(2), "10/s".into()));
}

#[test]
fn a_task_goes_before_the_defaults_and_those_before_the_flow() {
    let plan = yaml(
        "flow: f\nqueue: whole\npriority: 1\ndefaults: { priority: 2, limit: { key: '\"k\"', max: 3 } }\ntasks:\n  a: { action: x }\n  b: { action: y, priority: 9, queue: own, limit: { key: '\"l\"', max: 1 } }\n",
    );
    let said: Vec<(Option<&str>, i16, Option<u32>)> = shares(&plan)
        .into_iter()
        .map(|s| (s.queue.as_deref(), s.priority, s.limit.as_ref().and_then(|l| l.max)))
        .collect();
    assert_eq!(said, [(Some("whole"), 2, Some(3)), (Some("own"), 9, Some(1))]);
}

#[test]
fn a_program_says_the_same_in_brackets() {
    let text = "flow f(who, xs) [queue: whole]:\n    @x() [limit: who, max: 2] [rate: \"10/s\"] [priority: 4]\n    ys = spread xs:x -> @y() [limit: x, max: 1, queue: own]\n    return ys\n";
    let plan = compile_file(text, "flow").unwrap_or_else(|problems| panic!("{problems}")).remove(0).plan;
    let said: Vec<String> = plan.outline().into_iter().flat_map(|region| region.lines).collect();
    assert!(said.iter().any(|l| l.contains("queue whole, priority 4, limit 2 at once 10/s by who")), "{said:#?}");
    assert!(said.iter().any(|l| l.contains("queue own, limit 1 at once by x")), "{said:#?}");
}
