//! Taking whole streams away, and what is remembered of them.

use super::Stream;
use crate::domain::Space;
use edgewise_core::state::RunState;
use edgewise_core::time::Time;

/// Whole streams to take away.
#[derive(Debug, Clone, Default)]
pub struct Removal {
    /// Which.
    pub streams: Vec<Gone>,
    /// The committer's clock: what is remembered no longer than until then is forgotten, some of it with each call.
    pub at: Time,
    /// The work graph of a workspace is never taken away: keys of operations on it that were used up at this instant or
    /// before are free again, some of them with each call.
    pub work_keys: Option<(Space, Time)>,
}

/// A stream that is taken away, and what is remembered of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gone {
    /// Which.
    pub stream: Stream,
    /// The seq at which it was decided that it may go.
    pub seq: u64,
    /// How its run ended.
    pub state: RunState,
    /// When its run ended.
    pub ended_at: Time,
    /// When it was taken away.
    pub removed_at: Time,
    /// The key it was started with.
    pub key: Option<String>,
    /// Until when this and the key are kept.
    pub until: Time,
}

/// What became of a removal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Removed {
    /// How many of the streams are not there any more.
    pub taken: usize,
    /// Whether there is still something to give back on the disk: call again.
    pub more: bool,
}
