//! Places in the trail. A line has no number of its own, and files are renamed under whoever reads them, so a place is
//! named by what its line says.

use super::{Line, read};
use edgewise_core::time::Time;
use edgewise_core::{Error, Result};
use std::fmt;
use std::path::Path;

/// A line, by its hash, and how many that say the same stand from it to the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    hash: String,
    same: usize,
}

impl Mark {
    /// Reads what a page gave as its `next`.
    pub fn parse(text: &str) -> Result<Self> {
        let read = || {
            let (same, hash) = text.split_once('.')?;
            let good = hash.len() == 32 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
            good.then_some(Self { hash: hash.to_owned(), same: same.parse().ok()? })
        };
        read().ok_or_else(|| Error::invalid("bad_cursor", "`after` is the `next` of the page before, as it came"))
    }

    fn of(lines: &[Line], at: usize) -> Self {
        let hash = hash(&lines[at]);
        let same = lines[at..].iter().filter(|line| **line == lines[at]).count();
        Self { hash, same }
    }

    /// Where its line stands; the beginning if it is gone, and all that was before it with it.
    fn find(&self, lines: &[Line]) -> usize {
        let same = lines.iter().enumerate().rev().filter(|(_, line)| hash(line) == self.hash);
        same.map(|(at, _)| at).nth(self.same.saturating_sub(1)).unwrap_or(0)
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.same, self.hash)
    }
}

fn hash(line: &Line) -> String {
    let text = serde_json::to_vec(line).unwrap_or_default();
    blake3::hash(&text).to_hex()[..32].to_owned()
}

/// The newest lines of a trail, or those before a place, the oldest of them first; and the place to go on before.
pub fn page(dir: &Path, since: Time, (before, limit): (Option<&Mark>, usize)) -> Result<(Vec<Line>, Option<Mark>)> {
    let all = read(dir, since, usize::MAX)?;
    let end = before.map_or(all.len(), |mark| mark.find(&all));
    let begin = end.saturating_sub(limit);
    let next = (begin > 0).then(|| Mark::of(&all, begin));
    Ok((all[begin..end].to_vec(), next))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_say_the_same_are_told_apart_by_where_they_stand() {
        let line = |status| Line {
            at: Time(1),
            who: None,
            role: None,
            peer: String::new(),
            route: "x".into(),
            path: None,
            made: None,
            status,
            code: None,
            times: 1,
        };
        let lines = [line(200), line(200), line(404), line(200)];
        for at in 0..lines.len() {
            let mark = Mark::of(&lines, at);
            assert_eq!(Mark::parse(&mark.to_string()).unwrap().find(&lines), at);
        }
        assert_eq!(Mark::of(&lines, 2).find(&lines[3..]), 0, "what is gone has nothing before it");
        for bad in ["", "1", "1.", "x.00", "1.zz", "-1.00000000000000000000000000000000"] {
            assert_eq!(Mark::parse(bad).unwrap_err().code, "bad_cursor", "{bad}");
        }
    }
}
