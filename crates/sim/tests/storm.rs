//! Storms: seeds that once found something, seeds at random, the same over SQLite, events without an engine, and the
//! simulator itself.

use edgewise_core::event::KNOWN;
use edgewise_sim::cover::Cover;
use edgewise_sim::{Options, Tier, kept, run_seed};

/// The events that change a run; `RunAdvanced` only counts in spreads larger than those of chance.
fn counted() -> impl Iterator<Item = &'static str> {
    KNOWN.into_iter().filter(|kind| *kind != "RunAdvanced")
}

fn check(seeds: impl Iterator<Item = u64>, options: &Options) -> Cover {
    let mut cover = Cover::default();
    for seed in seeds {
        match run_seed(seed, options) {
            Ok(summary) => cover.merge(&summary.cover),
            Err(violation) => panic!("seed {seed}: {violation}\nrepeat with: cargo xtask sim --seed {seed}"),
        }
    }
    cover
}

#[test]
fn seeds_that_once_found_something_find_nothing_any_more() {
    assert!(!kept(false).is_empty());
    check(kept(false).into_iter(), &Options::default());
}

#[test]
fn storms_end_in_calm_and_as_promised() {
    check(0..150, &Options::default());
}

#[test]
fn storms_over_sqlite_end_in_calm_and_as_promised() {
    check(0..12, &Options { tier: Tier::Sqlite, ..Options::default() });
}

#[test]
fn storms_of_events_hold_every_promise_and_every_kind_of_event_counts_in_them() {
    let cover = check(0..2_000, &Options { tier: Tier::Events, ..Options::default() });
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

#[test]
fn a_step_that_is_left_out_changes_nothing_of_the_dice_of_the_others() {
    let schedule = |only: &[u64]| {
        let only = Some(std::sync::Arc::new(only.iter().copied().collect()));
        let lines = run_seed(3, &Options { only, trace: true, ..Options::default() }).unwrap().schedule;
        lines.into_iter().take_while(|line| !line.ends_with("calm")).filter(|l| l.contains("step")).count()
    };
    assert_eq!((schedule(&[]), schedule(&[5]), schedule(&[5, 9, 11])), (0, 1, 3));
}
