//! Retries: whether a failed attempt is followed by another, and when.
//!
//! One place decides both. The flow's definition is the upper bound; a worker's own verdict can only
//! narrow it. Jitter is drawn from what names the attempt, so a refold waits exactly as long.

use crate::event::Failure;
use crate::id::RunId;
use crate::limits;
use crate::time::Millis;
use serde::{Deserialize, Serialize};

/// How a task's attempts follow each other.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Retry {
    /// All attempts, the first included; at least 1.
    pub max_attempts: u16,
    /// False allows the first attempt and no other.
    pub retryable: bool,
    /// How the wait grows.
    pub kind: Backoff,
    /// The first wait.
    pub base: Millis,
    /// What an exponential wait is multiplied by each time, in thousandths.
    pub factor_milli: u32,
    /// The longest wait; also bounds what a worker asks for.
    pub cap: Millis,
    /// The share of a wait that is left to chance, in percent.
    pub jitter_percent: u8,
    /// If not empty, only these failure types are retried.
    pub on: Vec<String>,
    /// These failure types are never retried.
    pub never: Vec<String>,
    /// Other rules for failures of some types: the first that fits the last failure holds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub typed: Vec<Typed>,
}

/// What holds for failures of these types instead.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Typed {
    /// Any of these.
    pub kinds: Vec<String>,
    /// What holds for them; its own `typed` is not looked at.
    pub retry: Retry,
}

/// How the wait between attempts grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Backoff {
    /// Always the base.
    Fixed,
    /// Base, twice the base, three times the base.
    Linear,
    /// Base, base times factor, base times factor twice.
    Exponential,
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            max_attempts: 3,
            retryable: true,
            kind: Backoff::Exponential,
            base: Millis(1_000),
            factor_milli: 2_000,
            cap: Millis(30_000),
            jitter_percent: 10,
            on: Vec::new(),
            never: Vec::new(),
            typed: Vec::new(),
        }
    }
}

/// Failure types of ours that never deserve another attempt: the next one would end the same way.
pub const NEVER_RETRIED: [&str; 4] = ["panic", "handler_not_found", "bad_input", "output_too_large"];

impl Retry {
    /// What holds after this failure. Attempts are counted together, whichever rule they were made under.
    pub fn after(&self, failure: &Failure) -> &Self {
        let fits = |typed: &&Typed| typed.kinds.iter().any(|kind| failure.is_a(kind));
        self.typed.iter().find(fits).map_or(self, |typed| &typed.retry)
    }

    /// The most attempts any of its rules allows.
    pub fn most_attempts(&self) -> u16 {
        let typed = self.typed.iter().map(|typed| &typed.retry);
        let allowed = |retry: &Self| if retry.retryable { retry.max_attempts } else { 1 };
        std::iter::once(self).chain(typed).map(allowed).max().unwrap_or(1)
    }

    /// Whether attempt `attempt`, ended by `failure`, is followed by another.
    pub fn allows_another(&self, attempt: u16, failure: &Failure) -> bool {
        let rule = self.after(failure);
        rule.retryable
            && attempt < rule.max_attempts
            && failure.retryable
            && !NEVER_RETRIED.contains(&failure.kind.as_str())
            && !rule.never.iter().any(|never| failure.is_a(never))
            && (rule.on.is_empty() || rule.on.iter().any(|on| failure.is_a(on)))
    }

    /// How long to wait after attempt `attempt` before the next one.
    pub fn delay(&self, run: RunId, task: u32, generation: u16, attempt: u16, asked: Option<Millis>) -> Millis {
        if let Some(asked) = asked {
            return asked.min(Millis(self.cap.0.max(self.base.0)));
        }
        let mut wait = self.base.0;
        match self.kind {
            Backoff::Fixed => {}
            Backoff::Linear => wait = wait.saturating_mul(u64::from(attempt.max(1))),
            Backoff::Exponential => {
                for _ in 1..attempt {
                    wait = wait.saturating_mul(u64::from(self.factor_milli)) / 1_000;
                    if wait >= self.cap.0 {
                        break;
                    }
                }
            }
        }
        let wait = wait.min(self.cap.0).min(limits::DURATION_MS);
        let spread = wait / 100 * u64::from(self.jitter_percent.min(100));
        Millis(wait - if spread == 0 { 0 } else { chance(run, task, generation, attempt) % (spread + 1) })
    }
}

