//! How long to wait before something is asked again.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::time::Duration;

/// How often and how long apart a request is repeated that can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// How often it is asked at most.
    pub tries: u32,
    /// The wait before the second try; each further one is twice as long.
    pub first: Duration,
    /// The longest wait.
    pub most: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { tries: 5, first: Duration::from_millis(100), most: Duration::from_secs(5) }
    }
}

impl Backoff {
    /// How long to wait after so many tries: up to half less than the rule says, so that those who were cut off
    /// together do not come back together.
    pub(crate) fn after(&self, tries: u32) -> Duration {
        let full = self.first.saturating_mul(1 << tries.saturating_sub(1).min(16)).min(self.most);
        let share = u32::try_from(chance() % 512).unwrap_or_default();
        full - full * share / 1024
    }
}

/// A number that nobody else has. The system seeds every such state anew.
pub(crate) fn chance() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// A key for a request that must not be done twice.
pub(crate) fn key() -> String {
    format!("{:016x}{:016x}", chance(), chance())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_up_to_their_most_and_are_never_less_than_half() {
        let backoff = Backoff { tries: 9, first: Duration::from_millis(100), most: Duration::from_secs(2) };
        for (tries, full) in [(1, 100), (2, 200), (3, 400), (6, 2_000), (60, 2_000)] {
            let wait = backoff.after(tries);
            let full = Duration::from_millis(full);
            assert!(wait <= full && wait >= full / 2, "{wait:?} after {tries}");
        }
    }

    #[test]
    fn no_two_keys_are_the_same() {
        assert_ne!(key(), key());
    }
}
