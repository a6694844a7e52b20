//! A store that is looked at from elsewhere: both halves of it, answered by a reader beside the store.
//!
//! Nothing is written this way: whoever wants something done asks the engine.

use super::Reader;
use super::peek::{
    Peek, RUNS, SentFrozen, SentGone, SentLeases, SentNotes, SentOutbox, SentRecord, SentRuns, SentWork,
};
use crate::desk::Home;
use edgewise_core::control::ControlRows;
use edgewise_core::event::{Record, TaskIx};
use edgewise_core::id::{EventId, PlanHash, RunId};
use edgewise_core::rows::{LeaseRow, OutboxRow, RunRow, TaskRow, TimerRow};
use edgewise_core::time::Time;
use edgewise_core::work::part::Drawer;
use edgewise_core::work::{ItemId, ItemRow, Note, WorkRows};
use edgewise_core::{Error, Result};
use edgewise_store::{
    Append, Appended, Flush, Gone, Head, ItemOrder, KeyClaim, KeyOwner, Ledger, Position, Projections, Removal,
    Removed, RunFilter, RunRows, Stored, Stream,
};
use serde::de::DeserializeOwned;
use std::sync::Arc;

/// Asks for one look, and waits for the answer.
pub type Asking = Arc<dyn Fn(&Peek) -> Result<String> + Send + Sync>;

/// The rows that come from there are up to date: nothing is behind them.
const UP_TO_DATE: Position = Position(u64::MAX);

impl Reader {
    /// Looks at a store that somebody else answers for.
    pub fn elsewhere(ask: Asking, home: Home) -> Self {
        let far = Far { ask, home: home.clone() };
        Self::over(Box::new(far.clone()), Box::new(far), home)
    }
}

#[derive(Clone)]
struct Far {
    ask: Asking,
    home: Home,
}

impl Far {
    fn see<T: DeserializeOwned>(&self, peek: &Peek) -> Result<T> {
        let text = (self.ask)(peek)?;
        serde_json::from_str(&text).map_err(|error| {
            let message = "the server answered something else than was expected: use the same edgewise on both sides";
            Error::unavailable("other_version", message).with_source(error)
        })
    }

    fn of<T>(&self, rows: Vec<(RunId, T)>) -> Vec<(Stream, T)> {
        rows.into_iter().map(|(run, row)| (self.home.stream(run), row)).collect()
    }
}

fn only_there<T>() -> Result<T> {
    Err(Error::invalid("only_there", "this is only done beside the store: run it on the machine of the server"))
}

impl Ledger for Far {
    fn append(&mut self, _: &Append) -> Result<Appended> {
        only_there()
    }

    fn head(&mut self, stream: &Stream) -> Result<Head> {
        Ok(Head { seq: self.see(&Peek::Head(stream.run))?, last: EventId::default() })
    }

    fn read(&mut self, stream: &Stream, after: u64, limit: usize) -> Result<Vec<Stored>> {
        let sent: Vec<SentRecord> = self.see(&Peek::Read { run: stream.run, after, limit })?;
        let stored = |sent: SentRecord| {
            let SentRecord { position, first, count, text, checksum } = sent;
            let record = Record { first, count, bytes: text.into_bytes(), checksum };
            Stored { position: Position(position), stream: stream.clone(), record }
        };
        Ok(sent.into_iter().map(stored).collect())
    }

    fn read_all(&mut self, after: Position, _: usize) -> Result<Vec<Stored>> {
        if after == UP_TO_DATE { Ok(Vec::new()) } else { only_there() }
    }

    fn tail(&mut self) -> Result<Position> {
        only_there()
    }

    fn plan(&mut self, hash: PlanHash) -> Result<Option<Vec<u8>>> {
        Ok(self.see::<Option<String>>(&Peek::Plan(hash))?.map(String::into_bytes))
    }

    fn key(&mut self, claim: &KeyClaim) -> Result<Option<KeyOwner>> {
        let owner: Option<(RunId, u64)> = self.see(&Peek::Key(claim.key.clone()))?;
        Ok(owner.map(|(run, body)| KeyOwner { run, body }))
    }

    fn freeze(&mut self, _: &Stream, _: Option<&str>) -> Result<()> {
        only_there()
    }

    fn mark(&mut self, stream: &Stream) -> Result<Option<String>> {
        Ok(self.frozen()?.into_iter().find(|(frozen, _)| frozen == stream).map(|(_, reason)| reason))
    }

