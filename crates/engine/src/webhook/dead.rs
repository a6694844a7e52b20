//! What a hook could not be told, and what is to be sent to it again.
//!
//! A letter is at rest, or it is to be sent again. Of too many at rest the oldest goes. One that is to be sent again
//! never does: whoever asked for it was told that it is sent.

use super::hook::{Hook, read, written};
use edgewise_core::Result;
use edgewise_core::name::Name;
use edgewise_core::time::Time;
use edgewise_store::{Document, Domain, Queued, Space};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Letters of one hook that are kept at rest.
const AT_REST: usize = 1_000;
/// Letters of one hook that are to be sent again at the same time.
const AGAIN: usize = 1_000;
/// Events of a queue that are looked at at once.
const PAGE: usize = 1_000;

/// An event that a hook could not be told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeadLetter {
    /// Its place in the queue.
    pub place: u64,
    /// Its id.
    pub id: String,
    /// What it is called.
    pub name: Name,
    /// What is sent.
    pub body: String,
    /// Why it was not taken.
    pub why: String,
    /// When it was given up.
    pub at: Time,
    /// Whether it is to be sent again.
    #[serde(default)]
    pub again: bool,
}

/// What is sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Replay {
    /// How many events.
    pub events: usize,
    /// The place of the first one that is left, if they were too many at once.
    pub next: Option<u64>,
}

pub(super) fn letters(ledger: &mut dyn Domain, space: &Space, id: &str) -> Result<Vec<DeadLetter>> {
    let kept = ledger.kept(space, Document::Dead, &format!("{id}/"), AT_REST + AGAIN)?;
    kept.iter().map(|(_, body)| read(body)).collect()
}

pub(super) fn letter(queued: Queued, why: String, at: Time) -> DeadLetter {
    let Queued { place, event } = queued;
    DeadLetter { place, id: event.id, name: event.name, body: event.body, why, at, again: false }
}

/// Lays a letter to rest; of too many the oldest goes.
pub(super) fn rest(ledger: &mut dyn Domain, space: &Space, id: &str, letter: DeadLetter) -> Result<()> {
    let letter = DeadLetter { again: false, ..letter };
    let mut others = letters(ledger, space, id)?;
    others.retain(|other| !other.again && other.place != letter.place);
    if let Some(oldest) = others.first().filter(|_| others.len() >= AT_REST) {
        bury(ledger, space, id, oldest.place)?;
    }
    keep(ledger, space, id, &letter)
}

/// Takes a letter away.
pub(super) fn bury(ledger: &mut dyn Domain, space: &Space, id: &str, place: u64) -> Result<()> {
    ledger.keep(space, Document::Dead, &key(id, place), None)
}

/// Takes all letters of a hook away.
pub(super) fn clear(ledger: &mut dyn Domain, space: &Space, id: &str) -> Result<()> {
    for (key, _) in ledger.kept(space, Document::Dead, &format!("{id}/"), usize::MAX)? {
        ledger.keep(space, Document::Dead, &key, None)?;
    }
    Ok(())
}

/// Has events sent again: those that a hook wants between two places (both included), or all its letters.
pub(super) fn replay(
    ledger: &mut dyn Domain,
    space: &Space,
    hook: &Hook,
    range: Option<(u64, u64)>,
    at: Time,
) -> Result<Replay> {
    let there = letters(ledger, space, &hook.id)?;
    let mut picked = Picked::beside(&there);
    match range {
        None => {
            there.into_iter().all(|letter| picked.takes(letter));
        }
        Some((from, to)) => {
            let mut after = Some(from.saturating_sub(1));
            while let Some(behind) = after.take() {
                let page = ledger.queued(space, &hook.namespace, behind, PAGE)?;
                let last = page.last().filter(|last| last.place < to).map(|last| last.place);
                let mut wanted = page.into_iter().filter(|q| q.place <= to && hook.wants(&q.event.name));
                if wanted.all(|queued| picked.takes(letter(queued, "it is to be sent again".into(), at))) {
                    after = last;
                }
            }
        }
    }
    for letter in picked.fresh {
        keep(ledger, space, &hook.id, &DeadLetter { again: true, ..letter })?;
    }
    Ok(picked.replay)
}

/// What is sent again, while there is room.
struct Picked {
    waiting: BTreeSet<u64>,
    room: usize,
    fresh: Vec<DeadLetter>,
    replay: Replay,
}

impl Picked {
    fn beside(there: &[DeadLetter]) -> Self {
        let waiting: BTreeSet<u64> = there.iter().filter(|letter| letter.again).map(|letter| letter.place).collect();
        let room = AGAIN.saturating_sub(waiting.len());
        Self { waiting, room, fresh: Vec::new(), replay: Replay::default() }
    }

    /// False if there is no room left for it.
    fn takes(&mut self, letter: DeadLetter) -> bool {
        if !self.waiting.contains(&letter.place) {
            if self.fresh.len() >= self.room {
                self.replay.next = Some(letter.place);
                return false;
            }
            self.fresh.push(letter);
        }
        self.replay.events += 1;
        true
    }
}

fn key(id: &str, place: u64) -> String {
    format!("{id}/{place:020}")
}

