//! A workspace's control as the ledger tells it, and what each of its events must be allowed to do.

use super::{Witness, unreadable};
use crate::cover::Cover;
use crate::driver::home;
use crate::violation::{Held, ensure};
use edgewise_core::control::{Control, ControlEvent, fold};
use edgewise_core::event::decode_events;
use edgewise_core::fold::Stamp;
use edgewise_core::id::RunId;
use edgewise_core::time::Time;
use edgewise_store::{Position, Stored};
use std::collections::BTreeSet;

/// Control as its events make it.
#[derive(Default)]
pub struct ControlBook {
    /// What they come to.
    pub state: Control,
    /// Where its records stand, and the seq each comes to.
    places: Vec<(Position, u64)>,
}

impl ControlBook {
    /// Folds a record that was written at an instant of the writer's clock.
    pub(super) fn record(&mut self, now: Time, stored: &Stored, cover: &mut Cover) -> Held {
        let (envelope, events) = decode_events::<ControlEvent>(&stored.record).map_err(|e| unreadable(&e))?;
        let dense = stored.record.first == self.state.seq + 1;
        ensure(dense, "seq_is_dense", || format!("control has no event {}", self.state.seq + 1))?;
        ensure(envelope.at == now, "events_have_their_time", || format!("control of {} at {now}", envelope.at))?;
        for (n, event) in (0..).zip(&events) {
            cover.count("event", event.name());
            let stamp = Stamp { id: envelope.id.plus(n), at: envelope.at };
            let counted = fold(&mut self.state, stamp, event, &mut BTreeSet::new());
            ensure(counted.is_ok(), "what_is_written_counts", || format!("{event:?}: {counted:?}"))?;
        }
        self.places.push((stored.position, stored.record.last()));
        Ok(())
    }
}

impl Witness {
    /// Rows plus tail are what all events make.
    pub(super) fn compare_control(&mut self) -> Held {
        let loaded = self.reader.control().map_err(|e| unreadable(&e))?;
        ensure(loaded == self.control.state, "load_equals_fold", || "rows plus tail of control are not control".into())
    }

    /// What is before the watermark is in the rows.
    pub(super) fn control_reaches(&mut self, watermark: Position) -> Held {
        let rows = self.rows.control(&home().stream(RunId::CONTROL)).map_err(|e| unreadable(&e))?;
        let has = rows.map_or(0, |rows| rows.applied_seq);
        let before = self.control.places.iter().rev().find(|(at, _)| *at <= watermark).map_or(0, |(_, seq)| *seq);
        let said = || format!("rows of control are at {has}, the watermark says {before}");
        ensure(has >= before, "rows_reach_their_watermark", said)
    }
}
