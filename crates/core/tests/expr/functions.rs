//! What functions come to.

use crate::ground::eval;
use serde_json::{Value, json};

fn check(cases: &[(&str, Value)]) {
    for (text, expected) in cases {
        let found = eval(text, &json!({"m": {"b": 2, "a": 1}})).unwrap_or_else(|failure| panic!("{text}: {failure:?}"));
        assert_eq!(found.to_string(), expected.to_string(), "{text}");
    }
}

fn refused(cases: &[(&str, &str, &str)]) {
    for (text, kind, message) in cases {
        let failure = eval(text, &json!({"m": {}})).expect_err(text);
        assert_eq!((failure.kind.as_str(), failure.message.as_str()), (*kind, *message), "{text}");
    }
}

#[test]
fn sizes_count_characters_items_and_keys() {
    check(&[("size('größe')", json!(5)), ("[1, 2].size()", json!(2)), ("size(m)", json!(2)), ("''.size()", json!(0))]);
    refused(&[("size(5)", "TypeMismatch", "`5` must be a text, a list or a map here, but it is a number")]);
}

#[test]
fn conversions_say_what_they_cannot_convert() {
    check(&[
        ("[int('-12'), int(3.99), int(-3.99), int(7)]", json!([-12, 3, -3, 7])),
        ("[double('1e3'), double(7), double(1.5)]", json!([1000.0, 7.0, 1.5])),
        ("[string(7), string(1.0), string(true), string('x')]", json!(["7", "1.0", "true", "x"])),
        ("[string(null), string([1, 'x'])]", json!(["null", "[1,\"x\"]"])),
        ("[bool('true'), bool('FALSE'), bool('1'), bool(true)]", json!([true, false, true, true])),
        ("json({'a': [1, 'x', null]})", json!("{\"a\":[1,\"x\",null]}")),
    ]);
    refused(&[
        ("int('12x')", "BadValue", "`int(\"12x\")` has no value: `12x` is not an integer"),
        ("int('+1')", "BadValue", "`int(\"+1\")` has no value: `+1` is not an integer"),
        ("double('inf')", "BadValue", "`double(\"inf\")` has no value: `inf` is not a double"),
        ("double('1e999')", "BadValue", "`double(\"1e999\")` has no value: `1e999` is not a double"),
        ("bool('yes')", "BadValue", "`bool(\"yes\")` has no value: `yes` is not a boolean"),
        ("int(true)", "TypeMismatch", "`int(true)` cannot be made of a boolean"),
        ("bool(null)", "TypeMismatch", "`bool(null)` cannot be made of null"),
    ]);
}

#[test]
fn functions_of_texts_count_in_characters() {
    check(&[
        ("['abc'.startsWith('ab'), 'abc'.endsWith('bc'), 'abc'.contains('x')]", json!([true, true, false])),
        ("'ÄbC'.lowerAscii() + 'äbC'.upperAscii()", json!("ÄbcäBC")),
        ("' \\t x \\n'.trim()", json!("x")),
        ("'a,b,,c'.split(',')", json!(["a", "b", "", "c"])),
        ("'a,b,c'.split(',', 2)", json!(["a", "b,c"])),
        ("'äbc'.split('')", json!(["ä", "b", "c"])),
        ("['a', 'b'].join('-') + ['a', 'b'].join() + [].join(',')", json!("a-bab")),
        ("'aaa'.replace('a', 'bb') + 'aaa'.replace('a', 'b', 1)", json!("bbbbbbbaa")),
        ("'größe'.substring(2) + 'größe'.substring(1, 3)", json!("ößerö")),
        ("['größe'.indexOf('ß'), 'aXbX'.indexOf('X', 2), 'a'.indexOf('z')]", json!([3, 3, -1])),
    ]);
    refused(&[
        (
            "'abc'.substring(2, 9)",
            "IndexOutOfRange",
            "`\"abc\".substring(2, 9)` cuts from 2 to 9, but the text has 3 characters",
        ),
        (
            "'a'.indexOf('a', 5)",
            "IndexOutOfRange",
            "`\"a\".indexOf(\"a\", 5)` starts at 5, but the text has 1 characters",
        ),
        ("['a', 1].join(',')", "TypeMismatch", "`[\"a\", 1]` must be a list of texts here, but it is a number"),
        ("m.startsWith('x')", "TypeMismatch", "`m` must be a text here, but it is a map"),
    ]);
}

#[test]
fn functions_of_lists_and_maps() {
    check(&[
        (
            "[range(3), range(2, 4), range(5, 0, -2), range(0), range(3, 1)]",
            json!([[0, 1, 2], [2, 3], [5, 3, 1], [], []]),
        ),
        ("range(9223372036854775806, 9223372036854775807, 5)", json!([i64::MAX - 1])),
        ("enumerate(['a', 'b'])", json!([[0, "a"], [1, "b"]])),
        ("zip([1, 2], ['a', 'b'])", json!([[1, "a"], [2, "b"]])),
        ("[sum([1, 2, 3]), sum([0.5, 0.25]), sum([])]", json!([6, 0.75, 0])),
        ("[min([3, 1, 2]), max(1, 2.5, 2), min('b', 'a')]", json!([1, 2.5, "a"])),
        ("flatten([[1, 2], [], 3, [[4]]])", json!([1, 2, 3, [4]])),
        ("[keys(m), values(m)]", json!([["a", "b"], [1, 2]])),
    ]);
    refused(&[
        ("range(0, 5, 0)", "BadValue", "`range(0, 5, 0)` has no end: it goes by 0"),
        ("max([])", "BadValue", "`max([])` has no value: the list is empty"),
        ("sum([1, 'a'])", "TypeMismatch", "`[1, \"a\"]` must be a list of numbers here, but it is a text"),
        (
            "sum([9223372036854775807, 1])",
            "Overflow",
            "`sum([9223372036854775807, 1])` comes to more than an integer of 64 bits can hold",
        ),
        ("min([1, 'a'])", "TypeMismatch", "`min([1, \"a\"])` compares a text and an integer, which have no order"),
        ("min([null])", "TypeMismatch", "`min([null])` compares null and null, which have no order"),
        (
            "zip([1], [])",
            "BadValue",
            "`zip([1], [])` takes lists of the same length, but one has 1 items and one has 0",
        ),
        ("keys([1])", "TypeMismatch", "`[1]` must be a map here, but it is a list"),
        ("range('3')", "TypeMismatch", "`\"3\"` must be an integer here, but it is a text"),
    ]);
}
