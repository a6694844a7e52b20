//! Crates depend in one direction, so that the rules never learn about the disk and nobody about the terminal.

use super::Complaint;
use crate::tree::Tree;

/// Who may see whom. A crate that does not exist yet has its row already.
const SEES: &[(&str, &[&str])] = &[
    ("core", &[]),
    ("store", &["core"]),
    ("engine", &["core", "store"]),
    ("client", &["core"]),
    ("server", &["core", "store", "engine", "client"]),
    ("cli", &["core", "store", "engine", "server", "client"]),
    ("sim", &["core", "store", "engine", "server", "client", "cli"]),
    ("xtask", &[]),
    ("fuzz", &["core", "store", "engine", "server", "client", "cli"]),
];

/// Every crate is in the table and sees no more than the table allows.
pub fn check(tree: &Tree) -> Vec<Complaint> {
    let mut found = Vec::new();
    for (path, text) in tree.ending("/Cargo.toml") {
        let Some(name) = path.strip_suffix("/Cargo.toml") else { continue };
        // The chores see nobody at all: they must build before the code does.
        let name = name.strip_prefix("crates/").unwrap_or(name);
        let Some((_, sees)) = SEES.iter().find(|(row, _)| *row == name) else {
            found
                .push(Complaint::new(path, format!("`{name}` has no row in the table of xtask/src/tidy/direction.rs")));
            continue;
        };
        for (line, other) in siblings(text) {
            if !sees.contains(&other) {
                found.push(Complaint::at(
                    path,
                    line,
                    format!("`{name}` may not depend on `{other}`: it sees {sees:?}"),
                ));
            }
        }
    }
    found
}

/// The crates of ours that a manifest depends on, with their lines.
fn siblings(manifest: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut in_dependencies = false;
    for (number, line) in manifest.lines().enumerate() {
        let line = line.trim();
        if let Some(section) = line.strip_prefix('[') {
            let section = section.trim_end_matches(']');
            in_dependencies = section.ends_with("dependencies");
            if let Some((_, name)) = section.split_once("dependencies.edgewise-") {
                found.push((number + 1, name));
            }
        } else if in_dependencies && let Some(rest) = line.strip_prefix("edgewise-") {
            let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
            found.push((number + 1, &rest[..end]));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_that_looks_upwards_is_refused() {
        crate::tidy::check(
            check,
            &[("crates/store/Cargo.toml", "[dependencies]\nedgewise-core.workspace = true")],
            &[("crates/store/Cargo.toml", "[dependencies]\nedgewise-engine.workspace = true")],
            "crates/store/Cargo.toml:2: `store` may not depend on `engine`",
        );
    }

    #[test]
    fn tests_and_long_forms_count_as_well() {
        for manifest in [
            "[dev-dependencies]\nedgewise-store = { path = \"../store\" }",
            "[dependencies.edgewise-store]\npath = \"../store\"",
            "[target.'cfg(unix)'.dependencies]\nedgewise-store.workspace = true",
        ] {
            assert_eq!(check(&Tree::fake(&[("crates/core/Cargo.toml", manifest)])).len(), 1, "{manifest}");
        }
    }

    #[test]
    fn whoever_is_not_shipped_is_looked_at_too_and_nobody_sees_them() {
        let sees = |path: &str, other: &str| {
            let manifest = format!("[dependencies]\nedgewise-{other}.workspace = true");
            check(&Tree::fake(&[(path, &manifest)])).is_empty()
        };
        assert!(sees("fuzz/Cargo.toml", "cli"));
        assert!(!sees("crates/cli/Cargo.toml", "fuzz") && !sees("xtask/Cargo.toml", "core"));
    }

    #[test]
    fn a_crate_without_a_row_is_a_complaint() {
        assert_eq!(check(&Tree::fake(&[("crates/extra/Cargo.toml", "")])).len(), 1);
    }
}
