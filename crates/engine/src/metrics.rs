//! What the engine counts of itself: tests and `edgewise bench` read it, so it is exact.

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
