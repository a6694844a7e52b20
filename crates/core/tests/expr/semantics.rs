//! What operators and macros come to.

use crate::ground::eval;
use edgewise_core::expr::{EVAL_ERROR, KINDS};
use serde_json::{Value, json};

fn names() -> Value {
    json!({
        "n": 7, "d": 2.5, "t": "text", "yes": true, "none": null, "list": [3, 1, 2], "map": {"a": 1, "b": {"c": [10, 20]}},
        "rows": [{"id": 1, "ok": true}, {"id": 2, "ok": false}, {"id": 3, "ok": true}],
        "large": u64::MAX, "error": {"type": "E", "message": "m"}, "odd": {"a.b": 5}
    })
}

fn is(text: &str, expected: &Value) {
    let found = eval(text, &names()).unwrap_or_else(|failure| panic!("{text}: {failure:?}"));
    // As texts, so that 1 and 1.0 are told apart.
    assert_eq!(found.to_string(), expected.to_string(), "{text}");
}

fn fails(text: &str, kind: &str, message: &str) {
    let failure = eval(text, &names()).expect_err(text);
    assert_eq!((failure.kind.as_str(), failure.message.as_str()), (kind, message), "{text}");
    assert!(!failure.retryable && KINDS.contains(&kind), "{text}");
}

#[test]
fn division_by_zero_is_an_error() {
    fails("1 / 0", "DivisionByZero", "`1 / 0` divides by zero");
    fails("n%0", "DivisionByZero", "`n % 0` divides by zero");
    fails("2 * (1.0 / 0.0 > 1.0 ? 1 : 0)", "DivisionByZero", "`1.0 / 0.0` divides by zero");
}

#[test]
fn integers_are_exact_to_64_bits_and_overflow_is_an_error() {
    is("9223372036854775806 + 1", &json!(i64::MAX));
    is("-9223372036854775808", &json!(i64::MIN));
    is("0x7fffffffffffffff - 1", &json!(i64::MAX - 1));
    is("9007199254740993 * 1", &json!(9_007_199_254_740_993_i64));
    is("9007199254740993 == 9007199254740992", &json!(false));
    let most = "comes to more than an integer of 64 bits can hold";
    fails("9223372036854775807 + 1", "Overflow", &format!("`9223372036854775807 + 1` {most}"));
    fails("-9223372036854775808 / -1", "Overflow", &format!("`-9223372036854775808 / -1` {most}"));
    fails("-(-9223372036854775808)", "Overflow", &format!("`--9223372036854775808` {most}"));
    fails("int(1e30)", "Overflow", &format!("`int(1e+30)` {most}").replace("1e+30", &json!(1e30).to_string()));
    fails("1e308 * 10.0", "Overflow", &format!("`{} * 10.0` comes to more than a double can hold", json!(1e308)));
}

#[test]
fn an_integer_beyond_64_bits_is_kept_and_compared_but_not_computed_with() {
    is("large", &json!(u64::MAX));
    is(
        "[large, large > 9223372036854775807, large == large, string(large)]",
        &json!([u64::MAX, true, true, u64::MAX.to_string()]),
    );
    let message = "`large + 1` computes with an integer beyond 64 bits; use `double(x)` if it need not be exact";
    fails("large + 1", "Overflow", message);
    is("double(large) > 1.0", &json!(true));
}

#[test]
fn one_equals_one_point_zero_everywhere() {
    for text in ["1 == 1.0", "[1] == [1.0]", "{'a': 1} == {'a': 1.0}", "1 in [1.0]", "1 <= 1.0", "!(1 < 1.0)"] {
        is(text, &json!(true));
    }
}

#[test]
fn arithmetic_does_not_mix_integers_and_doubles() {
    let help = "make both the same with `double(x)` or `int(x)`";
    fails("n + d", "TypeMismatch", &format!("`n + d` adds an integer and a double, which cannot be; {help}"));
    is("double(n) + d", &json!(9.5));
    is("7 / 2", &json!(3));
    is("7.0 / 2.0", &json!(3.5));
}

#[test]
fn the_rest_has_the_sign_of_the_dividend() {
    is("[7 % 3, -7 % 3, 7 % -3, -7 % -3]", &json!([1, -1, 1, -1]));
    is("[7 / 3, -7 / 3]", &json!([2, -2]));
    is("-9223372036854775808 % 2", &json!(0));
    fails("5.0 % 2.0", "TypeMismatch", "`5.0 % 2.0` takes the rest of doubles; only integers have one");
}

#[test]
fn texts_compare_by_their_characters() {
    is("['a' < 'b', 'a' < 'B', '' < 'a', 'é' > 'z', 'abc' >= 'abc']", &json!([true, false, true, true, true]));
    is("false < true", &json!(true));
    fails("1 < '2'", "TypeMismatch", "`1 < \"2\"` compares an integer and a text, which have no order");
    is("1 == '1'", &json!(false));
    is("none == null && null != 0", &json!(true));
}

#[test]
fn and_and_or_stop_early_and_absorb_errors() {
    is("false && 1 / 0 == 0", &json!(false));
    is("1 / 0 == 0 && false", &json!(false));
    is("true || 1 / 0 == 0", &json!(true));
    is("1 / 0 == 0 || true", &json!(true));
    is("yes && 1 / 0 == 0 && false || false", &json!(false));
    fails("1 / 0 == 0 || false", "DivisionByZero", "`1 / 0` divides by zero");
    fails("true && 1 / 0 == 0 && none.x", "DivisionByZero", "`1 / 0` divides by zero");
    fails("yes && n", "TypeMismatch", "`n` must be true or false, but it is a number");
}

