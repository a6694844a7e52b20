//! One word per concept: the words that GLOSSARY.md tells us not to use are not used.
//!
//! The list is the glossary's own table, so that the rule and its check are one thing. A name on the wire
//! (`rename = "…"`) is somebody else's word and passes.

use super::Complaint;
use crate::source::whole_words;
use crate::tree::Tree;

const GLOSSARY: &str = "GLOSSARY.md";
const HEADING: &str = "## Words we do not use";

/// No forbidden word in code, comments, SQL or documents.
pub fn check(tree: &Tree) -> Vec<Complaint> {
    let Some(forbidden) = tree.file(GLOSSARY).map(forbidden) else {
        return vec![Complaint::new(GLOSSARY, "is missing: write down what the words mean")];
    };
    if forbidden.is_empty() {
        return vec![Complaint::new(GLOSSARY, format!("has no table under `{HEADING}`"))];
    }
    let mut found = Vec::new();
    for (path, text) in [".rs", ".sql", ".md"].iter().flat_map(|end| tree.ending(end)) {
        if path == GLOSSARY {
            continue;
        }
        for (number, line) in text.lines().enumerate() {
            if line.trim_start().starts_with("#[serde(") && line.contains("rename = ") {
                continue;
            }
            let line = line.to_lowercase().replace('_', " ");
            for (word, instead) in &forbidden {
                let plural = format!("{word}s");
                if [word, &plural].iter().any(|word| whole_words(&line, word).next().is_some()) {
                    found.push(Complaint::at(path, number + 1, format!("\"{word}\": say {instead} (see {GLOSSARY})")));
                }
            }
        }
    }
    found
}

/// The rows `| word | say instead |` of the glossary's table.
fn forbidden(glossary: &str) -> Vec<(String, String)> {
    let Some((_, section)) = glossary.split_once(HEADING) else { return Vec::new() };
    let rows = section.lines().skip(1).take_while(|line| !line.starts_with("## "));
    let cells = rows.filter_map(|line| line.strip_prefix('|')).map(|line| line.split('|').map(str::trim));
    cells
        .filter_map(|mut cells| Some((cells.next()?.to_lowercase(), cells.next()?.to_owned())))
        .filter(|(word, _)| !word.starts_with('-') && word != "not")
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: &str = "# Words\n\n## Words we do not use\n\n| not | say |\n|---|---|\n| gizmo | task |\n";

    #[test]
    fn a_forbidden_word_is_named_with_the_right_one() {
        crate::tidy::check(
            check,
            &[(GLOSSARY, WORDS), ("a.rs", "/// A task, gizmology.\n    #[serde(rename = \"gizmo\")]")],
            &[(GLOSSARY, WORDS), ("a.rs", "fn old_gizmos() {}")],
            "a.rs:1: \"gizmo\": say task",
        );
    }

    #[test]
    fn a_glossary_without_its_table_is_a_complaint() {
        assert_eq!(check(&Tree::fake(&[(GLOSSARY, "# Words")])).len(), 1);
        assert_eq!(check(&Tree::fake(&[])).len(), 1);
    }
}
