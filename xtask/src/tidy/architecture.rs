//! A map that names places which are gone is worse than none: every path in ARCHITECTURE.md exists.

use super::Complaint;
use crate::tree::Tree;

const MAP: &str = "ARCHITECTURE.md";
const ENDINGS: [&str; 8] = [".rs", ".md", ".toml", ".sql", ".yaml", ".yml", ".sh", ".flow"];

/// Every path that stands in backticks exists.
pub fn paths_exist(tree: &Tree) -> Vec<Complaint> {
    let Some(text) = tree.file(MAP) else {
        return vec![Complaint::new(MAP, "is missing: write the map of the code")];
    };
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for path in line.split('`').skip(1).step_by(2).filter_map(path) {
            if !tree.has(path) {
                found.push(Complaint::at(
                    MAP,
                    number + 1,
                    format!("`{path}` does not exist: mend the path or the map"),
                ));
            }
        }
    }
    found
}

/// The path that a word in backticks names, if it names one of ours: not a route, not a pattern, not a user's file.
fn path(word: &str) -> Option<&str> {
    let odd = |c: char| c.is_whitespace() || "<>{}*()|:@$\"'".contains(c);
    let ours = !word.starts_with('/') && !word.starts_with(".edgewise") && !word.contains(odd);
    (ours && (word.contains('/') || ENDINGS.iter().any(|end| word.ends_with(end)))).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::check;

    #[test]
    fn a_path_that_is_gone_is_named_with_its_line() {
        let real = ("crates/core/src/lib.rs", "");
        check(
            paths_exist,
            &[(MAP, "See `crates/core` and `crates/core/src/lib.rs`."), real],
            &[(MAP, "\nSee `crates/core/src/gone.rs`."), real],
            "ARCHITECTURE.md:2: `crates/core/src/gone.rs` does not exist",
        );
    }

    #[test]
    fn what_is_no_path_of_ours_is_left_alone() {
        for word in ["fold", "core <- store", "/api/v1/runs", ".edgewise/ledger.db", "src/*.rs", "a::b/c", "ledger.db"]
        {
            assert_eq!(path(word), None, "{word}");
        }
        for word in ["README.md", "crates/core/", ".ci/run"] {
            assert_eq!(path(word), Some(word));
        }
    }

    #[test]
    fn a_missing_map_is_a_complaint() {
        assert_eq!(paths_exist(&Tree::fake(&[])).len(), 1);
    }
}
