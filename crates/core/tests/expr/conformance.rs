//! The public conformance cases of CEL, as far as they are about our subset; see `tests/cel/README.md`.

use crate::ground::Named;
use edgewise_core::expr::{Hyphens, KINDS, parse};
use serde_json::Value;
use std::path::Path;

fn cases(keep: impl Fn(&str) -> bool) -> Vec<(String, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cel");
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let file = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if path.extension().is_some_and(|e| e == "jsonl") && keep(&file) {
            let text = std::fs::read_to_string(&path).unwrap();
            found.extend(text.lines().map(|line| (file.clone(), serde_json::from_str(line).unwrap())));
        }
    }
    found
}

#[test]
fn every_case_of_the_subset_comes_to_what_cel_says() {
    let cases = cases(|file| file != "refused");
    assert!(cases.len() > 700, "{}", cases.len());
    for (file, case) in &cases {
        let (name, text) = (&case["name"], case["expr"].as_str().unwrap());
        let named = Named::new(case["with"].as_object().cloned().unwrap_or_default());
        let expr = named.bind(text).unwrap_or_else(|faults| panic!("{file} {name}: {text}: {faults:?}"));
        match (expr.eval(&&named), case.get("value")) {
            (Ok(value), Some(expected)) => assert_eq!(value.to_string(), expected.to_string(), "{file} {name}: {text}"),
            (Err(failure), None) => assert_eq!(failure.kind, case["error"], "{file} {name}: {text}"),
            (found, expected) => panic!("{file} {name}: {text} gave {found:?}, expected {expected:?}"),
        }
        let kind = case["error"].as_str();
        assert!(kind.is_none_or(|kind| KINDS.contains(&kind)), "{file} {name}");
    }
}

#[test]
fn every_case_prints_as_a_text_that_reads_back_the_same() {
    for (file, case) in cases(|file| file != "refused") {
        let ast = parse(case["expr"].as_str().unwrap(), Hyphens::Refused).unwrap();
        let text = ast.to_string();
        for hyphens in [Hyphens::Refused, Hyphens::InNames] {
            let again = parse(&text, hyphens).unwrap_or_else(|faults| panic!("{file}: {text}: {faults:?}"));
            assert_eq!(again, ast, "{file}: {text}");
        }
        assert_eq!(parse(&text, Hyphens::Refused).unwrap().to_string(), text);
    }
}

#[test]
fn what_is_outside_the_subset_is_refused_with_a_message() {
    let cases = cases(|file| file == "refused");
    assert!(cases.len() > 150, "{}", cases.len());
    for (_, case) in &cases {
        let text = case["expr"].as_str().unwrap();
        let faults = parse(text, Hyphens::Refused).expect_err(text);
        let first = &faults[0];
        assert_eq!(
            (first.code, &*first.message),
            (case["code"].as_str().unwrap(), case["message"].as_str().unwrap()),
            "{text}"
        );
        assert!(
            faults.iter().all(|f| text.get(f.span.from as usize..f.span.to as usize).is_some()),
            "{text}: {faults:?}"
        );
    }
}
