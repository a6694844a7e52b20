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
    shrink_by(|steps| {
        let only = Some(Arc::new(steps.iter().copied().collect()));
        run_seed(seed, &Options { only, trace: true, ..options.clone() }).err()
    })
}

/// The same, whatever says how some steps fail.
fn shrink_by(fails: impl Fn(&[u64]) -> Option<Violation>) -> Option<Shrunk> {
    let mut steps: Vec<u64> = (0..STEPS).collect();
    let mut violation = fails(&steps)?;
    let mut chunk = steps.len() / 2;
    while chunk > 0 {
        let (mut at, before) = (0, steps.len());
        while at < steps.len() {
            let mut fewer = steps.clone();
            fewer.drain(at..(at + chunk).min(fewer.len()));
            match fails(&fewer) {
                Some(same) if same.invariant == violation.invariant => (steps, violation) = (fewer, same),
                _ => at += chunk,
            }
        }
        // One that mattered may do so no more without another.
        if chunk > 1 || steps.len() == before {
            chunk /= 2;
        }
    }
    Some(Shrunk { steps: steps.into_iter().collect(), violation })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left of all steps if a rule says how they fail.
    fn check(fails: impl Fn(&[u64]) -> Option<&'static str>, expected: Option<(&[u64], &str)>) {
        let told = |steps: &[u64]| fails(steps).map(|how| Violation::new(how, format!("{steps:?}")));
        let shrunk = shrink_by(told);
        let Some((steps, how)) = expected else { return assert!(shrunk.is_none(), "it does not fail") };
        let shrunk = shrunk.unwrap();
        assert_eq!(shrunk.steps, steps.iter().copied().collect());
        // It is the violation of just these steps, not of those before.
        assert_eq!(shrunk.violation, Violation::new(how, format!("{steps:?}")));
    }

    fn all(steps: &[u64], wanted: &[u64]) -> bool {
        wanted.iter().all(|step| steps.contains(step))
    }

    #[test]
    fn what_does_not_fail_is_not_made_short() {
        check(|_| None, None);
    }

    #[test]
    fn the_steps_that_matter_are_left_and_no_others() {
        check(|_| Some("always"), Some((&[], "always")));
        for wanted in [&[0][..], &[259], &[3, 77, 200], &[128, 129, 130, 131], &[0, 64, 65, 259]] {
            check(|steps| all(steps, wanted).then_some("both"), Some((wanted, "both")));
        }
    }

    #[test]
    fn another_failure_is_not_taken_for_the_same() {
        let rule = |steps: &[u64]| match (all(steps, &[10, 90]), all(steps, &[10])) {
            (true, _) => Some("first"),
            (false, true) => Some("other"),
            (false, false) => None,
        };
        check(rule, Some((&[10, 90], "first")));
    }

    #[test]
    fn a_step_that_matters_only_beside_another_goes_after_it() {
        let rule = |steps: &[u64]| all(steps, &[0, 2, 4, 6]) && (all(steps, &[3]) || !all(steps, &[5]));
        check(|steps| rule(steps).then_some("odd"), Some((&[0, 2, 4, 6], "odd")));
    }
}
