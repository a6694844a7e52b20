//! Seeds that once found something, and are played for ever.

use crate::{Seed, Tier};

/// The list, each line with a word on what its seeds found.
const LIST: &str = include_str!("../seeds.txt");
/// Before the word on a seed that takes a minute without optimisation.
const LONG: &str = "long:";
/// Before the word on a seed that is played over something else than memory.
const TIERS: [(&str, Tier); 2] = [("sqlite:", Tier::Sqlite), ("events:", Tier::Events)];

/// Every seed of the list, those that are named in the words on another one too; or only those that do not take long.
pub fn kept(long: bool) -> Vec<Seed> {
    lines().filter(|line| long || !marks(line).any(|mark| mark == LONG)).flat_map(seeds).collect()
}

fn lines() -> impl Iterator<Item = &'static str> {
    LIST.lines().filter(|line| !line.starts_with('#') && !line.is_empty())
}

/// What stands between a line's seed and the word on it.
fn marks(line: &str) -> impl Iterator<Item = &str> {
    let is_mark = |word: &&str| *word == LONG || TIERS.iter().any(|(mark, _)| word == mark);
    line.split_whitespace().skip(1).take_while(is_mark)
}

/// The seed that a line begins with, and those of its "So do … and …".
fn seeds(line: &str) -> Vec<Seed> {
    let tier = |mark| TIERS.iter().find(|(known, _)| *known == mark).map(|(_, tier)| *tier);
    let tier = marks(line).find_map(tier).unwrap_or_default();
    let first = line.split_whitespace().next().unwrap_or_default();
    let others = line.split_once(" So do").map_or("", |(_, others)| others);
    let numbers = others.split(|c: char| !c.is_ascii_digit()).chain([first]);
    numbers.filter_map(|number| Some(Seed { number: number.parse().ok()?, tier })).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, tier: Tier, expected: &[u64]) {
        let expected: Vec<Seed> = expected.iter().map(|number| Seed { number: *number, tier }).collect();
        assert_eq!(seeds(line), expected, "{line}");
    }

    #[test]
    fn a_line_names_one_seed_and_all_that_found_the_same() {
        check("39    a resume of 3 engines", Tier::Memory, &[39]);
        check("30 it failed. So do 22, 103 and 7", Tier::Memory, &[22, 103, 7, 30]);
        check("86 it was set. So does 89", Tier::Memory, &[89, 86]);
        check("86 it was set. So do 89 and a dozen others", Tier::Memory, &[89, 86]);
    }

    #[test]
    fn a_line_says_over_what_its_seeds_are_played() {
        check("7 sqlite: a file was left. So does 8", Tier::Sqlite, &[8, 7]);
        check("7 events: long: it went on", Tier::Events, &[7]);
        check("7 long: sqlite: it went on", Tier::Sqlite, &[7]);
        check("7 a word on sqlite: of no account here", Tier::Memory, &[7]);
        let tiers: std::collections::BTreeSet<Tier> = kept(false).iter().map(|seed| seed.tier).collect();
        assert_eq!(tiers, [Tier::Memory, Tier::Sqlite, Tier::Events].into());
    }

    #[test]
    fn a_seed_is_played_again_where_it_was_played() {
        let again = |tier| Seed { number: 5, tier }.again();
        assert_eq!(again(Tier::Memory), "cargo xtask sim --seed 5");
        assert_eq!(again(Tier::Sqlite), "cargo xtask sim --seed 5 --sqlite");
        assert_eq!(again(Tier::Events), "cargo xtask sim --seed 5 --events");
    }

    #[test]
    fn every_line_has_a_seed_and_what_takes_long_is_said() {
        assert!(lines().all(|line| !seeds(line).is_empty()));
        let is_kept = |number, long| kept(long).contains(&Seed { number, tier: Tier::Memory });
        assert!(is_kept(22_893, true) && !is_kept(22_893, false));
        assert!(is_kept(103_433, false) && kept(false).len() > lines().count());
    }
}
