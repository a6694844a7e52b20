//! Pairs: what is written as a graph and as a program behaves the same.

use crate::driver::Watch;
use crate::programs::{Performance, compiled, stub};
use edgewise_core::event::Failure;
use edgewise_core::plan::Plan;
use edgewise_core::state::RunState;
use serde_json::{Value, json};

fn graph(text: &str) -> Plan {
    edgewise_core::flow::compile(text, "pair.yaml").unwrap_or_else(|problems| panic!("{problems}")).plan
}

/// The effects in order, how it ended, and with what.
fn behaviour(plan: Plan, input: &Value) -> (Vec<String>, RunState, Value) {
    let mut performance = Performance::of(plan, input, Watch::All);
    performance.play(&mut stub);
    performance.driver.close();
    let run = &performance.driver.run;
    let output = if run.state == RunState::Complete { run.final_output().unwrap() } else { Value::Null };
    (performance.effects, run.state, output)
}

fn check(yaml: &str, text: &str, input: &Value) {
    assert_eq!(behaviour(graph(yaml), input), behaviour(compiled(text), input), "\n{yaml}\n{text}");
}

#[test]
fn one_after_the_other() {
    check(
        "
flow: pair
inputs: { n: {} }
tasks:
  a: { action: echo, with: { v: '${{ inputs.n }}' } }
  b: { action: echo, with: { v: '${{ tasks.a.output }}' } }
output: '${{ tasks.b.output }}'
",
        "
flow pair(n):
    a = @echo(v=n)
    b = @echo(v=a)
    return b
",
        &json!({"n": 7}),
    );
}

#[test]
fn a_diamond_and_parallel_arms() {
    check(
        "
flow: pair
tasks:
  a: { action: echo, with: { v: 1 } }
  b: { after: [a], action: echo, with: { v: 2 } }
  c: { after: [a], action: echo, with: { v: 3 } }
  d: { after: [b, c], action: echo, with: { v: ['${{ tasks.b.output }}', '${{ tasks.c.output }}'] } }
output: '${{ tasks.d.output }}'
",
        "
flow pair():
    @echo(v=1)
    b, c = parallel:
        @echo(v=2)
        @echo(v=3)
    d = @echo(v=[b, c])
    return d
",
        &json!({}),
    );
}

#[test]
fn a_spread_in_order_empty_and_with_failures_that_are_borne() {
    let (yaml, text) = (
        "
flow: pair
inputs: { xs: { type: list } }
tasks:
  s: { each: inputs.xs, as: x, action: echo, with: { v: '${{ x }}' } }
output: '${{ tasks.s.output }}'
",
        "
flow pair(xs):
    return spread xs:x -> @echo(v=x)
",
    );
    check(yaml, text, &json!({"xs": [3, 1, 2]}));
    check(yaml, text, &json!({"xs": []}));
    check(
        "
flow: pair
inputs: { xs: { type: list } }
tasks:
  s: { each: inputs.xs, as: x, tolerate: 2, action: fail, with: { type: '${{ x }}' } }
output: '${{ tasks.s.output }}'
",
        "
flow pair(xs):
    return spread xs:x -> @fail(type=x) [tolerate: 2]
",
        &json!({"xs": ["A", "B"]}),
    );
}

#[test]
fn a_failure_that_nobody_answers_and_one_that_somebody_does() {
    check(
        "
flow: pair
tasks:
  a: { action: fail }
  b: { after: [a], action: echo }
",
        "
flow pair():
    @fail()
    @echo()
",
        &json!({}),
    );
    check(
        "
flow: pair
tasks:
  a: { action: fail }
  b: { after: { a: failed }, action: echo, with: { v: 1 } }
output: '${{ tasks.b.output }}'
",
        "
flow pair():
    try:
        @fail()
    except:
        b = @echo(v=1)
    return b
",
        &json!({}),
    );
}

