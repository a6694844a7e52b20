//! Small programs beside the language that they look like. Each row has what Python comes to; here the same program
//! comes to the same, or is refused at a line, with what to write instead. Nothing is dropped or quietly different.

use crate::programs::perform;
use edgewise_core::text;
use serde_json::{Value, json};

/// The body of a flow, as Python would have it but for `true`, `false`, `null`, `&&`, `||` and `!`.
#[track_caller]
fn gives(body: &str, python: Value) {
    assert_eq!(perform(&program(body), &json!({})).1, Ok(python), "{body}");
}

/// What ends in an error there ends in an error here.
#[track_caller]
fn fails(body: &str, with: &str) {
    let end = perform(&program(body), &json!({})).1.expect_err(body);
    assert!(end.starts_with(&format!("{with}:")), "{body}\n{end}");
}

/// Refused: where, why, and with what to write instead.
#[track_caller]
fn refused(body: &str, line: u32, says: &str) {
    let problems = text::compile(&program(body), "host.flow").expect_err(body);
    let first = &problems.list[0];
    assert_eq!(first.line - 1, line, "{body}\n{problems}");
    assert!(first.message.contains(says) && first.help.is_some(), "{body}\n{problems}");
}

fn program(body: &str) -> String {
    let (own, functions) = body.split_once("\n\n").unwrap_or((body, ""));
    let indented: String = own.lines().map(|line| format!("    {line}\n")).collect();
    format!("flow host():\n{indented}\n{functions}\n")
}

#[test]
fn numbers_and_texts_compute_as_there() {
    gives("return 9007199254740993 + 1", json!(9_007_199_254_740_994_i64));
    gives("return [1 == 1.0, 2 + 3 * 4, (2 + 3) * 4, -2 - -3]", json!([true, 14, 20, 1]));
    gives("return [\"abc\" < \"abd\", \"b\" > \"abc\", \"a\" + \"b\"]", json!([true, true, "ab"]));
    gives("return [false && 1 / 0 == 1, true || 1 / 0 == 1]", json!([false, true]));
    gives("return [2 in [1, 2], \"a\" in {\"a\": 1}, size([1, 2, 3])]", json!([true, true, 3]));
    gives("return [range(3), range(5, 0, -2), sum([1, 2, 3]), max(1, 5, 2)]", json!([[0, 1, 2], [5, 3, 1], 6, 5]));
    gives("a = 1\nb = 2\na, b = [b, a]\nreturn [a, b]", json!([2, 1]));
    gives("x = 1\nx += 2\nx *= 5\nreturn x", json!(15));
    fails("return 1 / 0", "DivisionByZero");
    fails("return 1 % 0", "DivisionByZero");
    fails("return {\"a\": 1}[\"b\"]", "NoSuchKey");
    fails("return [1][1]", "IndexOutOfRange");
    fails("return 1 + \"1\"", "TypeMismatch");
    fails("a, b = [1, 2, 3]\nreturn a", "TypeMismatch");
}

#[test]
fn branches_and_loops_go_the_same_way() {
    gives("x = 5\nif x > 7:\n    y = 1\nelif x > 3:\n    y = 2\nelse:\n    y = 3\nreturn y", json!(2));
    gives("t = 0\nfor x in [1, 2, 3, 4]:\n    if x == 3:\n        break\n    t = t + x\nreturn t", json!(3));
    gives("t = 0\nfor x in [1, 2, 3, 4]:\n    if x == 3:\n        continue\n    t = t + x\nreturn t", json!(7));
    gives("n = 0\nwhile n < 5:\n    n += 2\nreturn n", json!(6));
    gives("for x in [1, 2, 3]:\n    pass\nreturn x", json!(3));
    gives("xs = [1, 2]\nn = 0\nfor x in xs:\n    xs = xs + [x]\n    n += 1\nreturn [n, xs]", json!([2, [1, 2, 1, 2]]));
    gives(
        "out = []\nfor a in [1, 2]:\n    for b in [1, 2, 3]:\n        if b > a:\n            break\n        out = out + [[a, b]]\nreturn out",
        json!([[1, 1], [2, 1], [2, 2]]),
    );
    gives("for x in []:\n    return 1\nreturn 2", json!(2));
    gives("for x in [1, 2, 3]:\n    if x == 2:\n        return x\nreturn 0", json!(2));
    gives("n = 0\nwhile true:\n    n += 1\n    if n == 3:\n        break\nreturn n", json!(3));
}

