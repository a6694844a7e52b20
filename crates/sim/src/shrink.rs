//! Shrinking: the steps of a failing seed without which it still fails the same way are left out.
//!
//! Each step throws dice of its own, so what is left out does not change the rest. Chunks of falling size are
//! tried, as delta debugging does it, until no single step can be left out any more.

use crate::{Options, Violation, run_seed};
use std::collections::BTreeSet;
use std::sync::Arc;

/// No storm has more steps.
const STEPS: u64 = 260;

/// A failing seed, made short.
#[derive(Debug, Clone)]
pub struct Shrunk {
    /// The steps that matter.
    pub steps: BTreeSet<u64>,
    /// How it still fails, with its schedule.
    pub violation: Violation,
}

/// Makes a failing seed short; `None` if it does not fail.
pub fn shrink(seed: u64, options: &Options) -> Option<Shrunk> {
    let fails = |steps: &[u64]| {
        let only = Some(Arc::new(steps.iter().copied().collect()));
        run_seed(seed, &Options { only, trace: true, ..options.clone() }).err()
    };
    let mut steps: Vec<u64> = (0..STEPS).collect();
    let mut violation = fails(&steps)?;
    let mut chunk = steps.len() / 2;
    while chunk > 0 {
        let mut at = 0;
        while at < steps.len() {
            let mut fewer = steps.clone();
            fewer.drain(at..(at + chunk).min(fewer.len()));
            match fails(&fewer) {
                Some(same) if same.invariant == violation.invariant => (steps, violation) = (fewer, same),
                _ => at += chunk,
            }
        }
        chunk /= 2;
    }
    Some(Shrunk { steps: steps.into_iter().collect(), violation })
}
