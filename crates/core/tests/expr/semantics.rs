//! What expressions come to.

use crate::ground::eval;
use serde_json::{Value, json};

fn names() -> Value {
    json!({
        "n": 7, "d": 2.5, "t": "text", "yes": true, "none": null, "list": [3, 1, 2], "map": {"a": 1, "b": {"c": [10, 20]}},
        "rows": [{"id": 1, "ok": true}, {"id": 2, "ok": false}, {"id": 3, "ok": true}],
        "large": u64::MAX, "error": {"type": "E", "message": "m"}, "odd key": {"a.b": 5}
    })
}

/// Each expression, with what it comes to or the type and message of its failure. `$` stands for `names.`.
fn check(cases: &[(&str, Result<Value, (&str, &str)>)]) {
    for (text, expected) in cases {
        let found = eval(&text.replace('$', "names."), &names());
        match (found, expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found.to_string(), expected.to_string(), "{text}"),
            (Err(failure), Err((name, message))) => {
                assert_eq!((failure.kind.as_str(), failure.message.as_str()), (*name, *message), "{text}");
                assert!(!failure.retryable, "{text}");
            }
            (found, _) => panic!("{text} gave {found:?}, expected {expected:?}"),
        }
    }
}

#[test]
fn division_by_zero_is_an_error() {
    check(&[
        ("1 / 0", Err(("DivisionByZero", "`1 / 0` divides by zero"))),
        ("$n % 0", Err(("DivisionByZero", "`names.n % 0` divides by zero"))),
        ("1.0 / 0.0", Err(("DivisionByZero", "`1.0 / 0.0` divides by zero"))),
    ]);
}

#[test]
fn integers_are_exact_to_64_bits_and_overflow_is_an_error() {
    check(&[
        ("9223372036854775806 + 1", Ok(json!(i64::MAX))),
        ("-9223372036854775808", Ok(json!(i64::MIN))),
        ("9007199254740993 * 1", Ok(json!(9_007_199_254_740_993_i64))),
        (
            "9223372036854775807 + 1",
            Err(("Overflow", "`9223372036854775807 + 1` comes to more than an integer of 64 bits can hold")),
        ),
        (
            "-9223372036854775808 / -1",
            Err(("Overflow", "`-9223372036854775808 / -1` comes to more than an integer of 64 bits can hold")),
        ),
    ]);
}
