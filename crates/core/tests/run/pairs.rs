//! Pairs: what is written as a graph and as a program behaves the same.

use crate::driver::Watch;
use crate::programs::{Performance, compiled, stub};
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