#[test]
fn failures_find_the_same_handler() {
    gives("try:\n    x = 1 / 0\nexcept DivisionByZero:\n    x = 7\nreturn x", json!(7));
    gives(
        "try:\n    try:\n        raise A(\"a\")\n    except A:\n        x = \"inner\"\nexcept A:\n    x = \"outer\"\nreturn x",
        json!("inner"),
    );
    gives("n = 0\ntry:\n    raise A(\"a\")\nexcept A:\n    n += 1\nexcept:\n    n += 10\nreturn n", json!(1));
    gives(
        "try:\n    try:\n        raise A(\"a\")\n    except A:\n        raise\nexcept A as e:\n    return e.message\nreturn 0",
        json!("a"),
    );
    gives(
        "try:\n    try:\n        raise A(\"a\")\n    except A:\n        raise B(\"b\")\nexcept B as e:\n    return e.message\nreturn 0",
        json!("b"),
    );
    gives(
        "out = []\nfor x in [1, 0, 2]:\n    try:\n        out = out + [4 / x]\n    except DivisionByZero:\n        continue\nreturn out",
        json!([4, 2]),
    );
    gives("x = {\"type\": \"A\", \"message\": \"no error\"}\nreturn x.message", json!("no error"));
    fails("try:\n    raise A(\"a\")\nexcept B:\n    return 1", "A");
}

#[test]
fn functions_have_names_and_defaults_of_their_own() {
    gives("x = 1\ny = f(2)\nreturn [x, y]\n\nfn f(a, b=10):\n    x = a + b\n    return x\n", json!([1, 12]));
    gives("x = f()\nreturn x\n\nfn f():\n    pass\n", json!(null));
    gives("x = f(b=1, a=2)\nreturn x\n\nfn f(a, b):\n    return [a, b]\n", json!([2, 1]));
    gives(
        "x = f([1, 2, 3])\nreturn x\n\nfn f(xs):\n    for x in xs:\n        if x > 1:\n            return x\n",
        json!(2),
    );
    refused("x = f(3)\nreturn x\n\nfn f(n):\n    y = f(n - 1)\n    return y\n", 5, "calls itself");
}

#[test]
fn what_is_written_another_way_here_is_refused_at_its_line() {
    for (body, line, says) in [
        ("xs = [1, 2]\nreturn [x * 2 for x in xs]", 2, "no comprehensions"),
        ("f = lambda x: x\nreturn f", 1, "no lambdas"),
        ("n = 1\nreturn f\"n is {n}\"", 2, "no f-strings"),
        ("try:\n    pass\nfinally:\n    pass", 3, "no `finally`"),
        ("return 1 if true else 2", 1, "written with `?`"),
        ("return true and false", 1, "there is no `and`"),
        ("return None", 1, "`None`"),
        ("return \"abc\"[0:2]", 1, "no slices"),
        ("x = 2\nreturn 1 < x < 3", 2, "compares the result of a comparison"),
        ("return 7 // 2", 1, "there is no `//`"),
        ("return 2 ** 3", 1, "there is no `**`"),
        ("return (1, 2)", 1, "no tuples"),
        ("a = b = 1\nreturn a", 1, "assigns once"),
        ("import os", 1, "nothing is imported"),
        ("x = 1\ndel x", 2, "not deleted"),
        ("assert 1 == 1", 1, "no `assert`"),
        ("print(1)", 1, "no function `print`"),
        ("return len([1])", 1, "no function `len`"),
        ("xs = [1]\nxs.append(2)\nreturn xs", 2, "append"),
        ("x = {}\nx[\"a\"] = 1\nreturn x", 2, ""),
        ("x = f(1) + f(2)\nreturn x\n\nfn f(a):\n    return a\n", 1, "called within an expression"),
        ("while 1:\n    break\nelse:\n    pass", 3, "else"),
        ("for i, x in enumerate([\"a\"]):\n    return i", 1, ""),
    ] {
        refused(body, line, says);
    }
}

/// CEL is the word here, and the reference says so: the quotient of integers has no fraction, the rest the sign of the dividend.
#[test]
fn what_differs_is_documented() {
    gives("return [7 / 2, -7 / 2, -7 % 3, 7 % -3]", json!([3, -3, -1, 1]));
    let reference = include_str!("../../../../docs/reference/expressions.md");
    assert!(reference.contains("7 / 2  ->  3") && reference.contains("[7 % 3, -7 % 3, 7 % -3]  ->  [1, -1, 1]"));
}
