//! All of a run: what was put by comes back before anybody opens finished work again.
//!
//! What is inside of composites that ended well rests in the rows alone ([`Cached::rows_written`]). Nothing that happens
//! by itself reads it; an operator may. Then the run is loaded anew, which brings everything back.

use super::Desk;
use crate::cached::Cached;
use edgewise_core::event::Event;
use edgewise_core::id::RunId;
use edgewise_core::{Error, Result};

/// Whether an event may open finished work, and so reads what is inside of it.
pub(super) fn opens(event: &Event) -> bool {
    matches!(
        event,
        Event::RunRerunRequested(_)
            | Event::TaskResetForRetry(_)
            | Event::TaskResolvedManually(_)
            | Event::TaskCompletedManually(_)
    )
}

impl Desk {
    /// A run with everything in it.
    pub fn whole(&mut self, run: RunId) -> Result<&mut Cached> {
        if !self.make_whole(run) && self.batch.spoiled {
            return Err(Error::conflict("decided_again", format!("run {run} is loaded anew and this decided again")));
        }
        self.open(run)
    }

    /// Loads a run anew if something of it was put by; false if that is still to be done.
    pub(super) fn make_whole(&mut self, run: RunId) -> bool {
        let Some(cached) = self.runs.get(&run).filter(|cached| !cached.is_whole()) else { return true };
        if cached.events.is_empty() {
            self.forget(&[run]);
            return self.runs.contains_key(&run);
        }
        // What is staged would be lost with it: all of this commit is decided again, on runs that are loaded anew.
        self.batch.spoiled = true;
        false
    }
}
