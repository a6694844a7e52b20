//! Seeds that once found something, and are played for ever.

/// The list, each line with a word on what its seeds found.
const LIST: &str = include_str!("../seeds.txt");
/// Before the word on a seed that takes a minute without optimisation.
const LONG: &str = "long: ";

/// Every seed of the list, those that are named in the words on another one too; or only those that do not take long.
pub fn kept(long: bool) -> Vec<u64> {
    let lines = LIST.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines.filter(|line| long || !is_long(line)).flat_map(seeds).collect()
}

fn is_long(line: &str) -> bool {
    line.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start().starts_with(LONG)
}

/// The seed that a line begins with, and those of its "So do … and …".
fn seeds(line: &str) -> Vec<u64> {
    let first = line.split_whitespace().next().unwrap_or_default();
    let others = line.split_once(" So do").map_or("", |(_, others)| others);
    let numbers = others.split(|c: char| !c.is_ascii_digit()).chain([first]);
    numbers.filter_map(|number| number.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_one_seed_and_all_that_found_the_same() {
        assert_eq!(seeds("39    a resume of 3 engines"), [39]);
        assert_eq!(seeds("30 it failed. So do 22, 103 and 7"), [22, 103, 7, 30]);
        assert_eq!(seeds("86 it was set. So does 89"), [89, 86]);
        assert_eq!(seeds("86 it was set. So do 89 and a dozen others"), [89, 86]);
    }

    #[test]
    fn every_line_has_a_seed_and_what_takes_long_is_said() {
        let lines = || LIST.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
        assert!(lines().all(|line| !seeds(line).is_empty()));
        assert!(kept(true).contains(&22_893) && !kept(false).contains(&22_893));
        assert!(kept(false).contains(&103_433) && kept(false).len() > lines().count());
    }
}
