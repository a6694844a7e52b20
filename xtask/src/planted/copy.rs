//! The copy of the sources with every bug in it, each behind a switch that the environment turns on.

use super::bug::{Bug, Edit};
use crate::tree::Tree;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The word that stands for the switch.
pub const SWITCH: &str = "PLANTED";
/// The variable with the name of the bug that is turned on.
pub const VARIABLE: &str = "EDGEWISE_PLANTED";
/// What the copy needs to be built.
const COPIED: [&str; 6] = ["crates/", "fuzz/", "xtask/", "Cargo.toml", "Cargo.lock", ".cargo/"];
/// The crate that all others see has the switch.
const HOME: &str = "crates/core/src/";

/// Paths and texts of the copy.
pub fn planted(tree: &Tree, bugs: &[Bug]) -> Result<BTreeMap<String, String>, String> {
    let mut edits: BTreeMap<&str, Vec<(&Bug, &Edit)>> = BTreeMap::new();
    for (bug, edit) in bugs.iter().flat_map(|bug| bug.edits.iter().map(move |edit| (bug, edit))) {
        edits.entry(&edit.file).or_default().push((bug, edit));
    }
    for (file, edits) in &edits {
        if tree.file(file).is_none() {
            return Err(format!("{}: there is no file {file}", edits[0].0.name));
        }
    }
    let wanted = |path: &str| COPIED.iter().any(|c| path.starts_with(c)) && !path.starts_with("fuzz/corpus/");
    let mut copy = BTreeMap::new();
    for (path, text) in tree.ending("").filter(|(path, _)| wanted(path) && !path.ends_with('/')) {
        let mut text = match edits.get(path) {
            Some(edits) => apply(path, text, edits)?,
            None => text.to_owned(),
        };
        if path == format!("{HOME}lib.rs") {
            text += "\npub mod planted;\n";
        }
        copy.insert(path.to_owned(), text);
    }
    copy.insert(format!("{HOME}planted.rs"), switch());
    Ok(copy)
}

/// The module that reads the switch, once.
fn switch() -> String {
    format!(
        "//! Which planted bug is turned on.\n\n\
         static WHICH: std::sync::LazyLock<String> =\n    \
         std::sync::LazyLock::new(|| std::env::var({VARIABLE:?}).unwrap_or_default());\n\n\
         /// Whether it is this one.\npub fn is(name: &str) -> bool {{\n    *WHICH == name\n}}\n"
    )
}

/// Applies all edits of a file. Each is looked for in the text as it was, so that none depends on another.
fn apply(path: &str, text: &str, edits: &[(&Bug, &Edit)]) -> Result<String, String> {
    let mut places = Vec::new();
    for (bug, edit) in edits {
        let found: Vec<usize> = text.match_indices(&edit.original).map(|(at, _)| at).collect();
        let [at] = found[..] else {
            let (name, times, original) = (&bug.name, found.len(), &edit.original);
            return Err(format!("{path}: the text of bug {name} stands there {times} times, not once:\n{original}"));
        };
        let root = if path.starts_with(HOME) { "crate" } else { "edgewise_core" };
        let broken = edit.broken.replace(SWITCH, &format!("{root}::planted::is({:?})", bug.name));
        places.push((at, at + edit.original.len(), broken, &bug.name));
    }
    places.sort();
    let mut done = String::with_capacity(text.len());
    let mut end = 0;
    for (from, to, broken, name) in places {
        if from < end {
            return Err(format!("{path}: the text of bug {name} overlaps with that of another bug: choose less of it"));
        }
        done += &text[end..from];
        done += &broken;
        end = to;
    }
    Ok(done + &text[end..])
}

/// Writes what is different, so that only that is built again.
pub fn write(folder: &Path, copy: &BTreeMap<String, String>) -> Result<(), String> {
    for (path, text) in copy {
        let path = folder.join(path);
        if fs::read_to_string(&path).is_ok_and(|is| is == *text) {
            continue;
        }
        let parent = path.parent().unwrap_or(folder);
        let written = fs::create_dir_all(parent).and_then(|()| fs::write(&path, text));
        written.map_err(|e| format!("{}: {e}", path.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::bug::Tier;
    use super::*;

    fn bug(name: &str, file: &str, original: &str, broken: &str) -> Bug {
        let edit = Edit { file: file.into(), original: original.into(), broken: broken.into() };
        Bug { name: name.into(), breaks: "much".into(), tier: Tier::Memory, edits: vec![edit] }
    }

    fn check(bugs: &[Bug], expected: Result<&str, &str>) {
        let lib = (format!("{HOME}lib.rs"), "//! A crate.\n");
        let tree = Tree::fake(&[("crates/a.rs", "one two three two"), (&lib.0, lib.1), ("README.md", "no code")]);
        match (planted(&tree, bugs), expected) {
            (Ok(copy), Ok(text)) => {
                assert_eq!(copy["crates/a.rs"], text);
                assert!(copy[&lib.0].contains("pub mod planted;") && !copy.contains_key("README.md"));
            }
            (Err(said), Err(wanted)) => assert!(said.contains(wanted), "{said}"),
            (is, wanted) => panic!("expected {wanted:?}, found {is:?}"),
        }
    }

    #[test]
    fn every_bug_stands_behind_its_own_switch() {
        let bugs = [bug("b", "crates/a.rs", "three", "3 PLANTED"), bug("c", "crates/a.rs", "one", "PLANTED 1")];
        check(&bugs, Ok(r#"edgewise_core::planted::is("c") 1 two 3 edgewise_core::planted::is("b") two"#));
        check(&[], Ok("one two three two"));
    }

    #[test]
    fn a_text_that_does_not_stand_there_exactly_once_is_named() {
        check(&[bug("gone", "crates/a.rs", "four", "PLANTED")], Err("bug gone stands there 0 times"));
        check(
            &[bug("often", "crates/a.rs", "two", "PLANTED")],
            Err("crates/a.rs: the text of bug often stands there 2"),
        );
        check(&[bug("lost", "crates/b.rs", "two", "PLANTED")], Err("lost: there is no file crates/b.rs"));
        let both = [bug("x", "crates/a.rs", "one two", "PLANTED"), bug("y", "crates/a.rs", "two three", "PLANTED")];
        check(&both, Err("bug y overlaps"));
    }
}
