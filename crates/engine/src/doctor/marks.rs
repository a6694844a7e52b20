//! Marks: a run is marked frozen exactly if its last freeze says so, or if it is damaged.
//!
//! Mark and event are one append, so that one without the other is a fault, but for a mark that an engine set because
//! it could not read the run: then the run is damaged, or was not when it was looked at again.

use super::examine::{AGAIN, Examiner};
use super::read::read;
use super::{Finding, REPORT};
use edgewise_core::Result;
use edgewise_core::event::Event;
use edgewise_core::history::{Entry, Stream as History};
use edgewise_core::run::Asked;
use edgewise_store::{Ledger, Stream};

/// What to do about a mark that nothing speaks for any more.
const UNFREEZE: &str = "edgewise unfreeze RUN lets it go on; its history says so then";

/// Who froze a run, read off the end of its stream alone: behind such an event there is none until it goes on.
pub fn frozen_by(ledger: &mut dyn Ledger, stream: &Stream) -> Result<Option<Asked>> {
    let end = ledger.head(stream)?.seq.saturating_sub(1);
    let last = ledger.read(stream, end, 1)?.pop().filter(|stored| stored.record.verify(&stream.label()).is_ok());
    let entry = last.and_then(|stored| Entry::of(&stored.record).ok()?.pop());
    Ok(entry.and_then(|entry| match entry.event {
        Event::RunFrozen(request) => Some(Asked { by: request.by, why: request.why, at: entry.stamp.at }),
        _ => None,
    }))
}

impl Examiner<'_> {
    /// Whether the mark of a run that is not damaged fits its events. Read again before it is said: an engine may be at
    /// work between two reads.
    pub(super) fn mark(&mut self, stream: &Stream, history: &History<'_>) -> Result<Option<Finding>> {
        let finding = |code, what, next| Ok(Some(Finding { run: Some(stream.run), code, what, next }));
        if let Some(entry) = written_while_frozen(history.entries) {
            let what = format!("{} at seq {} was written while it was frozen", entry.event.name(), entry.seq);
            return finding("frozen_runs_rest", what, REPORT);
        }
        let mut frozen = is_frozen(history.entries);
        for again in 0..=AGAIN {
            let mark = self.ledger.mark(stream)?;
            match mark {
                mark if mark.is_some() == frozen => return Ok(None),
                _ if again < AGAIN => frozen = is_frozen(&read(self.ledger, stream, self.watermark)?.entries),
                Some(reason) => {
                    let what = format!("it is marked frozen, no event says so, and nothing of it is damaged: {reason}");
                    return finding("mark_without_event", what, UNFREEZE);
                }
                None => {
                    let what = "an event says that it is frozen, and it has no mark".to_owned();
                    return finding("event_without_mark", what, REPORT);
                }
            }
        }
        Ok(None)
    }
}

fn is_frozen(entries: &[Entry]) -> bool {
    let said = entries.iter().rev().map(|entry| &entry.event);
    let mut said = said.filter(|event| matches!(event, Event::RunFrozen(_) | Event::RunUnfrozen(_)));
    matches!(said.next(), Some(Event::RunFrozen(_)))
}

fn written_while_frozen(entries: &[Entry]) -> Option<&Entry> {
    let mut frozen = false;
    entries.iter().find(|entry| match entry.event {
        Event::RunUnfrozen(_) => {
            frozen = false;
            false
        }
        _ if frozen => true,
        Event::RunFrozen(_) => {
            frozen = true;
            false
        }
        _ => false,
    })
}
