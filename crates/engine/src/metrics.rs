//! What the engine counts of itself: tests and `edgewise bench` read it, so it is exact.

use std::time::Duration;

/// How an engine does at a moment: what waits, what is at work, and how long things took since it started.
#[derive(Debug, Clone, Copy, Default)]
pub struct Pulse {
    /// Tasks that wait for a worker, those set aside not included.
    pub ready: usize,
    /// Attempts at work.
    pub leases: usize,
    /// Claims of workers that wait for tasks.
    pub claims: usize,
    /// Runs in memory.
    pub runs: usize,
    /// From the commit that made a task ready to that of its lease, as the engine's clock shows it.
    pub ready_to_start: Durations,
    /// How long commits took, with deciding and syncing.
    pub commit: Durations,
}

/// How durations are spread: so many up to each bound.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Durations {
    /// Those up to each of [`Durations::BOUNDS_US`] and over the one before.
    pub buckets: [u64; Self::BOUNDS_US.len()],
    /// All of them.
    pub count: u64,
    /// Their sum, in microseconds.
    pub micros: u64,
}

impl Durations {
    /// Upper bounds, in microseconds.
    pub const BOUNDS_US: [u64; 13] =
        [250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000, 10_000_000, 60_000_000];

    /// Counts one.
    pub fn add(&mut self, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        if let Some(n) = Self::BOUNDS_US.iter().position(|most| micros <= *most) {
            self.buckets[n] += 1;
        }
        self.count += 1;
        self.micros = self.micros.saturating_add(micros);
    }
}

/// Counted since the engine started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Durable appends.
    pub commits: u64,
    /// Events in them.
    pub events: u64,
    /// Bytes of records in them.
    pub bytes: u64,
    /// Leases granted.
    pub leases: u64,
    /// Flushes of rows.
    pub flushes: u64,
    /// Task rows in them.
    pub task_rows: u64,
    /// Runs loaded from rows or ledger.
    pub loads: u64,
    /// Ready tasks whose turn came, whether they could begin or not.
    pub looks: u64,
}
