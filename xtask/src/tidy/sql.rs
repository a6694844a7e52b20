//! One SQL file, one statement: so a statement has a name, a history and room for its measured numbers.

use super::Complaint;
use crate::tree::Tree;

/// Every SQL file holds exactly one statement.
pub fn one_statement(tree: &Tree) -> Vec<Complaint> {
    let mut found = Vec::new();
    for (path, text) in tree.ending(".sql") {
        let count = statements(text);
        if count != 1 {
            found.push(Complaint::new(path, format!("holds {count} statements: one file, one statement")));
        }
    }
    found
}

fn statements(text: &str) -> usize {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let end = match c {
            '-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |at| at + 2),
            '\'' | '"' => rest[1..].find(c).map_or(rest.len(), |at| at + 2),
            _ => {
                plain.push(c);
                c.len_utf8()
            }
        };
        if matches!(c, '\'' | '"') {
            plain.push('x');
        }
        rest = &rest[end..];
    }
    plain.split(';').filter(|part| !part.trim().is_empty()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_statements_or_none_are_refused() {
        let good = "-- Why; when; how.\nSELECT ';' /* ; */ FROM runs;\n";
        crate::tidy::check(
            one_statement,
            &[("a.sql", good)],
            &[("a.sql", "SELECT 1; SELECT 2;")],
            "holds 2 statements",
        );
        crate::tidy::check(one_statement, &[], &[("a.sql", "-- nothing\n")], "holds 0 statements");
    }
}
