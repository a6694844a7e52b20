//! Texts that nobody would write: no panic, no hang, and what is accepted keeps its meaning when printed.

use crate::ground::Named;
use edgewise_core::expr::{Expr, Hyphens, parse};
use proptest::prelude::*;
use serde_json::json;

const PIECES: &[&str] = &[
    "1",
    "0",
    "2.5",
    "-",
    "+",
    "*",
    "/",
    "%",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ":",
    ",",
    ".",
    "?",
    "!",
    "&&",
    "||",
    "==",
    "!=",
    "<",
    ">=",
    "in",
    " ",
    "'a'",
    "\"b\"",
    "r'\\'",
    "'''x'''",
    "true",
    "null",
    "x",
    "y",
    "list",
    "map",
    "tasks.a-b",
    "inputs",
    ".k",
    "[0]",
    "['k']",
    "size(",
    ".size()",
    "has(x.k)",
    "list.map(v, ",
    "list.all(x, x",
    "range(9)",
    "v",
    "1u",
    "b''",
    "//",
    "\n",
    "0x1f",
    "1e5",
    "é",
    "\\",
    "'",
    "\"",
    "9223372036854775807",
    "json(",
    "split(','",
    "a.b.c",
    "{'k': ",
    "-9223372036854775808",
];

fn check(text: &str) {
    let names =
        json!({"x": {"k": 1}, "y": "text", "list": [1, "a", null, [2]], "map": {"k": [1]}, "inputs": {}, "v": 3});
    let named = Named::new(names.as_object().cloned().unwrap());
    for hyphens in [Hyphens::Refused, Hyphens::InNames] {
        match parse(text, hyphens) {
            Err(faults) => {
                for fault in faults {
                    let part = text.get(fault.span.from as usize..fault.span.to as usize);
                    assert!(part.is_some(), "{text:?}: {fault:?} points between characters");
                }
            }
            Ok(ast) => {
                let printed = ast.to_string();
                let again =
                    parse(&printed, hyphens).unwrap_or_else(|faults| panic!("{text:?} as {printed:?}: {faults:?}"));
                assert_eq!(again, ast, "{text:?} as {printed:?}");
            }
        }
    }
    if let Ok(expr) = named.bind(text) {
        let loaded: Expr = serde_json::from_str(&serde_json::to_string(&expr).unwrap()).unwrap();
        let found = expr.eval(&&named);
        assert_eq!(found, loaded.eval(&&named), "{text:?}");
        if let Err(failure) = found {
            assert!(edgewise_core::expr::KINDS.contains(&failure.kind.as_str()), "{failure:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pieces_in_any_order(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..24)) {
        check(&pieces.concat());
    }

    #[test]
    fn any_characters(text in "\\PC{0,40}") {
        check(&text);
    }

    #[test]
    fn a_good_expression_with_a_few_bytes_changed(
        seed in prop::sample::select(&[
            "x.k + 1 > 2 && list.exists(v, v == 1) ? map.k[0] : {'a': [1, 2.5, y]}",
            "list.filter(i, i != null).map(i, string(1)).join(',').split('')[0]",
            "!(y.startsWith('te') || has(x.k)) == (1 in list) && -x.k % 3 <= 2",
        ][..]),
        edits in prop::collection::vec((0usize..200, prop::sample::select(PIECES)), 0..4),
    ) {
        let mut text = seed.to_owned();
        for (at, piece) in edits {
            let at = at % (text.len() + 1);
            if text.is_char_boundary(at) {
                let to = (at + piece.len()).min(text.len());
                if text.is_char_boundary(to) {
                    text.replace_range(at..to, piece);
                }
            }
        }
        check(&text);
    }
}