    fn frozen(&mut self) -> Result<Vec<(Stream, String)>> {
        let frozen: SentFrozen = self.see(&Peek::Frozen)?;
        Ok(self.of(frozen))
    }

    fn remove(&mut self, _: &Removal) -> Result<Removed> {
        only_there()
    }

    fn gone(&mut self, stream: &Stream) -> Result<Option<Gone>> {
        let gone: Option<SentGone> = self.see(&Peek::Gone(stream.run))?;
        Ok(gone.map(|gone| Gone {
            stream: stream.clone(),
            seq: gone.seq,
            state: gone.state,
            ended_at: gone.ended_at,
            removed_at: gone.removed_at,
            key: gone.key,
            until: gone.until,
        }))
    }

    fn holes(&mut self) -> Result<u64> {
        only_there()
    }

    fn find(&mut self, prefix: &str, limit: usize) -> Result<Vec<Stream>> {
        let found: Vec<RunId> = self.see(&Peek::Find { prefix: prefix.to_owned(), limit })?;
        Ok(found.into_iter().map(|run| self.home.stream(run)).collect())
    }
}

impl Projections for Far {
    fn flush(&mut self, _: &Flush) -> Result<()> {
        only_there()
    }

    /// A run is folded from its records.
    fn load(&mut self, _: &Stream) -> Result<Option<RunRows>> {
        Ok(None)
    }

    fn task(&mut self, _: &Stream, _: TaskIx) -> Result<Option<TaskRow>> {
        Ok(None)
    }

    fn watermark(&mut self) -> Result<Position> {
        Ok(UP_TO_DATE)
    }

    fn runs(&mut self, filter: &RunFilter) -> Result<Vec<(Stream, RunRow)>> {
        let (mut all, mut after) = (Vec::new(), filter.after);
        while all.len() < filter.limit {
            let limit = (filter.limit - all.len()).min(RUNS);
            let page = RunFilter { after, limit, ..filter.clone() };
            let rows: SentRuns = self.see(&Peek::Runs(Box::new(page)))?;
            let whole = rows.len() >= limit;
            all.extend(rows.into_iter().map(|row| (row.id, row)));
            after = all.last().map(|(id, row): &(RunId, RunRow)| (row.triggered_at, *id)).filter(|_| whole);
            if after.is_none() {
                break;
            }
        }
        Ok(self.of(all))
    }

    fn outbox(&mut self) -> Result<Vec<(Stream, OutboxRow)>> {
        let rows: SentOutbox = self.see(&Peek::Outbox)?;
        Ok(self.of(rows))
    }

    fn timers(&mut self) -> Result<Vec<(Stream, TimerRow)>> {
        only_there()
    }

    fn leases(&mut self) -> Result<Vec<(Stream, LeaseRow)>> {
        let rows: SentLeases = self.see(&Peek::Leases)?;
        Ok(self.of(rows))
    }

    fn lease(&mut self, _: &Stream, _: TaskIx) -> Result<Option<LeaseRow>> {
        only_there()
    }

    fn control(&mut self, _: &Stream) -> Result<Option<ControlRows>> {
        self.see(&Peek::Control).map(Some)
    }

    fn work(&mut self, _: &Stream) -> Result<Option<WorkRows>> {
        self.see::<SentWork>(&Peek::Work)
    }

    /// One that no ledger is at, so that whoever compares the two loads the graph.
    fn work_head(&mut self, _: &Stream) -> Result<u64> {
        Ok(u64::MAX)
    }

    fn work_due(&mut self, _: &Stream) -> Result<Option<Time>> {
        Ok(None)
    }

    fn work_drawer(&mut self, stream: &Stream, _: &mut dyn FnMut(&mut dyn Drawer) -> Result<()>) -> Result<u64> {
        self.work_head(stream)
    }

    fn work_ids(&mut self, _: &Stream, _: &str, _: usize) -> Result<Vec<ItemId>> {
        only_there()
    }

    fn walk_items(&mut self, stream: &Stream, _: ItemOrder, _: &mut dyn FnMut(ItemRow) -> Result<bool>) -> Result<u64> {
        self.work_head(stream)
    }

    fn work_notes(&mut self, _: &Stream, item: &str) -> Result<Vec<Note>> {
        self.see::<SentNotes>(&Peek::Notes(item.to_owned()))
    }

    fn forget(&mut self, _: &Stream) -> Result<()> {
        only_there()
    }

    fn has_plan(&mut self, _: PlanHash) -> Result<bool> {
        Ok(false)
    }
}
