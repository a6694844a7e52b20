//! `cargo xtask planted`: proof of the tester. Bugs are planted in a copy of the sources, and the storm must find each.
//!
//! ```text
//! crates/sim/planted/*.txt ──► a copy of the sources, every bug behind a switch ──► one build ──► a hunt for each bug
//! ```
//!
//! The sources themselves know nothing of this: a bug is a piece of text that stands exactly once in a file, and
//! what stands there instead.

mod bug;
mod copy;
mod hunt;
mod page;

use crate::tree::Tree;
use bug::{Bug, Tier};
use hunt::Found;
use std::path::Path;

/// Seeds played for each bug at most.
const SEEDS: u64 = 1_000;
/// Half of the bugs are found within so many seeds.
const MEDIAN: u64 = 50;
/// So many bugs are planted at least.
const BUGS: usize = 20;

/// Plants all bugs and hunts for each, or for those whose name contains a word; false if one gets away.
pub fn run(root: &Path, words: &[&str]) -> bool {
    let done = match words {
        [] => prove(root, "", false),
        ["--record"] => prove(root, "", true),
        [name] => prove(root, name, false),
        _ => Err(format!("expected --record or a part of a bug's name, found {words:?}")),
    };
    if let Err(why) = &done {
        eprintln!("error: {why}");
    }
    done.is_ok()
}

fn prove(root: &Path, part: &str, record: bool) -> Result<(), String> {
    let tree = Tree::read(root).map_err(|e| format!("the sources cannot be read: {e}"))?;
    let bugs = bug::read_all(&tree)?;
    let target = crate::built::target(root);
    let target = std::path::absolute(&target).map_err(|e| format!("{}: {e}", target.display()))?;
    let folder = target.join("planted");
    copy::write(&folder, &copy::planted(&tree, &bugs)?)?;
    let binary = hunt::build(&folder, &target)?;
    is_sound(&binary, Tier::Memory, SEEDS)?;
    is_sound(&binary, Tier::Events, SEEDS)?;
    let mut hunted = Vec::new();
    for bug in bugs.iter().filter(|bug| bug.name.contains(part)) {
        let found = hunt::hunt(&binary, &bug.name, bug.tier, SEEDS)?;
        println!("{}", page::line(bug, &found));
        hunted.push((bug, found));
    }
    let slow = hunted.iter().filter(|(bug, _)| bug.tier == Tier::Sqlite).map(|(_, found)| found.seeds()).max();
    is_sound(&binary, Tier::Sqlite, slow.unwrap_or(0))?;
    println!("{}", page::summary(&hunted));
    if record {
        page::record(root, &tree, &hunted)?;
    }
    judge(&hunted, part.is_empty())
}

/// Whether every bug still stands where its file says: what nobody needs to build anything for.
pub fn in_place(tree: &Tree) -> Result<(), String> {
    copy::planted(tree, &bug::read_all(tree)?).map(drop)
}

/// Without any bug the same seeds find nothing: what is found is the bug.
fn is_sound(binary: &Path, tier: Tier, seeds: u64) -> Result<(), String> {
    match hunt::hunt(binary, "", tier, seeds)? {
        Found::Nothing => Ok(()),
        Found::Stuck => Err("without any bug the simulator does not end".into()),
        Found::Seed(seed, what) => {
            Err(format!("without any bug seed {seed} fails: {what}. That one is not planted: mend it first"))
        }
    }
}

/// Whether enough bugs were planted, all were found, and soon.
fn judge(hunted: &[(&Bug, Found)], all: bool) -> Result<(), String> {
    let missed: Vec<&str> =
        hunted.iter().filter(|(_, found)| !matches!(found, Found::Seed(..))).map(|(bug, _)| &*bug.name).collect();
    if !missed.is_empty() {
        let names = missed.join(", ");
        return Err(format!(
            "not found within {SEEDS} seeds: {names}. Teach the storm to find them, or say why they are no bugs"
        ));
    }
    if all && hunted.len() < BUGS {
        return Err(format!("expected at least {BUGS} bugs, found {}", hunted.len()));
    }
    match page::median(hunted) {
        Some(median) if all && median > MEDIAN => {
            Err(format!("half of the bugs should be found within {MEDIAN} seeds, it took {median}"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(found: &[Found], all: bool, expected: Result<(), &str>) {
        let bug = Bug { name: "odd".into(), breaks: "x".into(), tier: Tier::Memory, edits: Vec::new() };
        let hunted: Vec<(&Bug, Found)> = found.iter().map(|f| (&bug, f.clone())).collect();
        match (judge(&hunted, all), expected) {
            (Ok(()), Ok(())) => {}
            (Err(said), Err(wanted)) => assert!(said.contains(wanted), "{said}"),
            (is, wanted) => panic!("expected {wanted:?}, found {is:?}"),
        }
    }

    #[test]
    fn all_bugs_are_found_and_half_of_them_soon() {
        let at = |seed| Found::Seed(seed, "done_is_final".into());
        check(&vec![at(3); 20], true, Ok(()));
        check(&vec![at(3); 19], true, Err("at least 20 bugs, found 19"));
        check(&[at(3)], false, Ok(()));
        check(&[at(3), Found::Nothing], false, Err("seeds: odd"));
        check(&[at(3), Found::Stuck], false, Err("seeds: odd"));
        check(&vec![at(51); 20], true, Err("it took 51"));
    }
}
