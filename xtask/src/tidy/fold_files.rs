//! One event, one fold file: you find what an event does by reading a directory.

use super::Complaint;
use crate::source::Source;
use crate::tree::Tree;

const EVENTS: &str = "crates/core/src/event.rs";
const FOLD: &str = "crates/core/src/fold/";
/// Folds to nothing by its nature.
const NOTHING: &str = "Unknown";

/// Every event has its file in the fold.
pub fn check(tree: &Tree) -> Vec<Complaint> {
    let Some(text) = tree.file(EVENTS).filter(|_| tree.has(FOLD)) else { return Vec::new() };
    let source = Source::new(EVENTS, text);
    let mut found = Vec::new();
    for (at, variant) in variants(&source.code, "pub enum Event {") {
        let path = format!("{FOLD}{}.rs", snake(variant));
        if variant != NOTHING && !tree.has(&path) {
            found.push(Complaint::at(EVENTS, source.line(at), format!("`{variant}` has no fold file: write {path}")));
        }
    }
    found
}

/// The variants of an enum whose variants hold at most one thing each.
fn variants<'a>(code: &'a str, head: &str) -> Vec<(usize, &'a str)> {
    let Some(start) = code.find(head).map(|at| at + head.len()) else { return Vec::new() };
    let end = code[start..].find('}').map_or(code.len(), |at| start + at);
    let mut found = Vec::new();
    let mut at = start;
    for line in code[start..end].split_inclusive('\n') {
        let name = line.trim_start();
        let length = name.find(|c: char| !c.is_alphanumeric()).unwrap_or(name.len());
        if name.starts_with(|c: char| c.is_uppercase()) {
            found.push((at, &name[..length]));
        }
        at += line.len();
    }
    found
}

fn snake(name: &str) -> String {
    let mut text = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.extend(c.to_lowercase());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENUM: &str = "/// Facts.\npub enum Event {\n    /// Wanted.\n    RunTriggered(RunTriggered),\n    \
                        #[serde(skip)]\n    Unknown(Box<str>),\n}\n";

    #[test]
    fn an_event_without_a_fold_file_is_named() {
        crate::tidy::check(
            check,
            &[(EVENTS, ENUM), ("crates/core/src/fold/run_triggered.rs", "")],
            &[(EVENTS, ENUM), ("crates/core/src/fold/other.rs", "")],
            "crates/core/src/event.rs:4: `RunTriggered` has no fold file",
        );
    }

    #[test]
    fn without_a_fold_there_is_nothing_to_check() {
        assert_eq!(check(&Tree::fake(&[(EVENTS, ENUM)])), []);
    }
}