#[test]
fn a_map_that_looks_like_an_error_is_a_map() {
    is("error", &json!({"type": "E", "message": "m"}));
    is("error.type + error.message", &json!("Em"));
    is("{'type': 'x', 'message': 'y'} == error", &json!(false));
}

#[test]
fn only_the_arm_taken_is_evaluated() {
    is("yes ? 1 : 1 / 0", &json!(1));
    is("n > 10 ? 1 / 0 : n > 5 ? 'mid' : 'low'", &json!("mid"));
    fails("n ? 1 : 2", "TypeMismatch", "`n` must be true or false, but it is a number");
}

#[test]
fn in_asks_for_an_item_or_a_key() {
    is(
        "[2 in list, 9 in list, 'a' in map, 'z' in map, [] in [[]], 1 in map]",
        &json!([true, false, true, false, true, false]),
    );
    fails("1 in t", "TypeMismatch", "`t` stands after `in`, so it must be a list or a map, but it is a text");
}

#[test]
fn plus_joins_texts_and_lists() {
    is("t + '-' + string(n)", &json!("text-7"));
    is("list + [4] + []", &json!([3, 1, 2, 4]));
    let help = "make a text of the other with `string(x)`";
    fails("t + n", "TypeMismatch", &format!("`t + n` adds a text and an integer, which cannot be; {help}"));
    fails("map + map", "TypeMismatch", "`map + map` adds a map and a map, which cannot be");
}

#[test]
fn has_asks_for_a_key_without_an_error() {
    is(
        "[has(map.a), has(map.z), has(map.b.c), has(odd['a.b']), has(error.type)]",
        &json!([true, false, true, true, true]),
    );
    fails("has(n.x)", "TypeMismatch", "`has` asks for the key of a map, but `n` is a number");
    fails("has(map.z.y)", "NoSuchKey", "`map.z` has no value: `map` has no key `z`");
}

#[test]
fn a_reference_that_leads_nowhere_is_named_as_the_author_wrote_it() {
    fails("map.b.x.y", "NoSuchKey", "`map.b.x.y` has no value: `map.b` has no key `x`");
    fails("map.b.c[2]", "IndexOutOfRange", "`map.b.c[2]` has no value: `map.b.c` is a list of 2, counted from 0");
    fails("list[-1]", "IndexOutOfRange", "`list[-1]` has no value: `list` is a list of 3, counted from 0");
    fails("map.a.x", "TypeMismatch", "`map.a.x` has no value: `map.a` is a number");
    fails("odd.a + 1", "NoSuchKey", "`odd.a` has no value: `odd` has no key `a`");
    fails("odd['a.c']", "NoSuchKey", "`odd[\"a.c\"]` has no value: `odd` has no key `a.c`");
    fails("list['0']", "TypeMismatch", "`list[\"0\"]` has no value: `list` is a list");
    fails("map[n]", "TypeMismatch", "the keys of a map are texts, but `n` is a number");
    is("map.b['c'][n - 6] + odd['a.b']", &json!(25));
    is("list[1.0]", &json!(1));
}

#[test]
fn macros_go_over_items_and_keys() {
    is("rows.filter(r, r.ok).map(r, r.id)", &json!([1, 3]));
    is("rows.map(r, r.ok, r.id * 10)", &json!([10, 30]));
    is("[rows.all(r, r.id > 0), rows.exists(r, r.id == 2), rows.exists_one(r, r.ok)]", &json!([true, true, false]));
    is("map.map(k, k + '!')", &json!(["a!", "b!"]));
    is(
        "[[].all(x, x), [].exists(x, x), [].exists_one(x, x), [].map(x, x), [].filter(x, x)]",
        &json!([true, false, false, [], []]),
    );
    fails("n.map(x, x)", "TypeMismatch", "`n` must be a list or a map for `map`, but it is a number");
    fails("list.filter(x, x)", "TypeMismatch", "`x` must be true or false, but it is a number");
}

#[test]
fn all_and_exists_absorb_errors_and_exists_one_does_not() {
    is("[0, 1].exists(x, 1 / x == 1)", &json!(true));
    is("[0, 1].all(x, 1 / x == 5)", &json!(false));
    fails("[0, 1].exists(x, 1 / x == 5)", "DivisionByZero", "`1 / x` divides by zero");
    fails("[0, 1].all(x, 1 / x == 1)", "DivisionByZero", "`1 / x` divides by zero");
    fails("[0, 1].exists_one(x, 1 / x == 1)", "DivisionByZero", "`1 / x` divides by zero");
}

#[test]
fn a_variable_shadows_what_is_outside() {
    is("list.map(n, n + 1)", &json!([4, 2, 3]));
    is("list.map(x, [10].map(x, x + 1)[0] + x)", &json!([14, 12, 13]));
    is("list.map(x, list.map(y, x * y))", &json!([[9, 3, 6], [3, 1, 2], [6, 2, 4]]));
    is("list.map(map, map) + [map.a]", &json!([3, 1, 2, 1]));
    is("[[1], [2]].map(x, x.map(y, x + [y]))", &json!([[[1, 1]], [[2, 2]]]));
}

#[test]
fn maps_have_texts_for_keys_and_each_once() {
    is("{'a': n, t + '2': [d]}", &json!({"a": 7, "text2": [2.5]}));
    fails("{t: 1, 'te' + 'xt': 2}", "DuplicateKey", "the key `\"te\" + \"xt\"` comes twice in one map");
    fails("{'a': 1, 'a': 2}", "DuplicateKey", "the key `\"a\"` comes twice in one map");
    fails("{n: 1}", "TypeMismatch", "the keys of a map are texts, but `n` is a number");
}

#[test]
fn every_kind_of_failure_is_an_eval_error() {
    assert_eq!(EVAL_ERROR, "EvalError");
    assert!(KINDS.is_sorted());
}
