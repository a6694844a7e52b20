//! Files stay readable. One that grows past the limit wants a second noun, or a reason in the list.

use super::Complaint;
use crate::tree::Tree;

/// Most files are shorter than this; longer ones are named.
pub const COMFORTABLE: usize = 400;
/// Longer ones are refused.
const LIMIT: usize = 600;
/// Files that are better whole, each with its reason.
const ALLOWED: &[(&str, &str)] = &[];

/// Files over the comfortable size, with their lines.
pub fn large(tree: &Tree) -> Vec<(&str, usize)> {
    tree.rust().map(|(path, text)| (path, text.lines().count())).filter(|(_, lines)| *lines > COMFORTABLE).collect()
}

/// Files over the limit that nobody gave a reason for.
pub fn too_large(tree: &Tree) -> Vec<Complaint> {
    let over = large(tree).into_iter().filter(|(path, lines)| *lines > LIMIT && !allowed(path));
    over.map(|(path, lines)| {
        Complaint::new(path, format!("has {lines} lines, the limit is {LIMIT}: look for the second noun in it"))
    })
    .collect()
}

fn allowed(path: &str) -> bool {
    ALLOWED.iter().any(|(listed, _)| *listed == path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_file_is_named_and_a_very_long_one_refused() {
        let (long, very_long) = ("\n".repeat(500), "\n".repeat(601));
        crate::tidy::check(too_large, &[("a.rs", &long)], &[("a.rs", &very_long)], "has 601 lines");
        assert_eq!(large(&Tree::fake(&[("a.rs", &long), ("b.rs", "")])), [("a.rs", 500)]);
    }

    #[test]
    fn the_list_has_a_reason_for_each() {
        assert!(ALLOWED.iter().all(|(path, reason)| !path.is_empty() && reason.len() > 10));
    }
}
