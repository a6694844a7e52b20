//! The core reads no clock, draws no number and touches nothing outside; and no test waits for real time.

use super::Complaint;
use crate::source::Source;
use crate::tree::Tree;

/// Words that have no business in the core, and why.
const WORDS: [(&str, &str); 6] = [
    ("Instant", "time comes in with the event"),
    ("SystemTime", "time comes in with the event"),
    ("HashMap", "its order differs from run to run: use a BTreeMap or a vector"),
    ("HashSet", "its order differs from run to run: use a BTreeSet or a vector"),
    ("rand", "chance comes in from whoever commits"),
    ("getrandom", "chance comes in from whoever commits"),
];

/// Modules of std that reach outside.
const OUTSIDE: [&str; 5] = ["fs", "net", "thread", "env", "process"];

/// Nothing in the core, outside its tests, can make one fold differ from another.
pub fn core_is_pure(tree: &Tree) -> Vec<Complaint> {
    let mut found = Vec::new();
    for (path, text) in tree.rust().filter(|(path, _)| path.starts_with("crates/core/src/")) {
        let source = Source::new(path, text);
        let mut complain = |at: usize, text: String| {
            if !source.in_test(at) {
                found.push(Complaint::at(path, source.line(at), text));
            }
        };
        for (word, why) in WORDS {
            source.words(word).for_each(|at| complain(at, format!("`{word}` in the core: {why}")));
        }
        for module in OUTSIDE {
            let why = || format!("`std::{module}` in the core: it does no I/O, pass the result in");
            source.uses("std", module).into_iter().for_each(|at| complain(at, why()));
        }
    }
    found
}

/// No test sleeps: it waits for what it expects, or moves a clock of its own.
pub fn tests_do_not_sleep(tree: &Tree) -> Vec<Complaint> {
    let mut found = Vec::new();
    for (path, text) in tree.rust() {
        let source = Source::new(path, text);
        let sleeps = [("thread", "sleep"), ("time", "sleep"), ("time", "sleep_until")];
        for at in sleeps.iter().flat_map(|(module, name)| source.uses(module, name)) {
            if source.in_test(at) {
                let text = "a test sleeps: wait for the event itself, or pass a clock in";
                found.push(Complaint::at(path, source.line(at), text));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::check;

    #[test]
    fn the_core_may_not_reach_outside() {
        for (bad, expected) in [
            ("use std::time::Instant;", "`Instant`"),
            ("use std::time::SystemTime;", "`SystemTime`"),
            ("use std::collections::HashMap;", "`HashMap`"),
            ("fn f() { std::collections::HashSet::<u8>::new(); }", "`HashSet`"),
            ("fn f() -> u8 { rand::random() }", "`rand`"),
            ("fn f() { getrandom::fill(x) }", "`getrandom`"),
            ("use std::{fmt, fs};", "`std::fs`"),
            ("fn f() { std::process::exit(1) }", "`std::process`"),
        ] {
            let good = "//! Not an Instant, no HashMap.\nuse std::time::Duration;\nconst A: &str = \"rand\";";
            check(core_is_pure, &[("crates/core/src/a.rs", good)], &[("crates/core/src/a.rs", bad)], expected);
        }
    }

    #[test]
    fn tests_of_the_core_and_other_crates_may() {
        let text = "use std::fs;";
        let in_test = "#[cfg(test)]\nmod tests { use std::fs; }";
        assert_eq!(
            core_is_pure(&Tree::fake(&[("crates/store/src/a.rs", text), ("crates/core/src/a.rs", in_test)])),
            []
        );
    }

    #[test]
    fn a_test_that_sleeps_is_found() {
        for bad in [
            "#[cfg(test)]\nmod tests { fn a() { std::thread::sleep(x) } }",
            "#[cfg(test)]\nmod tests { use tokio::time::{Duration, sleep}; }",
        ] {
            let good = "fn a() { std::thread::sleep(x) }";
            check(tests_do_not_sleep, &[("crates/engine/src/a.rs", good)], &[("crates/engine/src/a.rs", bad)], ":2:");
        }
        check(tests_do_not_sleep, &[], &[("crates/cli/tests/a.rs", "fn a() { thread::sleep(x) }")], "a test sleeps");
    }
}
