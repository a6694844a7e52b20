//! A promise names the test that checks it, and a test of that name exists.

use super::Complaint;
use crate::tree::Tree;
use std::collections::BTreeSet;

const PROMISES: &str = "PROMISES.md";

/// Every name in PROMISES.md that reads like a test's is a function somewhere.
pub fn tests_exist(tree: &Tree) -> Vec<Complaint> {
    let Some(text) = tree.file(PROMISES) else { return Vec::new() };
    let functions: BTreeSet<&str> = tree.rust().flat_map(|(_, text)| functions(text)).collect();
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for name in line.split('`').skip(1).step_by(2).filter(|name| reads_like_a_test(name)) {
            if !functions.contains(name) {
                found.push(Complaint::at(PROMISES, number + 1, format!("there is no test `{name}`")));
            }
        }
    }
    found
}

/// A sentence: at least four words, joined by underscores.
fn reads_like_a_test(name: &str) -> bool {
    name.split('_').count() >= 4 && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

fn functions(text: &str) -> impl Iterator<Item = &str> {
    text.split("fn ")
        .skip(1)
        .map(|rest| rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or(""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_promise_whose_test_is_gone_is_named() {
        let promise = (PROMISES, "| 1 | kept | `what_is_kept_is_kept` by `max_attempts` |\n");
        crate::tidy::check(
            tests_exist,
            &[promise, ("crates/a/tests/t.rs", "#[test]\nfn what_is_kept_is_kept() {}\n")],
            &[promise, ("crates/a/tests/t.rs", "#[test]\nfn something_else() {}\n")],
            "PROMISES.md:1: there is no test `what_is_kept_is_kept`",
        );
    }
}
