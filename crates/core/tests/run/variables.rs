//! Variables of programs: who sees what was assigned, and what a failure looks like under a name.

use crate::programs::perform;
use serde_json::{Value, json};

fn check(text: &str, end: Result<Value, &str>) {
    assert_eq!(perform(text, &json!({})).1, end.map_err(str::to_owned), "end of\n{text}");
}

#[test]
fn what_a_scope_assigned_is_there_outside_however_it_ended() {
    check(
        "
flow t():
    a = 1
    try:
        a = 2
        b = @echo(v=3)
        @fail(type=\"A\")
        a = 4
    except A:
        c = 5
    for x in [6, 7, 8]:
        d = x
        if x == 7:
            e = 9
            break
    return [a, b, c, d, e, x]
",
        Ok(json!([2, 3, 5, 7, 9, 7])),
    );
}

#[test]
fn a_name_that_no_scope_came_to_assign_has_no_value() {
    let text = "
flow t():
    if false:
        a = 1
    try:
        return a
    except EvalError as e:
        return e.type
";
    check(text, Ok(json!("NoValue")));
}

#[test]
fn a_function_has_variables_of_its_own_at_every_call() {
    check(
        "
flow t():
    a = 1
    b = f(10)
    c = spread [20, 30]:a -> f(a)
    return [a, b, c]

fn f(x):
    a = x + 1
    for y in [1, 2]:
        a = a + y
    return a
",
        Ok(json!([1, 14, [24, 34]])),
    );
}

#[test]
fn the_item_of_a_spread_hides_a_variable_only_within_it() {
    check("flow t():\n    x = 1\n    ys = spread [2, 3]:x -> @echo(v=x)\n    return [x, ys]\n", Ok(json!([1, [2, 3]])));
}

#[test]
fn a_loop_that_reassigns_its_list_goes_over_the_first_one() {
    check(
        "
flow t():
    xs = [1, 2, 3]
    n = 0
    for x in xs:
        xs = [x]
        n = n + x
    return [n, xs]
",
        Ok(json!([6, [3]])),
    );
}

#[test]
fn a_failure_under_a_name_is_a_map_with_its_cause_and_what_it_stands_for() {
    let text = "
flow t():
    try:
        try:
            spread [\"A\", \"B\"]:k -> @fail(type=k)
        except SpreadFailed:
            raise C(\"again\")
    except C as e:
        return e
";
    let one = |kind: &str| json!({"type": kind, "message": "boom", "is": []});
    let cause = json!({
        "type": "SpreadFailed", "message": "2 of 2 items failed; the first: A: boom", "is": [],
        "errors": [one("A"), one("B")],
    });
    check(text, Ok(json!({"type": "C", "message": "again", "is": [], "cause": cause})));
}

#[test]
fn except_does_not_look_inside_what_a_spread_failed_with() {
    let text = "
flow t():
    try:
        spread [\"A\", \"B\"]:k -> @fail(type=k)
    except A:
        return \"inside\"
";
    check(text, Err("SpreadFailed: 2 of 2 items failed; the first: A: boom"));
}

#[test]
fn nothing_catches_a_cancel() {
    use crate::driver::Watch;
    use edgewise_core::fold::Verdict;
    use edgewise_core::state::RunState;
    let text = "flow t():\n    try:\n        @echo(v=1)\n    except:\n        @echo(v=2)\n";
    let mut p = crate::programs::Performance::new(text, &json!({}), Watch::All);
    assert_eq!(p.driver.cancel_task("try.echo"), Verdict::Applied);
    assert_eq!((p.driver.run.state, p.effects.len()), (RunState::Cancelled, 0));
    p.driver.close();
}
