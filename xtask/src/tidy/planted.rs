//! A planted bug names a text of the sources. Whoever changes that text hears of it here, not after an hour of tests.

use super::Complaint;
use crate::tree::Tree;

/// Every text that a planted bug replaces stands in its file exactly once.
pub fn in_place(tree: &Tree) -> Vec<Complaint> {
    crate::planted::in_place(tree).err().map(|why| Complaint::new("crates/sim/planted", why)).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use super::*;

    #[test]
    fn a_bug_whose_text_was_changed_is_named() {
        let bug = "breaks: Much.\nfile: crates/a.rs\n<<<<\none\n====\nPLANTED\n>>>>\n";
        let lib = ("crates/core/src/lib.rs", "//! A crate.\n");
        check(
            in_place,
            &[("crates/sim/planted/odd.txt", bug), ("crates/a.rs", "one two"), lib],
            &[("crates/sim/planted/odd.txt", bug), ("crates/a.rs", "two"), lib],
            "the text of bug odd stands there 0 times",
        );
    }
}