/// A task that may not be wanted, and a branch.
#[test]
fn a_condition_that_holds_and_one_that_does_not() {
    let (yaml, text) = (
        "
flow: pair
inputs: { n: {} }
tasks:
  a: { action: echo, with: { v: '${{ inputs.n }}' } }
  b: { when: tasks.a.output > 3, action: echo, with: { v: large } }
  c: { after: { b: [ok, skipped] }, action: echo, with: { v: end } }
output: '${{ tasks.c.output }}'
",
        "
flow pair(n):
    a = @echo(v=n)
    if a > 3:
        @echo(v=\"large\")
    return @echo(v=\"end\")
",
    );
    check(yaml, text, &json!({"n": 7}));
    check(yaml, text, &json!({"n": 1}));
    // What cannot be computed fails before anything is asked.
    check(
        "{ flow: pair, inputs: { n: {} }, tasks: { a: { when: inputs.n / 0 == 1, action: echo } } }",
        "flow pair(n):\n    if n / 0 == 1:\n        @echo()\n",
        &json!({"n": 1}),
    );
}

/// Time that passes, an instant, and a deadline that somebody may miss: the same effects at the same instants.
#[test]
fn waits_take_as_long() {
    for (gate, wait) in [
        ("{ timer: 90s }", "sleep 1m30s"),
        ("{ timer: 90s }", "sleep 90"),
        ("{ until: '2027-01-01T00:00:00Z' }", "wait until \"2027-01-01T00:00:00Z\""),
        (
            "{ approval: { from: [lead] }, deadline: 2h, on_deadline: open }",
            "wait approval(from=[lead], deadline=2h, on_deadline=open)",
        ),
        ("{ approval: {}, deadline: 2h }", "wait approval(deadline=2h)"),
        ("{ webhook: {}, deadline: 2h, on_deadline: open }", "wait webhook(deadline=2h, on_deadline=open)"),
        ("{ external: { system: jira, id: A }, deadline: 2h }", "wait external(system=jira, id=\"A\", deadline=2h)"),
        ("{ shared: ew-g1, deadline: 2h, on_deadline: open }", "wait shared(\"ew-g1\", deadline=2h, on_deadline=open)"),
        ("{ shared: ew-g1, deadline: 2h }", "wait shared(gate=\"ew-g1\", deadline=2h)"),
    ] {
        let yaml = format!(
            "flow: pair\ntasks:\n  a: {{ gate: {gate} }}\n  b: {{ after: [a], action: echo, with: {{ v: 1 }} }}\noutput: '${{{{ tasks.b.output }}}}'\n"
        );
        let text = format!("flow pair():\n    {wait}\n    b = @echo(v=1)\n    return b\n");
        let when = |plan: Plan| {
            let mut performance = Performance::of(plan, &json!({}), Watch::All);
            performance.play(&mut stub);
            (performance.driver.now, performance.effects, performance.driver.run.state)
        };
        assert_eq!(when(graph(&yaml)), when(compiled(&text)), "{wait}");
    }
}

/// How often, and after which waits, a failure of some type is tried again.
#[test]
fn attempts_follow_each_other_the_same_way() {
    for (policy, brackets, kind) in [
        (
            "{ max_attempts: 4, backoff: { kind: fixed, base: 5s }, jitter: 0 }",
            "[retry: 4, backoff: 5s, kind: fixed, jitter: 0]",
            "A",
        ),
        (
            "{ max_attempts: 4, backoff: { kind: linear, base: 5s, cap: 8s }, jitter: 0 }",
            "[retry: 4, backoff: 5s, kind: linear, cap: 8s, jitter: 0]",
            "A",
        ),
        (
            "{ max_attempts: 5, backoff: { base: 1s, factor: 3 }, jitter: 0, on: [A] }",
            "[retry: 1] [A -> retry: 5, backoff: 1s, factor: 3, jitter: 0]",
            "A",
        ),
        ("{ max_attempts: 5, on: [A] }", "[retry: 1] [A -> retry: 5]", "B"),
        (
            "{ max_attempts: 5, backoff: { base: 1s }, jitter: 0, never: [B] }",
            "[retry: 5, backoff: 1s, jitter: 0] [B -> retry: 1]",
            "B",
        ),
    ] {
        let yaml = format!("flow: pair\ntasks:\n  a: {{ action: broken, retry: {policy} }}\n");
        let text = format!("flow pair():\n    a = @broken() {brackets}\n");
        let tried = |plan: Plan| {
            let mut performance = Performance::of(plan, &json!({}), Watch::All);
            performance.play(&mut |_, _| Err(Failure::new(kind, "broken")));
            (performance.driver.now, performance.effects.len(), performance.driver.run.state)
        };
        assert_eq!(tried(graph(&yaml)), tried(compiled(&text)), "{brackets} for {kind}");
    }
}
