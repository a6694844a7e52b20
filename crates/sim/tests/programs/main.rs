//! Programs grown from seeds come to what the reference says, however they are scheduled, crashed and reloaded.

mod bounds;
mod figures;
mod put_by;
mod released;
mod stalls;

use edgewise_sim::program::{Outcome, check, check_cancels, check_forks, check_seed, grow, shorten};
use std::sync::atomic::{AtomicU32, Ordering};

/// How many programs are played; `cargo xtask sim --programs --seeds 100000` plays more.
const SEEDS: u64 = 1_200;

fn play(seeds: impl Iterator<Item = u64>, played: &AtomicU32) {
    for seed in seeds {
        match check_seed(seed) {
            Ok(Outcome::Played) => drop(played.fetch_add(1, Ordering::Relaxed)),
            Ok(_) => {}
            Err(violation) => {
                let short = shorten(&grow(seed), seed);
                let again = check(&short, seed).expect_err("the short program fails too");
                panic!("seed {seed} fails: {violation}\n\nmade short:\n{short}\n{again}");
            }
        }
    }
}

#[test]
fn programs_come_to_what_the_reference_says() {
    let played = AtomicU32::new(0);
    std::thread::scope(|scope| {
        for half in 0..2 {
            scope.spawn({
                let played = &played;
                move || play((0..SEEDS).filter(|seed| seed % 2 == half), played)
            });
        }
    });
    let played = played.into_inner();
    assert!(u64::from(played) > SEEDS * 3 / 5, "only {played} of {SEEDS} programs were played");
}

#[test]
fn a_cancel_ends_a_program_wherever_it_stands() {
    let ended = (0..100).filter(|seed| match check_cancels(*seed) {
        Ok(outcome) => outcome == Outcome::Played,
        Err(violation) => panic!("seed {seed} fails: {violation}\n{}", grow(*seed)),
    });
    assert!(ended.count() > 60);
}

/// Seeds that found something once.
#[test]
fn kept_seeds_stay_right() {
    play([21, 23, 123, 242, 462, 1_124, 16_578].into_iter(), &AtomicU32::new(0));
}

/// Programs that are forked at every act.
const FORKED: u64 = 120;

#[test]
fn a_fork_at_any_act_comes_to_the_same_end_by_the_same_effects() {
    let played = (0..FORKED).filter(|seed| match check_forks(*seed) {
        Ok(outcome) => outcome == Outcome::Played,
        Err(violation) => panic!("seed {seed} fails: {violation}\n{}", grow(*seed)),
    });
    let played = played.count() as u64;
    assert!(played > FORKED / 3, "only {played} of {FORKED} programs were forked");
}
