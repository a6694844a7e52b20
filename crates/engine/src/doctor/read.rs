//! A run's ledger read back: every record verified, in its place, decoded.

use edgewise_core::event::{Event, TaskIx};
use edgewise_core::history::Entry;
use edgewise_core::id::PlanHash;
use edgewise_core::{Error, Result};
use edgewise_store::{Ledger, Position, Stream};

const PAGE: usize = 1_000;

/// What a stream holds.
#[derive(Default)]
pub(super) struct Read {
    /// All events up to the first damage.
    pub entries: Vec<Entry>,
    /// How many records there are, damaged ones included.
    pub records: u64,
    /// The first damage.
    pub damage: Option<Error>,
    /// The last seq of the last record at or before a position.
    pub seq_at: u64,
}

/// Reads a stream to its end, whatever is damaged in it.
pub(super) fn read(ledger: &mut dyn Ledger, stream: &Stream, watermark: Position) -> Result<Read> {
    let mut found = Read::default();
    let mut after = 0;
    loop {
        let page = match ledger.read(stream, after, PAGE) {
            Ok(page) => page,
            Err(error) if error.kind == edgewise_core::Kind::Corrupt => {
                found.damage.get_or_insert(error);
                return Ok(found);
            }
            Err(error) => return Err(error),
        };
        let Some(last) = page.last() else { return Ok(found) };
        // A damaged count must not make us read the same page for ever.
        after = last.record.last().max(after + 1);
        for stored in page {
            found.records += 1;
            if stored.position <= watermark {
                found.seq_at = stored.record.last();
            }
            if found.damage.is_none() {
                found.damage = take(&stored, &mut found.entries).err();
            }
        }
    }
}

fn take(stored: &edgewise_store::Stored, entries: &mut Vec<Entry>) -> Result<()> {
    stored.record.verify(&stored.stream.label())?;
    let expected = entries.len() as u64 + 1;
    if stored.record.first != expected {
        let message = format!("its ledger has no event {expected}: the next record begins at {}", stored.record.first);
        return Err(Error::corrupt("seq_gap", message));
    }
    entries.extend(Entry::of(&stored.record)?);
    Ok(())
}

/// The plan that a run is pinned to.
pub(super) fn pinned(entries: &[Entry]) -> Result<PlanHash> {
    match entries.first().map(|entry| &entry.event) {
        Some(Event::RunTriggered(event)) => Ok(event.plan),
        _ => Err(Error::corrupt("no_trigger", "its ledger does not begin with RunTriggered")),
    }
}

/// A task in words, also where its run is not whole.
pub(super) fn name_of(run: &edgewise_core::run::Run, task: TaskIx) -> String {
    run.task(task).map_or_else(|| format!("task {}", task.0), |_| format!("`{}`", run.path(task)))
}
