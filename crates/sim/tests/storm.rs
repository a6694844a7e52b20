//! Storms: seeds that once found something, seeds at random, the same over SQLite, events without an engine, and the
//! simulator itself.

use edgewise_core::event::KNOWN;
use edgewise_sim::cover::Cover;
use edgewise_sim::{Options, Seed, Tier, kept, run_seed};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The events that change a run; `RunAdvanced` only counts in spreads larger than those of chance.
fn counted() -> impl Iterator<Item = &'static str> {
    KNOWN.into_iter().filter(|kind| *kind != "RunAdvanced")
}

fn check(seeds: impl Iterator<Item = Seed>) -> Cover {
    let mut cover = Cover::default();
    for seed in seeds {
        match run_seed(seed.number, &Options { tier: seed.tier, ..Options::default() }) {
            Ok(summary) => cover.merge(&summary.cover),
            Err(violation) => panic!("{seed:?}: {violation}\nrepeat with: {}", seed.again()),
        }
    }
    cover
}

/// So many seeds from 0 on.
fn first(count: u64, tier: Tier) -> impl Iterator<Item = Seed> {
    (0..count).map(move |number| Seed { number, tier })
}

#[test]
fn seeds_that_once_found_something_find_nothing_any_more() {
    assert!(!kept(false).is_empty());
    check(kept(false).into_iter());
}

#[test]
fn storms_end_in_calm_and_as_promised() {
    check(first(150, Tier::Memory));
}

#[test]
fn storms_over_sqlite_end_in_calm_and_as_promised() {
    check(first(12, Tier::Sqlite));
}

#[test]
fn storms_of_events_hold_every_promise_and_every_kind_of_event_counts_in_them() {
    let cover = check(first(2_000, Tier::Events));
    let missing: Vec<&str> = counted().filter(|kind| cover.get("applied", kind) == 0).collect();
    assert!(missing.is_empty(), "never counted: {missing:?}");
    let refused: Vec<&str> = counted().filter(|kind| cover.get("ignored", kind) == 0).collect();
    assert!(refused.is_empty(), "never refused: {refused:?}");
}

#[test]
fn the_same_seed_gives_the_same_storm() {
    for (seed, tier) in (0..20).flat_map(|seed| [(seed, Tier::Memory), (seed, Tier::Events)]) {
        let play = || run_seed(seed, &Options { tier, trace: true, ..Options::default() }).unwrap();
        let (one, other) = (play(), play());
        assert_eq!(one.schedule, other.schedule, "seed {seed}");
        assert_eq!((one.hash, one.steps, one.cover), (other.hash, other.steps, other.cover), "seed {seed}");
    }
    let hash = |seed| run_seed(seed, &Options::default()).unwrap().hash;
    assert_ne!(hash(1), hash(2));
}

/// How the dice of each step fell that was played before the calm.
fn dice(seed: u64, only: Option<&[u64]>) -> BTreeMap<u64, String> {
    let only = only.map(|steps| Arc::new(steps.iter().copied().collect()));
    let lines = run_seed(seed, &Options { only, trace: true, ..Options::default() }).unwrap().schedule;
    let storm = lines.iter().take_while(|line| !line.ends_with("calm"));
    let steps = storm.filter_map(|line| line.split_once(" ms  step ")?.1.split_once(", dice "));
    steps.map(|(step, dice)| (step.parse().unwrap(), dice.to_owned())).collect()
}

#[test]
fn a_step_that_is_left_out_changes_nothing_of_the_dice_of_the_others() {
    for seed in [3, 4, 11] {
        let all = dice(seed, None);
        let fell: BTreeSet<&String> = all.values().collect();
        assert!(all.len() >= 60 && fell.len() == all.len(), "each step has dice of its own");
        for only in [&[][..], &[5], &[5, 9, 11], &[0, 1, 59]] {
            let expected: BTreeMap<u64, String> = only.iter().map(|step| (*step, all[step].clone())).collect();
            assert_eq!(dice(seed, Some(only)), expected, "seed {seed}");
        }
    }
}
