//! Where two values differ: each place once, so that a small difference in a large output is a short line.

use serde_json::Value;

/// Most differences that are told of one value.
const MOST: usize = 20;

/// What differs: the place, what was expected, what was found; nothing if they are the same. With `parts`, keys that
/// are not expected may be there.
pub(super) fn differ(at: &str, expected: &Value, found: &Value, parts: bool) -> Vec<(String, String, String)> {
    let mut differences = Vec::new();
    walk(at, expected, found, parts, &mut differences);
    differences
}

fn walk(at: &str, expected: &Value, found: &Value, parts: bool, out: &mut Vec<(String, String, String)>) {
    if out.len() >= MOST || same(expected, found) {
        return;
    }
    match (expected, found) {
        (Value::Object(wanted), Value::Object(there)) => {
            for (key, value) in wanted {
                let at = format!("{at}.{key}");
                match there.get(key) {
                    Some(found) => walk(&at, value, found, parts, out),
                    None => out.push((at, value.to_string(), "nothing".into())),
                }
            }
            for (key, value) in there.iter().filter(|(key, _)| !parts && !wanted.contains_key(*key)) {
                out.push((format!("{at}.{key}"), "nothing".into(), value.to_string()));
            }
        }
        (Value::Array(wanted), Value::Array(there)) => {
            for n in 0..wanted.len().max(there.len()) {
                let at = format!("{at}[{n}]");
                match (wanted.get(n), there.get(n)) {
                    (Some(value), Some(found)) => walk(&at, value, found, parts, out),
                    (Some(value), None) => out.push((at, value.to_string(), "nothing".into())),
                    (None, Some(found)) => out.push((at, "nothing".into(), found.to_string())),
                    (None, None) => {}
                }
            }
        }
        _ => out.push((at.to_owned(), expected.to_string(), found.to_string())),
    }
}

/// `1` and `1.0` are the same number, as everywhere in flows.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64() && !(a.is_i64() && b.is_i64()),
        (a, b) => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(expected: &Value, found: &Value, parts: bool, told: &[&str]) {
        let differences = differ("output", expected, found, parts);
        let lines: Vec<String> = differences.into_iter().map(|(at, a, b)| format!("{at}: {a} / {b}")).collect();
        assert_eq!(lines, told, "{expected} {found}");
    }

    #[test]
    fn a_difference_is_told_at_its_place() {
        check(&json!({"a": [1, {"b": 2}]}), &json!({"a": [1, {"b": 3}]}), false, &["output.a[1].b: 2 / 3"]);
        check(&json!([1]), &json!([1, 2]), false, &["output[1]: nothing / 2"]);
        check(&json!({"a": 1}), &json!({"b": 1}), false, &["output.a: 1 / nothing", "output.b: nothing / 1"]);
        check(&json!({"a": 1}), &json!({"a": 1, "b": 1}), true, &[]);
        check(&json!("1"), &json!(1), false, &["output: \"1\" / 1"]);
        check(&json!(1), &json!(1.0), false, &[]);
    }

    #[test]
    fn large_numbers_that_differ_by_one_differ() {
        check(
            &json!(9007199254740993i64),
            &json!(9007199254740992i64),
            false,
            &["output: 9007199254740993 / 9007199254740992"],
        );
    }
}
