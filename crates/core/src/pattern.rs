//! Patterns: regular expressions over texts, matched in time linear in the text whatever the pattern.
//!
//! The syntax is that of RE2, which CEL names; reading it is left to a library, matching is done here: all ways
//! through the pattern are followed at once, one character after another, so none is ever tried again. There are no
//! back references and no flags, and a pattern is bounded when it is read.

mod classes;
mod compile;

use crate::limits;
use classes::Set;

/// A pattern that can be matched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    parts: Vec<Part>,
    sets: Vec<Set>,
}

/// One step of a way through a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    /// A character of the set of this number, then the next part.
    One(u32),
    /// Either way.
    Split(u32, u32),
    Jump(u32),
    /// The next part, if this holds between two characters.
    At(Edge),
    Match,
}

/// What holds between two characters, or at an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edge {
    Start,
    End,
    Word,
    NotWord,
}

/// The characters around a place in a text.
type Around = (Option<char>, Option<char>);

impl Edge {
    fn holds(self, (before, after): Around) -> bool {
        let word = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
        match self {
            Self::Start => before.is_none(),
            Self::End => after.is_none(),
            Self::Word => word(before) != word(after),
            Self::NotWord => word(before) == word(after),
        }
    }
}

/// The ways that are followed at one place.
struct Ways {
    at: Vec<u32>,
    seen: Vec<bool>,
    /// Where to go on, while a way is followed.
    open: Vec<u32>,
}

impl Ways {
    fn new(parts: usize) -> Self {
        Self { at: Vec::with_capacity(parts), seen: vec![false; parts], open: Vec::new() }
    }

    fn clear(&mut self) {
        self.at.clear();
        self.seen.fill(false);
    }
}

impl Pattern {
    /// Reads a pattern; what is wrong with it is said in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        Self::read(text).0
    }

    /// The same, with about how many steps it took. What cannot be read costs more: nobody pays for matching it.
    pub(crate) fn read(text: &str) -> (Result<Self, String>, u64) {
        if text.len() > limits::PATTERN_BYTES {
            let why = format!("it has {} bytes, at most {} are allowed", text.len(), limits::PATTERN_BYTES);
            return (Err(why), 1);
        }
        let (read, visits) = compile::compile(text);
        let looked_at = (text.len() + visits) as u64;
        let steps = if read.is_ok() { looked_at / 16 } else { looked_at / 2 };
        (read, steps)
    }

    /// About how many steps it takes to match a text of so many bytes.
    pub(crate) fn cost(&self, bytes: usize) -> u64 {
        (bytes as u64 + 8) * (self.parts.len() as u64 + 8) / 64
    }

    /// About how long a text can be that is matched in so many steps.
    pub(crate) fn most_bytes(&self, steps: u64) -> u64 {
        (steps.saturating_mul(64) / (self.parts.len() as u64 + 8)).saturating_sub(8)
    }

    /// Whether it fits somewhere in a text; `^` and `$` tie it to the ends.
    pub fn is_match(&self, text: &str) -> bool {
        let (mut now, mut next) = (Ways::new(self.parts.len()), Ways::new(self.parts.len()));
        let mut chars = text.chars();
        let mut before = None;
        loop {
            let after = chars.clone().next();
            if self.follow(0, (before, after), &mut now) {
                return true;
            }
            let Some(c) = chars.next() else { return false };
            let around = (Some(c), chars.clone().next());
            next.clear();
            for at in &now.at {
                let Part::One(set) = self.parts[*at as usize] else { continue };
                if self.sets[set as usize].has(c) && self.follow(*at + 1, around, &mut next) {
                    return true;
                }
            }
            std::mem::swap(&mut now, &mut next);
            before = Some(c);
        }
    }

    /// Adds a way, with all that it comes to without another character; whether that is the end of the pattern.
    fn follow(&self, at: u32, around: Around, ways: &mut Ways) -> bool {
        let Ways { at: ways, seen, open } = ways;
        open.push(at);
        while let Some(at) = open.pop() {
            if std::mem::replace(&mut seen[at as usize], true) {
                continue;
            }
            match &self.parts[at as usize] {
                Part::One(_) => ways.push(at),
                Part::Split(first, second) => open.extend([*second, *first]),
                Part::Jump(to) => open.push(*to),
                Part::At(edge) if edge.holds(around) => open.push(at + 1),
                Part::At(_) => {}
                Part::Match => return true,
            }
        }
        false
    }
}

#[cfg(test)]
mod tests;