fn keep(ledger: &mut dyn Domain, space: &Space, id: &str, letter: &DeadLetter) -> Result<()> {
    ledger.keep(space, Document::Dead, &key(id, letter.place), Some(&written(letter)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::Entropy;
    use crate::publish::Shelf;
    use crate::webhook::Hooks;
    use edgewise_store::memory::MemoryLedger;
    use edgewise_store::{Fresh, Position, Span};
    use std::ops::RangeInclusive;

    const NOW: Time = Time(1);

    fn name(text: &str) -> Name {
        Name::parse(text).unwrap()
    }

    fn dead(place: u64) -> DeadLetter {
        let (id, why) = (place.to_string(), "it was not taken".to_owned());
        DeadLetter { place, id, name: name("one"), body: "{}".into(), why, at: NOW, again: false }
    }

    /// A hook that wants `one`, in a queue of these events; they stand at 1, 2, 3.
    struct Stage {
        ledger: MemoryLedger,
        space: Space,
        hooks: Hooks,
        id: String,
    }

    impl Stage {
        fn new(queue: impl Iterator<Item = &'static str>) -> Self {
            let space = Space { tenant: name("local"), workspace: name("default") };
            let mut ledger = MemoryLedger::default();
            let fresh = |(n, what)| Fresh {
                namespace: name("f"),
                id: format!("{n}"),
                name: name(what),
                at: NOW,
                body: "{}".into(),
            };
            let events: Vec<Fresh> = queue.enumerate().map(fresh).collect();
            ledger.publish(&space, &events, Span { after: None, upto: Position(1) }).unwrap();
            let hooks = Hooks::new(Shelf::new(Box::new(ledger.clone()), space.clone()));
            let of = (name("f"), "https://a.example/".to_owned());
            let id = hooks.add(of, vec![name("one")], &mut Entropy::from_seed([1; 32]), NOW).unwrap().0.id;
            Self { ledger, space, hooks, id }
        }

        /// So it would be had they come to rest one after another.
        fn at_rest(self, places: RangeInclusive<u64>) -> Self {
            for place in places {
                keep(&mut self.ledger.clone(), &self.space, &self.id, &dead(place)).unwrap();
            }
            self
        }

        fn rest(&self, place: u64) {
            rest(&mut self.ledger.clone(), &self.space, &self.id, dead(place)).unwrap();
        }

        /// A replay gives so many events and the place where to go on.
        fn replay(&self, range: Option<(u64, u64)>, expected: (usize, Option<u64>)) {
            let replay = self.hooks.replay(&self.id, range, NOW).unwrap();
            assert_eq!((replay.events, replay.next), expected, "{range:?}");
        }

        /// The places of the letters that are to be sent again, or of those at rest.
        fn places(&self, again: bool) -> Vec<u64> {
            let letters = self.hooks.dead(&self.id).unwrap();
            letters.iter().filter(|letter| letter.again == again).map(|letter| letter.place).collect()
        }
    }

    fn all(places: RangeInclusive<u64>) -> Vec<u64> {
        places.collect()
    }

    #[test]
    fn a_replay_pushes_nothing_out_neither_of_itself_nor_at_rest() {
        let stage = Stage::new(["one"; 500].into_iter()).at_rest(5_001..=6_000);
        stage.replay(Some((1, 500)), (500, None));
        assert_eq!((stage.places(true), stage.places(false)), (all(1..=500), all(5_001..=6_000)));
    }

    #[test]
    fn as_many_dead_letters_as_are_kept_are_all_sent_again() {
        let stage = Stage::new([].into_iter()).at_rest(1..=1_000);
        stage.replay(None, (1_000, None));
        assert_eq!(stage.places(true), all(1..=1_000));
        stage.replay(None, (1_000, None));
    }

    #[test]
    fn of_too_many_at_rest_the_oldest_goes_and_none_that_is_to_be_sent_again() {
        let stage = Stage::new([].into_iter()).at_rest(1..=10);
        stage.replay(None, (10, None));
        let stage = stage.at_rest(2_001..=3_000);
        stage.rest(3_001);
        assert_eq!((stage.places(true), stage.places(false)), (all(1..=10), all(2_002..=3_001)));
        stage.rest(3_001);
        assert_eq!(stage.places(false), all(2_002..=3_001), "what is there already takes nobody's place");
        // Sent again in vain.
        stage.rest(10);
        assert_eq!((stage.places(true), stage.places(false)), (all(1..=9), [vec![10], all(2_003..=3_001)].concat()));
    }

    #[test]
    fn a_replay_looks_for_what_is_wanted_in_the_whole_range() {
        let stage = Stage::new([["other"; 2_500].as_slice(), &["one"; 3], &["other", "one"]].concat().into_iter());
        stage.replay(Some((1, 2_504)), (3, None));
        assert_eq!(stage.places(true), all(2_501..=2_503));
        stage.replay(Some((2_502, u64::MAX)), (3, None));
        assert_eq!(stage.places(true), [all(2_501..=2_503), vec![2_505]].concat());
    }

    #[test]
    fn a_replay_of_too_many_says_where_to_go_on() {
        let stage = Stage::new(["one"; 1_200].into_iter());
        stage.replay(Some((1, 1_200)), (1_000, Some(1_001)));
        assert_eq!(stage.places(true), all(1..=1_000));
        stage.replay(Some((1_001, 1_200)), (0, Some(1_001)));
        stage.replay(Some((991, 1_000)), (10, None));
        for place in 1..=10 {
            bury(&mut stage.ledger.clone(), &stage.space, &stage.id, place).unwrap();
        }
        stage.replay(Some((1_001, 1_200)), (10, Some(1_011)));
    }
}
