//! Retention: runs that are long over are taken away, whole, and their keys are kept for as long as promised.
//!
//! What may go is decided on a run's row alone: it is over, nothing of it is still to be written, it is not frozen,
//! and no run waits for it. The ledger goes first and checks that the run has not moved since; its logs and rows follow with
//! the next flush. If the engine dies in between, the rows that are left name the run again, and the next pass ends
//! what was begun.

use edgewise_core::id::RunId;
use edgewise_core::state::RunState;
use edgewise_core::time::{Millis, Time};
use edgewise_store::RunFilter;
use serde::{Deserialize, Serialize};

/// How long keys of runs that were taken away are kept, counted from the end of the run: 30 days.
pub const KEEP_KEYS: Millis = Millis(30 * 86_400_000);

/// What an engine takes away by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retention {
    /// How long ago a run must have ended.
    pub older_than: Millis,
    /// Which runs, apart from that; states that are not over are of no account.
    pub filter: RunFilter,
    /// How long their keys are kept, counted from the end of the run.
    pub keep_keys: Millis,
}

impl Retention {
    /// The runs that may be old enough, as a search: what is asked for cannot have ended earlier.
    pub fn candidates(&self, now: Time, limit: usize) -> RunFilter {
        let until = self.cutoff(now);
        let until = self.filter.until.map_or(until, |before| before.min(until));
        let is_over = |state: &RunState| state.is_done() && self.wants(*state);
        let states = RunState::ALL.into_iter().filter(is_over).collect();
        RunFilter { states, until: Some(until), limit, ..self.filter.clone() }
    }

    /// Whether there is a state in which a run could be taken away.
    pub fn is_possible(&self) -> bool {
        RunState::ALL.into_iter().any(|state| state.is_done() && self.wants(state))
    }

    fn wants(&self, state: RunState) -> bool {
        self.filter.states.is_empty() || self.filter.states.contains(&state)
    }

    /// Runs that ended before this instant are old enough.
    pub fn cutoff(&self, now: Time) -> Time {
        Time(now.0.saturating_sub(self.older_than.0))
    }
}

/// Runs to take away, whatever their age.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Removing {
    /// Which; none to give back what is left on the disk of those that were taken away earlier.
    pub runs: Vec<RunId>,
    /// How long their keys are kept, counted from the end of the run.
    pub keep_keys: Millis,
}

/// Why a run was not taken away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// Which run.
    pub run: RunId,
    /// Stable and machine-readable.
    pub code: String,
    /// Why, and what to do.
    pub message: String,
}
