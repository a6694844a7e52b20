//! The table: which bug was found after how many seeds, and by what.

use super::bug::Bug;
use super::hunt::Found;
use super::{MEDIAN, SEEDS};
use crate::tree::Tree;
use std::path::Path;
use std::process::Command;

/// The page that has the table.
const PAGE: &str = "docs/reference/storm.md";
/// The table stands between these lines.
const MARKS: (&str, &str) = ("<!-- planted: cargo xtask planted --record -->\n", "<!-- /planted -->\n");

/// A bug in one line.
pub fn line(bug: &Bug, found: &Found) -> String {
    let name = &bug.name;
    match found {
        Found::Seed(seed, what) => format!("{name:<40} {seed:>5}  {what}"),
        Found::Nothing => format!("{name:<40}     -  not found"),
        Found::Stuck => format!("{name:<40}     -  did not end"),
    }
}

/// Half of them were found within so many seeds; nothing if there are none.
pub fn median(hunted: &[(&Bug, Found)]) -> Option<u64> {
    let seeds = |found: &Found| if let Found::Seed(seed, _) = found { *seed } else { u64::MAX };
    let mut all: Vec<u64> = hunted.iter().map(|(_, found)| seeds(found)).collect();
    all.sort_unstable();
    all.get(all.len().checked_sub(1)? / 2).copied()
}

/// All of them in one line.
pub fn summary(hunted: &[(&Bug, Found)]) -> String {
    let found = hunted.iter().filter(|(_, found)| matches!(found, Found::Seed(..))).count();
    let median = median(hunted).map_or_else(String::new, |m| format!(", half of them within {m} seeds"));
    format!("{found} of {} planted bugs found{median}", hunted.len())
}

/// Writes the table into its page.
pub fn record(root: &Path, tree: &Tree, hunted: &[(&Bug, Found)]) -> Result<(), String> {
    let page = tree.file(PAGE).ok_or_else(|| format!("{PAGE} is missing"))?;
    let text = with_table(page, &table(hunted, &commit(root)))?;
    std::fs::write(root.join(PAGE), text).map_err(|e| format!("{PAGE}: {e}"))
}

fn commit(root: &Path) -> String {
    let output = Command::new("git").args(["rev-parse", "--short", "HEAD"]).current_dir(root).output();
    output.map(|o| String::from_utf8_lossy(&o.stdout).trim().to_owned()).unwrap_or_default()
}

fn table(hunted: &[(&Bug, Found)], commit: &str) -> String {
    let mut text = format!(
        "`cargo xtask planted` at commit {commit}: {}. Allowed: {SEEDS} seeds each, half of them within {MEDIAN}.\n\n\
         | bug | seeds | found by | what it breaks |\n|---|---|---|---|\n",
        summary(hunted)
    );
    for (bug, found) in hunted {
        let (seeds, by) = match found {
            Found::Seed(seed, what) => (seed.to_string(), format!("`{what}`")),
            Found::Nothing | Found::Stuck => ("-".into(), "-".into()),
        };
        text += &format!("| {} | {seeds} | {by} | {} |\n", bug.name, bug.breaks);
    }
    text
}

fn with_table(page: &str, table: &str) -> Result<String, String> {
    let parts = page.split_once(MARKS.0).and_then(|(head, rest)| Some((head, rest.split_once(MARKS.1)?.1)));
    let (head, tail) = parts.ok_or_else(|| format!("{PAGE} has no place for the table: {MARKS:?}"))?;
    Ok(format!("{head}{}{table}{}{tail}", MARKS.0, MARKS.1))
}

#[cfg(test)]
mod tests {
    use super::super::bug::Tier;
    use super::*;

    #[test]
    fn the_table_stands_between_its_marks_and_nowhere_else() {
        let page = format!("# Storm\n\n{}old\n{}\nmore\n", MARKS.0, MARKS.1);
        let once = with_table(&page, "new\n").unwrap();
        assert_eq!(once, format!("# Storm\n\n{}new\n{}\nmore\n", MARKS.0, MARKS.1));
        assert_eq!(with_table(&once, "new\n").unwrap(), once);
        assert!(with_table("# Storm\n", "new\n").unwrap_err().contains("no place"));
    }

    #[test]
    fn a_bug_that_got_away_counts_for_the_median() {
        let bug = Bug { name: "odd".into(), breaks: "much".into(), tier: Tier::Memory, edits: Vec::new() };
        let at = |seed| (&bug, Found::Seed(seed, "x".into()));
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[at(9), at(1), at(5)]), Some(5));
        assert_eq!(median(&[at(9), (&bug, Found::Nothing), (&bug, Found::Stuck)]), Some(u64::MAX));
    }
}
