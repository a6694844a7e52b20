//! The reference of expressions says what is true: each of its examples is evaluated.

use crate::ground::Named;
use edgewise_core::expr::{Expr, Hyphens, KINDS, parse};
use edgewise_core::limits;
use edgewise_core::template::Root;
use serde_json::Value;

const TEXT: &str = include_str!("../../../../docs/reference/expressions.md");

/// The blocks with this mark, each with the lines in it.
fn blocks(mark: &str) -> Vec<Vec<&'static str>> {
    let mut lines = TEXT.lines();
    let mut blocks = Vec::new();
    while let Some(line) = lines.next() {
        if line.strip_prefix("```") == Some(mark) {
            blocks.push(lines.by_ref().take_while(|line| *line != "```").collect());
        }
    }
    blocks
}

fn examples(mark: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    blocks(mark).concat().into_iter().map(|line| line.split_once("  ->  ").unwrap_or_else(|| panic!("{line}")))
}

/// Names are found as a flow finds them, each in the map of all values.
fn bound(named: &Named, text: &str) -> Expr {
    let ast = parse(text, Hyphens::InNames).unwrap_or_else(|faults| panic!("{text}: {faults:?}"));
    let node = |name: &str| Root::Output { up: 0, node: named.number(name) };
    ast.bind(&mut |path, _| Ok((1, node(path[0])))).unwrap_or_else(|faults| panic!("{text}: {faults:?}"))
}

#[test]
fn every_example_comes_to_what_the_reference_says() {
    let values: Value = serde_json::from_str(&blocks("json")[0].join("\n")).unwrap();
    let named = Named::new(values.as_object().cloned().unwrap());
    let mut count = 0;
    for (text, expected) in examples("expr") {
        let expr = bound(&named, text);
        match (expr.eval(&&named), expected.strip_prefix("! ")) {
            (Ok(value), None) => {
                let expected: Value = serde_json::from_str(expected).unwrap_or_else(|e| panic!("{text}: {e}"));
                assert_eq!(value.to_string(), expected.to_string(), "{text}");
            }
            (Err(failure), Some(kind)) => assert_eq!(failure.kind, kind, "{text}"),
            (found, _) => panic!("{text} gave {found:?}, the reference says {expected}"),
        }
        count += 1;
    }
    assert!(count >= 70, "only {count} examples were read");
}

#[test]
fn what_the_reference_calls_refused_is_refused() {
    for (text, message) in examples("refused") {
        assert_eq!(parse(text, Hyphens::InNames).expect_err(text)[0].message, message, "{text}");
    }
}

#[test]
fn the_reference_lists_every_type_of_failure_and_every_limit() {
    for kind in KINDS {
        assert!(TEXT.contains(&format!("| `{kind}` |")), "{kind}");
    }
    let grouped = |n: u64| {
        let digits = n.to_string();
        let groups: Vec<&str> = digits.as_bytes().rchunks(3).rev().map(|g| std::str::from_utf8(g).unwrap()).collect();
        groups.join(",")
    };
    for value in [
        format!("{} KiB", limits::EXPR_BYTES >> 10),
        format!("{} MiB", limits::EVAL_BYTES >> 20),
        format!("{} MiB", limits::EXPR_WHOLE_BYTES >> 20),
        limits::EXPR_DEPTH.to_string(),
        grouped(limits::EXPR_NODES as u64),
        grouped(limits::EVAL_STEPS),
        limits::DEPTH.to_string(),
    ] {
        assert!(TEXT.contains(&format!("| {value} |")), "{value}");
    }
}
