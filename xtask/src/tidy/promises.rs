//! A promise names the test that checks it, a test of that name exists, and no promise goes away.

use super::Complaint;
use crate::tree::Tree;
use std::collections::BTreeSet;

const PROMISES: &str = "PROMISES.md";
/// The promises that were made first have these numbers for ever.
const GIVEN: std::ops::RangeInclusive<u32> = 1..=17;

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

/// Every row of the table of promises names a test, and the first promises are all there.
pub fn each_has_a_test(tree: &Tree) -> Vec<Complaint> {
    let Some(text) = tree.file(PROMISES) else { return Vec::new() };
    let rows = || text.lines().zip(1..).filter_map(|(line, at)| Some((number(line)?, line, at)));
    let missing = GIVEN.filter(|wanted| !rows().any(|(number, ..)| number == wanted.to_string()));
    let mut found: Vec<Complaint> =
        missing.map(|number| Complaint::new(PROMISES, format!("promise {number} is gone"))).collect();
    for (number, line, at) in rows() {
        let checked_by = line.trim_end().trim_end_matches('|').rsplit('|').next().unwrap_or("");
        if !checked_by.split('`').skip(1).step_by(2).any(reads_like_a_test) {
            found.push(Complaint::at(PROMISES, at, format!("promise {number} names no test")));
        }
    }
    found
}

/// The number of a promise, if a line is its row: digits, and a letter for one that came between.
fn number(line: &str) -> Option<&str> {
    let number = line.strip_prefix("| ")?.split(" |").next()?;
    let digits = number.trim_end_matches(|c: char| c.is_ascii_lowercase());
    (digits.parse::<u32>().is_ok() && number.len() <= digits.len() + 1).then_some(number)
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

    /// All promises that must be there, with what one of them is checked by.
    fn table(odd: u32, checked_by: &str) -> String {
        let row = |n| format!("| {n} | kept | lost: 0 | {} |\n", if n == odd { checked_by } else { "`it_is_kept_so`" });
        format!("| # | promise | in numbers | checked by |\n|---|---|---|---|\n{}", GIVEN.map(row).collect::<String>())
    }

    #[test]
    fn a_promise_that_names_no_test_or_is_gone_is_told() {
        let good = table(3, "`it_is_kept_so`, and by every storm") + "| 14a | more | - | `that_is_kept_too` |\n";
        let check = |bad: &str, expected| {
            crate::tidy::check(each_has_a_test, &[(PROMISES, &good)], &[(PROMISES, bad)], expected);
        };
        check(&table(3, "people"), "PROMISES.md:5: promise 3 names no test");
        check(&table(5, "`cargo xtask sim`"), "PROMISES.md:7: promise 5 names no test");
        check(&good.replace("`that_is_kept_too`", "-"), "promise 14a names no test");
        check(&table(0, "").replace("| 17 |", "| x |"), "promise 17 is gone");
    }
}
