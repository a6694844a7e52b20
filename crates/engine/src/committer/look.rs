//! Looking at the work graph: everything that was asked before is decided, and nothing is staged.

use super::Committer;
use crate::work::{Look, look};
use edgewise_core::Result;
use edgewise_core::time::Time;
use edgewise_core::work::Work;
use serde_json::Value;

impl<R> Committer<R> {
    /// The work graph as it is at the ledger's tail.
    pub fn work(&mut self, now: Time) -> Result<&Work> {
        self.desk.now = now;
        self.desk.newest_work()
    }

    /// The work graph as this engine has it, whatever others wrote since; nothing while it is not at hand, or holds what
    /// is not durable. For whoever holds it against the ledger.
    pub fn work_at_hand(&self) -> Option<&Work> {
        let work = &self.desk.work;
        (work.loaded && !work.is_staged()).then_some(&work.state)
    }

    /// What somebody asks to see of it, as JSON.
    pub fn look(&mut self, now: Time, asked: &Look) -> Result<Value> {
        let work = self.work(now)?;
        if let Look::History { id } = asked {
            let id = work.resolve(id)?;
            let notes = self.desk.work_history(id.as_str())?;
            return Ok(serde_json::json!({ "id": id, "history": notes }));
        }
        look(work, now, asked)
    }
}
