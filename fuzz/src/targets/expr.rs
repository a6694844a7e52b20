//! Expressions, one on each line: any text is refused with its place, or comes to a value or a failure of a known
//! kind, the same after it was printed and after it was stored.

use super::{Target, words};
use edgewise_core::expr::{Expr, Fault, Hyphens, KINDS, parse};
use edgewise_core::template::{Root, Values};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::LazyLock;

pub const TARGET: Target = Target {
    name: "expr",
    words: &[
        "inputs.a",
        "tasks.plan.output",
        "item",
        "x",
        "has(x.y)",
        ".all(x, x > 1)",
        ".exists(x, x == 1)",
        ".exists_one(x, x == 1)",
        ".filter(x, x > 1)",
        ".map(x, x)",
        ".map(x, x > 1, x)",
        "size(x)",
        "string(x)",
        "int(x)",
        "double(x)",
        "bool(x)",
        "json(x)",
        ".startsWith(\"a\")",
        ".endsWith(\"a\")",
        ".contains(\"a\")",
        ".matches(\"^a+$\")",
        ".lowerAscii()",
        ".upperAscii()",
        ".trim()",
        ".split(\",\")",
        ".join(\"-\")",
        ".replace(\"a\", \"b\")",
        ".substring(1, 2)",
        ".indexOf(\"a\")",
        "range(3)",
        "enumerate([1])",
        "zip([1], [2])",
        "sum([1, 2])",
        "min(1, 2)",
        "max([1])",
        "flatten([[1]])",
        "keys({})",
        "values({})",
        " ? ",
        " : ",
        " || ",
        " && ",
        " in ",
        " == ",
        " <= ",
        " % ",
        " / ",
        "-9223372036854775808",
        "9223372036854775807",
        "18446744073709551615",
        "1e308",
        "0x1f",
        "1u",
        "b\"x\"",
        "r\"\\d\"",
        "'''",
        "\\u00e9",
        "\\U0001F600",
        "[0]",
        "{\"a\": 1}",
        "(",
        ")",
        "null",
        "true",
        "// ",
        "\n",
    ],
    defined: Vec::new,
    attempt,
};

/// What names stand for; any other is refused.
static VALUES: LazyLock<Value> = LazyLock::new(|| {
    json!({
        "x": [1, 2.5, "text", null, {"a": [true]}],
        "inputs": {"a": 7, "load-rows": "größe", "list": [3, 1, 2]},
        "tasks": {"plan": {"output": {"targets": [{"name": "linux", "size": 3}]}}},
        "item": {"name": "mac", "big": 18_446_744_073_709_551_615_u64},
    })
});

struct Known;

impl<'v> Values<'v> for Known {
    fn value(&self, root: &Root) -> Option<Cow<'v, Value>> {
        let Root::Output { node, .. } = root else { return None };
        VALUES.as_object().and_then(|map| map.values().nth(*node as usize)).map(Cow::Borrowed)
    }
}

fn attempt(input: &[u8]) -> String {
    let Ok(text) = std::str::from_utf8(input) else { return "no text".to_owned() };
    let marks: BTreeSet<String> = text.lines().take(50).map(one).collect();
    marks.into_iter().take(4).collect::<Vec<_>>().join(", ")
}

fn one(text: &str) -> String {
    let ast = match parse(text, Hyphens::InNames) {
        Ok(ast) => ast,
        Err(faults) => return refused(text, &faults),
    };
    let printed = ast.to_string();
    let again =
        parse(&printed, Hyphens::InNames).unwrap_or_else(|faults| panic!("{printed} is printed, but {faults:?}"));
    assert_eq!(again, ast, "{printed}");
    let known = |path: &[&str], span| {
        let found = VALUES.as_object().and_then(|map| map.keys().position(|name| path.first() == Some(&name.as_str())));
        let node = found.ok_or_else(|| Fault::new(span, "unknown_reference", "this names nothing"))?;
        Ok((1, Root::Output { up: 0, node: node as u32 }))
    };
    match ast.bind(&mut |path, span| known(path, span)) {
        Ok(expr) => evaluated(&expr),
        Err(faults) => refused(text, &faults),
    }
}

fn refused(text: &str, faults: &[Fault]) -> String {
    for fault in faults {
        assert!(!fault.code.is_empty() && !fault.message.is_empty());
        assert!(text.get(fault.span.from as usize..fault.span.to as usize).is_some(), "{fault:?} stands nowhere");
    }
    faults.first().map_or_else(|| panic!("refused without a word"), |f| format!("{} {}", f.code, words(&f.message)))
}

fn evaluated(expr: &Expr) -> String {
    let stored = serde_json::to_string(expr).unwrap_or_else(|error| panic!("{error}"));
    let loaded: Expr = serde_json::from_str(&stored).unwrap_or_else(|error| panic!("{stored}: {error}"));
    assert_eq!(&loaded, expr);
    let found = expr.eval(&Known).map(Cow::into_owned);
    assert_eq!(loaded.eval(&Known).map(Cow::into_owned), found, "{stored}");
    match found {
        Ok(Value::Array(list)) => format!("list {}", list.len().min(3)),
        Ok(Value::Object(map)) => format!("map {}", map.len().min(3)),
        Ok(Value::Number(n)) => format!("number {}", n.is_f64()),
        Ok(Value::String(text)) => format!("text {}", text.len().min(3)),
        Ok(other) => other.to_string(),
        Err(failure) => {
            assert!(KINDS.contains(&&*failure.kind), "{failure:?}");
            format!("{} {}", failure.kind, words(&failure.message))
        }
    }
}
