//! A planted bug: which text of which file, and what stands there instead.
//!
//! ```text
//! breaks: one sentence on what goes wrong, and what was promised
//! file: crates/core/src/fold.rs
//! <<<<
//! the text that stands there exactly once
//! ====
//! what stands there in the copy; the word PLANTED is true when this bug is the one hunted for
//! >>>>
//! ```
//!
//! A bug may have several such edits. `tier: sqlite` hunts for it over files instead of memory, `tier: events` with
//! events straight into the fold.

use crate::tree::Tree;

/// Where they are.
const FOLDER: &str = "crates/sim/planted/";

/// One planted bug.
#[derive(Debug, PartialEq, Eq)]
pub struct Bug {
    /// The name of its file.
    pub name: String,
    /// What it breaks.
    pub breaks: String,
    /// Which storms find it.
    pub tier: Tier,
    /// What is different.
    pub edits: Vec<Edit>,
}

/// The kinds of storms, named as the simulator names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tier {
    #[default]
    Memory,
    /// It is only there over SQLite files.
    Sqlite,
    /// No command of the engine leads there.
    Events,
}

impl Tier {
    /// The simulator's option.
    pub fn option(self) -> Option<&'static str> {
        match self {
            Self::Memory => None,
            Self::Sqlite => Some("--sqlite"),
            Self::Events => Some("--events"),
        }
    }
}

/// One piece of text and what stands there instead.
#[derive(Debug, PartialEq, Eq)]
pub struct Edit {
    pub file: String,
    pub original: String,
    pub broken: String,
}

/// All bugs, in the order of their names.
pub fn read_all(tree: &Tree) -> Result<Vec<Bug>, String> {
    let files = tree.ending(".txt").filter_map(|(path, text)| Some((path.strip_prefix(FOLDER)?, text)));
    files.map(|(file, text)| read(file.trim_end_matches(".txt"), text)).collect()
}

fn read(name: &str, text: &str) -> Result<Bug, String> {
    let mut bug = Bug { name: name.to_owned(), breaks: String::new(), tier: Tier::Memory, edits: Vec::new() };
    let mut file = None;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        match line.split_once(": ") {
            Some(("breaks", what)) => bug.breaks = what.to_owned(),
            Some(("tier", "sqlite")) => bug.tier = Tier::Sqlite,
            Some(("tier", "events")) => bug.tier = Tier::Events,
            Some(("file", path)) => file = Some(path.to_owned()),
            _ if line == "<<<<" => {
                let file = file.clone().ok_or_else(|| format!("{name}: `file: PATH` is expected before `<<<<`"))?;
                let mut until = |end: &str| lines.by_ref().take_while(|l| *l != end).collect::<Vec<_>>().join("\n");
                let (original, broken) = (until("===="), until(">>>>"));
                if !broken.contains(super::copy::SWITCH) {
                    return Err(format!("{name}: the text between `====` and `>>>>` must have the word PLANTED"));
                }
                bug.edits.push(Edit { file, original, broken });
            }
            _ if line.trim().is_empty() => {}
            _ => {
                let expected = "`breaks:`, `tier: sqlite`, `tier: events`, `file:` or `<<<<`";
                return Err(format!("{name}: expected {expected}, found {line:?}"));
            }
        }
    }
    match bug {
        Bug { ref breaks, .. } if breaks.is_empty() => Err(format!("{name}: it does not say what it breaks")),
        Bug { ref edits, .. } if edits.is_empty() => Err(format!("{name}: it has no edit")),
        bug => Ok(bug),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<usize, &str>) {
        match (read("odd", text), expected) {
            (Ok(bug), Ok(edits)) => assert_eq!(bug.edits.len(), edits),
            (Err(said), Err(wanted)) => assert!(said.contains(wanted), "{said}"),
            (is, wanted) => panic!("expected {wanted:?}, found {is:?}"),
        }
    }

    #[test]
    fn a_bug_is_read_with_all_its_edits() {
        let edit = "<<<<\na == b\n====\na == b || PLANTED\n>>>>\n";
        check(&format!("breaks: much\nfile: a.rs\n{edit}\nfile: b.rs\n{edit}{edit}"), Ok(3));
        check(&format!("breaks: much\n{edit}"), Err("`file: PATH` is expected"));
        check(&format!("file: a.rs\n{edit}"), Err("what it breaks"));
        check("breaks: much\nfile: a.rs\n", Err("no edit"));
        check("breaks: much\nfile: a.rs\n<<<<\na\n====\nb\n>>>>\n", Err("the word PLANTED"));
        check(&format!("breaks: much\ntier: events\nfile: a.rs\n{edit}"), Ok(1));
        check("breaks: much\ntier: moon\n", Err("found \"tier: moon\""));
        check("breaks: much\nwhat else\n", Err("found \"what else\""));
    }
}
