//! The schema says just what the reader of flows knows; a small validator stands in for an editor.

use super::*;
use crate::flow::problem::Sink;
use crate::flow::scalar::literal;
use crate::flow::source::Source;
use crate::flow::tree;
use std::collections::BTreeSet;

/// What a value has wrong under a schema, by the few words that ours uses.
fn wrong(root: &Value, schema: &Value, value: &Value, at: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (word, rule) in schema.as_object().unwrap() {
        match word.as_str() {
            "$ref" => {
                let target = root.pointer(&rule.as_str().unwrap()[1..]).expect("every reference leads somewhere");
                found.extend(wrong(root, target, value, at));
            }
            "anyOf" => {
                let fits = |shape: &Value| wrong(root, shape, value, at).is_empty();
                if !rule.as_array().unwrap().iter().any(fits) {
                    found.push(format!("{at}: none of the shapes fits {value}"));
                }
            }
            "type" => {
                let types: Vec<&str> = match rule {
                    Value::Array(list) => list.iter().filter_map(Value::as_str).collect(),
                    one => one.as_str().into_iter().collect(),
                };
                if !types.iter().any(|kind| is(kind, value)) {
                    found.push(format!("{at}: {value} is no {types:?}"));
                }
            }
            "enum" if !rule.as_array().unwrap().contains(value) => found.push(format!("{at}: {value} is no such word")),
            "minimum" if value.as_f64().is_some_and(|n| n < rule.as_f64().unwrap()) => {
                found.push(format!("{at}: small"));
            }
            "maximum" if value.as_f64().is_some_and(|n| n > rule.as_f64().unwrap()) => {
                found.push(format!("{at}: large"));
            }
            "minLength" if value.as_str().is_some_and(|text| text.len() < rule.as_u64().unwrap() as usize) => {
                found.push(format!("{at}: short"));
            }
            "minItems" if value.as_array().is_some_and(Vec::is_empty) => found.push(format!("{at}: empty")),
            "minProperties" if value.as_object().is_some_and(Map::is_empty) => found.push(format!("{at}: empty")),
            "items" => {
                for (n, item) in value.as_array().into_iter().flatten().enumerate() {
                    found.extend(wrong(root, rule, item, &format!("{at}[{n}]")));
                }
            }
            "properties" | "additionalProperties" | "required" => found.extend(keys(root, schema, word, value, at)),
            _ => {}
        }
    }
    found
}

fn keys(root: &Value, schema: &Value, word: &str, value: &Value, at: &str) -> Vec<String> {
    let Some(map) = value.as_object() else { return Vec::new() };
    let known = schema.get("properties").and_then(Value::as_object);
    let mut found = Vec::new();
    match (word, &schema[word]) {
        ("required", rule) => {
            let missing = rule.as_array().unwrap().iter().filter(|key| !map.contains_key(key.as_str().unwrap()));
            found.extend(missing.map(|key| format!("{at}: {key} is missing")));
        }
        ("properties", rule) => {
            for (key, shape) in rule.as_object().unwrap() {
                found.extend(map.get(key).into_iter().flat_map(|v| wrong(root, shape, v, &format!("{at}.{key}"))));
            }
        }
        (_, rule) => {
            for (key, value) in map.iter().filter(|(key, _)| known.is_none_or(|known| !known.contains_key(*key))) {
                match rule {
                    Value::Bool(false) => found.push(format!("{at}: no key {key}")),
                    shape => found.extend(wrong(root, shape, value, &format!("{at}.{key}"))),
                }
            }
        }
    }
    found
}

fn is(kind: &str, value: &Value) -> bool {
    match kind {
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        other => panic!("our schema does not use {other}"),
    }
}

fn value(yaml: &str) -> Value {
    let source = Source::new(yaml);
    let mut sink = Sink::new(&source);
    let root = tree::read(yaml, &mut sink).unwrap();
    literal(&root, &mut sink)
}

fn check(yaml: &str) -> Vec<String> {
    wrong(&schema(), &schema(), &value(yaml), "flow")
}

#[test]
fn every_key_that_is_read_is_in_the_schema_and_no_other() {
    for (name, keys, shapes) in LEVELS.into_iter().chain(cases::LEVELS) {
        let known: BTreeSet<&str> = keys.known.iter().copied().collect();
        let said: BTreeSet<&str> = shapes().iter().map(|(key, _)| *key).collect();
        assert_eq!(said, known, "{name}");
        for (key, shape) in shapes() {
            assert!(shape["description"].is_string(), "{name}.{key} says what it is for");
        }
    }
}

#[test]
fn every_example_fits_the_schema() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        if file.ends_with(".yaml") && !file.ends_with(".test.yaml") {
            assert_eq!(check(&std::fs::read_to_string(&path).unwrap()), [""; 0], "{file}");
            count += 1;
        }
    }
    assert!(count >= 7, "only {count} examples were read");
    assert_eq!(check(include_str!("../../../tests/golden/everything.yaml")), [""; 0]);
    assert_eq!(check(include_str!("../../../tests/golden/everything-else.yaml")), [""; 0]);
}

#[test]
fn the_cases_of_every_example_fit_their_schema() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let check = |yaml: &str| wrong(&case_schema(), &case_schema(), &value(yaml), "file");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.to_string_lossy().ends_with(".test.yaml") {
            assert_eq!(check(&std::fs::read_to_string(&path).unwrap()), [""; 0], "{}", path.display());
            count += 1;
        }
    }
    assert!(count >= 7, "only {count} files of cases were read");
    for (yaml, told) in [
        ("flow: f", "\"cases\" is missing"),
        ("cases: { a: { expct: {} } }", "none of the shapes"),
        ("cases: { a: { expect: { state: done } } }", "none of the shapes"),
        ("stubs: { a: [] }\ncases: {}", "none of the shapes"),
        ("stubs: { a: { fails: { message: x } } }\ncases: {}", "none of the shapes"),
    ] {
        assert!(check(yaml).iter().any(|line| line.contains(told)), "{yaml}: {:?}", check(yaml));
    }
}

#[test]
fn what_is_refused_does_not_fit() {
    for (yaml, told) in [
        ("flow: f", "\"tasks\" is missing"),
        ("flow: f\ntasks: {}", "empty"),
        ("flow: f\ncolor: red\ntasks: { a: { run: x } }", "no key color"),
        ("flow: f\ntasks: { a: { rnu: x } }", "no key rnu"),
        ("flow: f\ntasks: { a: { run: 1 } }", "is no"),
        ("flow: f\ntasks: { a: { run: x, retry: 0 } }", "none of the shapes"),
        ("flow: f\ntasks: { a: { run: x, after: { b: success } } }", "none of the shapes"),
        ("flow: f\ntasks: { a: { gate: { aproval: {} } } }", "no key aproval"),
        ("flow: f\non_failure: stop\ntasks: { a: { run: x } }", "no such word"),
    ] {
        assert!(check(yaml).iter().any(|line| line.contains(told)), "{yaml}: {:?}", check(yaml));
    }
}
