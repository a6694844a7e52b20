//! What is merged is finished: no placeholders, no notes to ourselves, no way around the compiler.

use super::Complaint;
use crate::source::{Source, whole_words};
use crate::tree::Tree;

const MACROS: [&str; 3] = ["todo", "unimplemented", "dbg"];
/// In two halves, so that this file does not complain about itself.
const NOTES: [&str; 2] = [concat!("TO", "DO"), concat!("FIX", "ME")];
const NOTED: [&str; 5] = [".rs", ".sql", ".sh", ".yaml", ".toml"];

/// The compiler's checks are never switched off.
pub fn no_unsafe(tree: &Tree) -> Vec<Complaint> {
    let mut found = Vec::new();
    for (path, text) in tree.rust() {
        let source = Source::new(path, text);
        let word = concat!("un", "safe");
        found.extend(source.words(word).map(|at| {
            Complaint::at(path, source.line(at), format!("`{word}` is forbidden here: find a crate that wraps it"))
        }));
    }
    found
}

/// No placeholder macros, and no notes about what is still to be done.
pub fn nothing_is_left(tree: &Tree) -> Vec<Complaint> {
    let mut found = Vec::new();
    for (path, text) in tree.rust() {
        let source = Source::new(path, text);
        for name in MACROS {
            let placed = source.words(name).filter(|at| source.code[at + name.len()..].starts_with('!'));
            found.extend(placed.map(|at| Complaint::at(path, source.line(at), format!("`{name}!` is not for keeps"))));
        }
    }
    for (path, text) in NOTED.iter().flat_map(|end| tree.ending(end)) {
        for (number, line) in text.lines().enumerate() {
            if NOTES.iter().any(|note| whole_words(line, note).next().is_some()) {
                found.push(Complaint::at(path, number + 1, "do it now, or write an issue: notes in code are not read"));
            }
        }
    }
    found
}

/// A module lies in `x.rs` with its parts in `x/`, so that no two tabs of an editor have the same name.
pub fn no_mod_rs(tree: &Tree) -> Vec<Complaint> {
    let found = tree.ending("/mod.rs");
    found.map(|(path, _)| Complaint::new(path, "write `x.rs` beside `x/` instead")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::check;

    #[test]
    fn a_way_around_the_compiler_is_found() {
        let bad = concat!("fn f() { un", "safe { g() } }");
        check(no_unsafe, &[("a.rs", "#![forbid(unsafe_code)]")], &[("a.rs", bad)], "forbidden");
    }

    #[test]
    fn placeholders_and_notes_are_found() {
        let good = "//! A todo list.\nfn todo() {}\nfn f() { todo(); \"dbg!\"; }";
        for bad in ["fn f() { todo!() }", "fn f() { dbg!(1); }", concat!("// FIX", "ME: later")] {
            check(nothing_is_left, &[("a.rs", good)], &[("a.rs", bad)], "a.rs:1");
        }
        check(nothing_is_left, &[], &[("a.sql", concat!("-- TO", "DO"))], "a.sql:1");
    }

    #[test]
    fn a_mod_rs_is_found() {
        check(no_mod_rs, &[("src/a.rs", "")], &[("src/a/mod.rs", "")], "src/a/mod.rs");
    }
}