/// The same attempt always draws the same number.
fn chance(run: RunId, task: u32, generation: u16, attempt: u16) -> u64 {
    let mut seed = [0u8; 24];
    seed[..16].copy_from_slice(&run.0.to_le_bytes());
    seed[16..20].copy_from_slice(&task.to_le_bytes());
    seed[20..22].copy_from_slice(&generation.to_le_bytes());
    seed[22..].copy_from_slice(&attempt.to_le_bytes());
    let mut head = [0; 8];
    head.copy_from_slice(&blake3::hash(&seed).as_bytes()[..8]);
    u64::from_le_bytes(head)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(kind: &str) -> Failure {
        Failure::new(kind, "it broke")
    }

    #[test]
    fn the_definition_bounds_and_the_worker_only_narrows() {
        let three = Retry::default();
        assert!(three.allows_another(1, &failure("boom")));
        assert!(three.allows_another(2, &failure("boom")));
        assert!(!three.allows_another(3, &failure("boom")), "max_attempts counts the first");
        assert!(!three.allows_another(1, &Failure { retryable: false, ..failure("boom") }), "the worker said no");
        let once = Retry { retryable: false, ..Retry::default() };
        assert!(!once.allows_another(1, &failure("boom")), "the definition says no, whatever the worker says");
        assert!(!three.allows_another(1, &failure("panic")));
    }

    #[test]
    fn failure_types_are_chosen_by_name() {
        let only = Retry { on: vec!["timeout".into()], ..Retry::default() };
        assert!(only.allows_another(1, &failure("timeout")));
        assert!(!only.allows_another(1, &failure("boom")));
        let never = Retry { never: vec!["boom".into()], ..Retry::default() };
        assert!(!never.allows_another(1, &failure("boom")));
    }

    #[test]
    fn a_typed_rule_is_chosen_by_the_last_failure_and_counts_all_attempts() {
        let five = Retry { max_attempts: 5, base: Millis(30_000), cap: Millis(30_000), ..Retry::default() };
        let retry =
            Retry { typed: vec![Typed { kinds: vec!["NetworkError".into()], retry: five }], ..Retry::default() };
        let reset = Failure { is: vec!["NetworkError".into()], ..failure("ConnectionReset") };
        assert!(retry.allows_another(4, &reset), "the wider type fits");
        assert!(!retry.allows_another(5, &reset));
        assert!(!retry.allows_another(4, &failure("boom")), "four attempts were made, whatever they failed with");
        assert_eq!(retry.after(&reset).base, Millis(30_000));
    }

    #[test]
    fn waits_grow_as_declared_and_are_capped() {
        let plain = Retry { jitter_percent: 0, ..Retry::default() };
        let waits = |r: &Retry| (1..=7).map(|a| r.delay(RunId(1), 0, 1, a, None).0).collect::<Vec<_>>();
        assert_eq!(waits(&plain), [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
        assert_eq!(waits(&Retry { kind: Backoff::Linear, ..plain.clone() })[..3], [1_000, 2_000, 3_000]);
        assert_eq!(waits(&Retry { kind: Backoff::Fixed, ..plain.clone() })[..3], [1_000, 1_000, 1_000]);
        assert_eq!(plain.delay(RunId(1), 0, 1, 1, Some(Millis(5_000))), Millis(5_000), "what the worker asks for wins");
        assert_eq!(plain.delay(RunId(1), 0, 1, 1, Some(Millis(500_000))), Millis(30_000), "but is capped");
    }

    #[test]
    fn jitter_is_drawn_from_the_attempt_alone() {
        let retry = Retry { jitter_percent: 50, ..Retry::default() };
        let draw = |run, attempt| retry.delay(RunId(run), 3, 1, attempt, None).0;
        assert_eq!(draw(9, 1), draw(9, 1));
        assert!((1..100).map(|run| draw(run, 1)).collect::<std::collections::BTreeSet<_>>().len() > 50);
        assert!((1..100).all(|run| (500..=1_000).contains(&draw(run, 1))));
    }
}
