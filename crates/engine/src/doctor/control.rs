//! A workspace's own streams, examined. Of control: records, the fold, and its rows against both.

use super::examine::{AGAIN, Examiner};
use super::{Finding, REBUILD, RESTORE, Seen, damage, work};
use crate::desk::CachedControl;
use crate::load::{fold_control, load_control};
use edgewise_core::Result;
use edgewise_core::control::Control;
use edgewise_core::id::{EventId, RunId};
use edgewise_store::{Flush, Ledger, Projections, Stored, Stream};
use std::collections::BTreeSet;

const PAGE: usize = 1_000;

/// A control stream folded from its first event.
#[derive(Default)]
struct Folded {
    whole: Control,
    /// As it was at the seq of the rows.
    at_rows: Option<Control>,
    /// The last seq at or before the watermark.
    seq_at: u64,
}

impl Examiner<'_> {
    /// Records are counted and verified, and so is what they come to.
    pub(super) fn own_stream(&mut self, stream: &Stream, seen: &mut Seen) -> Result<Option<Finding>> {
        for again in 0..AGAIN {
            let mut counted = Seen::default();
            let found = match self.examine_own(stream, &mut counted) {
                Ok(found) => found,
                Err(error) => Some(damage(stream.run, error, RESTORE)?),
            };
            // An engine may be writing: what is still so when all is read again is so.
            if found.is_none() || again + 1 == AGAIN {
                seen.records += counted.records;
                seen.events += counted.events;
                return Ok(found);
            }
        }
        Ok(None)
    }

    fn examine_own(&mut self, stream: &Stream, seen: &mut Seen) -> Result<Option<Finding>> {
        if stream.run == RunId::WORK {
            return self.work_stream(stream, seen);
        }
        let rows = match self.rows.as_deref_mut().map(|rows| rows.control(stream)) {
            None => None,
            Some(Ok(rows)) => rows,
            Some(Err(error)) => return damage(stream.run, error, REBUILD).map(Some),
        };
        let applied = rows.as_ref().map_or(0, |rows| rows.applied_seq);
        let mut folded = Folded::default();
        let mut last = EventId::default();
        self.each(stream, seen, |stored, watermark| {
            if stored.position <= watermark {
                folded.seq_at = stored.record.last();
            }
            fold_control(&mut folded.whole, stored, &mut BTreeSet::new())?;
            last = folded.whole.last;
            if folded.whole.seq == applied {
                folded.at_rows = Some(folded.whole.clone());
            }
            Ok(())
        })?;
        let finding = |code, what: String, next| Some(Finding { run: Some(stream.run), code, what, next });
        let head = self.ledger.head(stream)?;
        if head.last != last {
            let what = format!("its head names event {}, its last event is {last}", head.last);
            return Ok(finding("head_differs", what, RESTORE));
        }
        if self.rows.is_none() || self.frozen.contains(&stream.run) {
            return Ok(None);
        }
        if applied < folded.seq_at {
            let what = format!("its rows are at seq {applied}, the watermark says that they are at {}", folded.seq_at);
            return Ok(finding("rows_missing", what, REBUILD));
        }
        let Some(rows) = rows else { return Ok(None) };
        match Control::from_rows(&rows) {
            Ok(loaded) if folded.at_rows.as_ref() == Some(&loaded) => Ok(None),
            Ok(_) => Ok(finding("load_differs", "its rows are not what its events come to".into(), REBUILD)),
            Err(error) => Ok(finding(error.code, error.message, REBUILD)),
        }
    }

    pub(super) fn each(
        &mut self,
        stream: &Stream,
        seen: &mut Seen,
        mut see: impl FnMut(&Stored, edgewise_store::Position) -> Result<()>,
    ) -> Result<()> {
        let mut after = 0;
        loop {
            let page = self.ledger.read(stream, after, PAGE)?;
            let Some(last) = page.last() else { return Ok(()) };
            // A damaged count must not make us read the same page for ever.
            after = last.record.last().max(after + 1);
            for stored in &page {
                seen.records += 1;
                seen.events += u64::from(stored.record.count);
                see(stored, self.watermark)?;
            }
        }
    }
}

/// Writes the rows of a workspace's own stream into projections that have none.
pub(super) fn rebuild(ledger: &mut dyn Ledger, rows: &mut dyn Projections, stream: &Stream) -> Result<Option<Finding>> {
    if stream.run == RunId::WORK {
        return work::rebuild(ledger, rows, stream);
    }
    match load_control(ledger, rows, stream) {
        Ok(loaded) => {
            let control = CachedControl::new(loaded.state, loaded.written, loaded.changed).change(stream);
            rows.flush(&Flush { control, ..Flush::default() })?;
            Ok(None)
        }
        Err(error) => {
            let Finding { what, .. } = damage(stream.run, error, RESTORE)?;
            let what = format!("it has no rows now: {what}");
            Ok(Some(Finding { run: Some(stream.run), code: "not_rebuilt", what, next: RESTORE }))
        }
    }
}
