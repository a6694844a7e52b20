//! Many tasks behind one node: how many are in each phase, and what that comes to.

use super::Count;
use crate::state::Phase;

/// How many tasks are in each phase.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Tally {
    counts: [u32; 8],
}

impl Tally {
    pub fn add(&mut self, phase: Phase) {
        self.counts[phase as usize] += 1;
    }

    pub fn absorb(&mut self, other: &Self) {
        self.counts.iter_mut().zip(other.counts).for_each(|(count, more)| *count += more);
    }

    fn of(&self, phase: Phase) -> u32 {
        self.counts[phase as usize]
    }

    pub fn total(&self) -> u32 {
        self.counts.iter().sum()
    }

    fn ended(&self) -> u32 {
        [Phase::Succeeded, Phase::Failed, Phase::Skipped, Phase::Cancelled].map(|phase| self.of(phase)).iter().sum()
    }

    pub fn count(&self) -> Count {
        Count {
            done: self.ended(),
            failed: self.of(Phase::Failed),
            running: self.of(Phase::Running),
            total: self.total(),
        }
    }

    /// What moves comes first, since it decides what is to be waited for; once all have ended, the worst of it.
    pub fn phase(&self) -> Option<Phase> {
        let live = [Phase::Running, Phase::Waiting, Phase::Ready, Phase::Blocked];
        let over = [Phase::Failed, Phase::Cancelled, Phase::Succeeded, Phase::Skipped];
        live.into_iter().chain(over).find(|phase| self.of(*phase) > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moves_is_shown_before_what_has_ended_and_then_the_worst() {
        for (phases, expected) in [
            (&[][..], None),
            (&[Phase::Succeeded, Phase::Skipped], Some(Phase::Succeeded)),
            (&[Phase::Succeeded, Phase::Failed], Some(Phase::Failed)),
            (&[Phase::Failed, Phase::Running, Phase::Blocked], Some(Phase::Running)),
            (&[Phase::Succeeded, Phase::Blocked], Some(Phase::Blocked)),
        ] {
            let mut tally = Tally::default();
            phases.iter().for_each(|phase| tally.add(*phase));
            assert_eq!(tally.phase(), expected, "{phases:?}");
            assert_eq!(tally.total() as usize, phases.len());
        }
    }
}
