//! Looking at the work graph without being the engine: rows plus the ledger's tail.

use super::Reader;
use crate::load::load_work;
use crate::work::{Look, look};
use edgewise_core::Result;
use edgewise_core::id::RunId;
use edgewise_core::time::Time;
use edgewise_core::work::Work;
use serde_json::{Value, json};

impl Reader {
    /// The whole work graph as it is now.
    pub fn work(&mut self) -> Result<Work> {
        let stream = self.home.stream(RunId::WORK);
        Ok(load_work(&mut *self.ledger, &mut *self.projections, &stream)?.state)
    }

    /// What somebody asks to see of the work graph, as JSON: the same as its engine would answer.
    pub fn look(&mut self, now: Time, asked: &Look) -> Result<Value> {
        let stream = self.home.stream(RunId::WORK);
        let loaded = load_work(&mut *self.ledger, &mut *self.projections, &stream)?;
        let Look::History { id } = asked else { return look(&loaded.state, now, asked) };
        let id = loaded.state.resolve(id)?;
        let mut notes = self.projections.work_notes(&stream, id.as_str())?;
        // The rows may have moved on since: what is in them is not said twice.
        let last = notes.last().map_or(0, |note| note.seq);
        notes.extend(loaded.changed.notes.into_iter().filter(|note| note.item == id && note.seq > last));
        Ok(json!({ "id": id, "history": notes }))
    }
}
