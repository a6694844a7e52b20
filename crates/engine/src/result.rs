//! What workers report: one command, one file.

mod complete;
mod give_back;
mod heartbeat;

pub(crate) use complete::{check_output, complete};
pub(crate) use give_back::give_back;
pub(crate) use heartbeat::heartbeat;

use crate::command::LeaseRef;
use edgewise_core::event::AttemptRef;

impl LeaseRef {
    /// What the ledger may know of it: the token's hash, never the token.
    pub(crate) fn attempt(&self) -> AttemptRef {
        AttemptRef { task: self.task, generation: self.generation, attempt: self.attempt, token: self.token.hash() }
    }
}
