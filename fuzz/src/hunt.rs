//! A hunt: inputs are made, given to a target, and those that got somewhere new are made more of.
//!
//! A target answers every input with a mark, a few words on how far it got (an error's code, the shapes that
//! were read). An input with a mark that was not seen before joins the pool. There is no clock in it and no
//! chance: the same seed makes the same inputs.

use crate::corpus;
use crate::dice::Dice;
use crate::mutate::{Material, mutate};
use crate::targets::Target;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// Most inputs that are made more of.
const POOL: usize = 4_096;
/// How long one small input may keep a processor busy: a thousand times what they take.
const BUSY: Duration = Duration::from_secs(10);

/// An input that broke a promise of its target.
#[derive(Debug)]
pub struct Found {
    /// The input.
    pub input: Vec<u8>,
    /// What was seen.
    pub why: String,
}

/// Told about each input before it is tried.
pub type Before = Box<dyn FnMut(&[u8])>;

/// One target under fire.
pub struct Hunt {
    target: &'static Target,
    words: Vec<&'static str>,
    dice: Dice,
    pool: Vec<Vec<u8>>,
    marks: BTreeSet<String>,
    /// So that an input is known even if the process does not survive it.
    pub before: Before,
}

impl Hunt {
    /// Begins with the corpus of a target; every input of it must pass.
    pub fn begin(target: &'static Target, seed: u64) -> Result<Self, Found> {
        let pool: Vec<Vec<u8>> = corpus::of(target.name).into_iter().map(|(_, input)| input).collect();
        // As long as the process lives: there are few hunts in one.
        let defined = (target.defined)().into_iter().map(|word| &*word.leak());
        let words = target.words.iter().copied().chain(defined).collect();
        let (dice, marks, before) = (Dice::new(seed), BTreeSet::new(), Box::new(|_: &[u8]| ()));
        let mut hunt = Self { target, words, dice, pool, marks, before };
        for input in hunt.pool.clone() {
            hunt.marks.insert(attempt(target, &input)?);
        }
        Ok(hunt)
    }

    /// Makes one input and tries it.
    pub fn round(&mut self) -> Result<(), Found> {
        let empty = Vec::new();
        let input = self.pool.get(self.dice.below(self.pool.len())).unwrap_or(&empty);
        let other = self.pool.get(self.dice.below(self.pool.len())).unwrap_or(&empty);
        let made = mutate(input, &mut self.dice, Material { other, words: &self.words });
        (self.before)(&made);
        let mark = attempt(self.target, &made).map_err(|found| smaller(self.target, found))?;
        if self.marks.len() < POOL && self.marks.insert(mark) {
            self.pool.push(made);
        }
        Ok(())
    }

    /// How many different marks were seen.
    pub fn marks(&self) -> usize {
        self.marks.len()
    }
}

/// Tries one input: its mark, or what it broke.
pub fn attempt(target: &Target, input: &[u8]) -> Result<String, Found> {
    let found = |why: String| Found { input: input.to_vec(), why };
    let begun = busy();
    let mark = catch_unwind(AssertUnwindSafe(|| (target.attempt)(input))).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        found(text.unwrap_or("a panic without words").to_owned())
    })?;
    let took = busy().saturating_sub(begun);
    if took > BUSY { Err(found(format!("{} bytes took {took:?}", input.len()))) } else { Ok(mark) }
}

/// What this thread has used of a processor: waiting for others on a busy machine does not count.
fn busy() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or(0))
}

/// Takes away whatever the finding does not need.
fn smaller(target: &Target, mut found: Found) -> Found {
    let mut piece = found.input.len() / 2;
    let mut tries = 2_000;
    while piece > 0 && tries > 0 {
        let mut at = 0;
        while at + piece <= found.input.len() && tries > 0 {
            tries -= 1;
            let mut less = found.input.clone();
            less.drain(at..at + piece);
            match attempt(target, &less) {
                Err(still) => found = still,
                Ok(_) => at += piece,
            }
        }
        piece /= 2;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Breaks at every input with two brackets in it.
    static BREAKS: Target = Target {
        name: "no-such-corpus",
        words: &["[[", "a"],
        defined: Vec::new,
        attempt: |input| {
            assert!(!input.windows(2).any(|w| w == b"[["), "two brackets");
            "fine".to_owned()
        },
    };

    #[test]
    fn a_planted_fault_is_found_and_made_small() {
        let mut hunt = Hunt::begin(&BREAKS, 1).unwrap();
        let found = (0..10_000).find_map(|_| hunt.round().err()).expect("it breaks often");
        assert_eq!(found.input, b"[[");
        assert!(found.why.contains("two brackets"), "{}", found.why);
    }

    #[test]
    fn the_same_seed_finds_the_same_after_the_same_rounds() {
        let rounds = || {
            let mut hunt = Hunt::begin(&BREAKS, 7).unwrap();
            (0..10_000).position(|_| hunt.round().is_err())
        };
        assert_eq!(rounds(), rounds());
        assert!(rounds().is_some());
    }
}
