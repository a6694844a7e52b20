//! Programs that went wrong once: each was found by playing it against the reference, and made short.

use crate::driver::{Watch, refused};
use crate::programs::{Performance, ended, perform, stub};
use edgewise_core::event::Failure;
use edgewise_core::fold::Verdict;
use edgewise_core::state::RunState;
use serde_json::{Value, json};

#[test]
fn a_typed_rule_may_allow_more_attempts_than_the_plain_one() {
    let text = "flow t():\n    return @fail(type=\"A\") [retry: 1] [A -> retry: 3]\n";
    let mut p = Performance::new(text, &json!({}), Watch::All);
    p.play(&mut |_: &str, _: &Value| Err(Failure::new("A", "again")));
    assert_eq!((p.effects.len(), ended(&p.driver.run)), (3, Err("A: again".into())));
}

#[test]
fn an_operator_waits_until_a_program_has_come_to_a_task() {
    let text = "flow t():\n    @echo(v=1)\n    x = @echo(v=2)\n    return x\n";
    let mut p = Performance::new(text, &json!({}), Watch::All);
    let early = refused("the program has not come to it yet");
    for verdict in [p.driver.skip("x"), p.driver.cancel_task("x"), p.driver.resolve("x"), p.driver.complete("x", "3")] {
        assert_eq!(verdict, early);
    }
    p.step(&mut stub);
    assert_eq!(p.driver.complete("x", "3"), Verdict::Applied);
    assert_eq!((ended(&p.driver.run), p.driver.run.state), (Ok(json!(3)), RunState::Complete));
}

#[test]
fn what_a_spread_goes_over_must_be_a_list() {
    let (_, end) = perform("flow t(n=1):\n    spread n:x -> @echo(v=x)\n", &json!({"n": 1}));
    assert_eq!(end, Err("TypeMismatch: a list is needed to go over, but `n` is a number".into()));
}

#[test]
fn a_failure_has_one_shape_in_a_handler_and_among_the_results_of_a_spread() {
    let text = "
flow t():
    rs = spread [1]:x -> @fail(type=\"A\", is=[\"Base\"]) [tolerate: 1]
    try:
        @fail(type=\"A\", is=[\"Base\"])
    except Base as e:
        return [rs[0].error == e, e]
";
    let shape = json!({"type": "A", "message": "boom", "is": ["Base"]});
    assert_eq!(perform(text, &json!({})).1, Ok(json!([true, shape])));
}

#[test]
fn what_was_cancelled_because_of_a_failure_did_not_fail_itself() {
    let text = "flow t():\n    parallel [fail_fast]:\n        @fail(type=\"A\")\n        @echo(v=1)\n";
    assert_eq!(perform(text, &json!({})), (vec!["fail(\"A\")".to_owned()], Err("A: boom".into())));
}
