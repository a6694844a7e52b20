//! `cargo xtask tidy`: the rules that no compiler checks, so that they hold without anybody remembering them.
//!
//! A rule is a pure function from the tree of files to complaints. Each has a test that breaks it once.

mod architecture;
mod direction;
mod fold_files;
mod planted;
mod promises;
mod purity;
mod size;
mod sql;
mod unfinished;
mod wording;

use crate::tree::Tree;
use std::fmt;
use std::path::Path;

/// What is wrong, where, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    path: String,
    line: Option<usize>,
    text: String,
}

impl Complaint {
    fn new(path: &str, text: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line: None, text: text.into() }
    }

    fn at(path: &str, line: usize, text: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line: Some(line), text: text.into() }
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.path, self.text),
            None => write!(f, "{}: {}", self.path, self.text),
        }
    }
}

type Rule = fn(&Tree) -> Vec<Complaint>;

const RULES: &[(&str, Rule)] = &[
    ("paths in ARCHITECTURE.md exist", architecture::paths_exist),
    ("crates depend in one direction", direction::check),
    ("the core does no I/O", purity::core_is_pure),
    ("tests do not sleep", purity::tests_do_not_sleep),
    ("no unsafe code", unfinished::no_unsafe),
    ("nothing is unfinished", unfinished::nothing_is_left),
    ("x.rs beside x/, no mod.rs", unfinished::no_mod_rs),
    ("one word per concept", wording::check),
    ("files stay readable", size::too_large),
    ("one statement per SQL file", sql::one_statement),
    ("one fold file per event", fold_files::check),
    ("tests in PROMISES.md exist", promises::tests_exist),
    ("each promise has a test", promises::each_has_a_test),
    ("planted bugs have a place", planted::in_place),
];

/// Checks the project; prints every complaint, and the files that grow large.
pub fn run(root: &Path) -> bool {
    let tree = match Tree::read(root) {
        Ok(tree) => tree,
        Err(error) => {
            eprintln!("error: {} could not be read: {error}", root.display());
            return false;
        }
    };
    let mut count = 0;
    for (name, rule) in RULES {
        for complaint in rule(&tree) {
            println!("{complaint} [{name}]");
            count += 1;
        }
    }
    for (path, lines) in size::large(&tree) {
        println!("note: {path} has {lines} lines (most have under {})", size::COMFORTABLE);
    }
    if count > 0 {
        println!("tidy: {count} complaints");
    }
    count == 0
}

/// The complaints of a rule over a fake tree, as text.
#[cfg(test)]
fn complaints(rule: Rule, files: &[(&str, &str)]) -> Vec<String> {
    rule(&Tree::fake(files)).iter().map(ToString::to_string).collect()
}

/// Asserts that a rule has nothing against the first tree and one complaint, with this in it, about the second.
#[cfg(test)]
fn check(rule: Rule, good: &[(&str, &str)], bad: &[(&str, &str)], expected: &str) {
    assert_eq!(complaints(rule, good), Vec::<String>::new());
    let found = complaints(rule, bad);
    assert!(found.len() == 1 && found[0].contains(expected), "expected {expected:?}, found {found:?}");
}
