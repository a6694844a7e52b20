//! The workspace's control on the desk: staged in the same batch as the events of runs, undone with them.
//!
//! It is cached like a run: the folded state, what of it is durable, what of it is not yet in the rows. The guard of
//! its stream makes sure that a tick of a schedule is decided by one engine: whoever comes second conflicts,
//! loads what the first one wrote, and decides again.

use super::Desk;
use super::own::stage;
use crate::load::load_control;
use crate::queues::queue_of;
use edgewise_core::control::{Control, ControlEvent, Key, check, fold};
use edgewise_core::event::Envelope;
use edgewise_core::fold::{Ignored, Stamp};
use edgewise_core::id::{EventId, RunId};
use edgewise_core::time::Time;
use edgewise_core::{Error, Kind, Result};
use edgewise_store::{Append, ControlChange, Stream};
use std::collections::BTreeSet;

/// Control, and what of it is where.
#[derive(Default)]
pub(crate) struct CachedControl {
    /// What its events have come to.
    pub state: Control,
    /// Whether that is what the ledger says, but for `events`.
    pub loaded: bool,
    /// The seq up to which the ledger has it.
    pub durable: u64,
    /// The seq its rows are at, once what is under way is written.
    pub written: u64,
    /// What the rows do not have yet.
    pub dirty: BTreeSet<Key>,
    /// Events folded but not yet appended, and the id of the first.
    events: Vec<ControlEvent>,
    first_id: EventId,
}

impl CachedControl {
    /// Just as it was loaded.
    pub fn new(state: Control, written: u64, dirty: BTreeSet<Key>) -> Self {
        let durable = state.seq;
        Self { state, loaded: true, durable, written, dirty, ..Self::default() }
    }

    /// Whether something of it is not in the ledger yet.
    pub fn is_staged(&self) -> bool {
        !self.events.is_empty()
    }

    /// Adds what is staged to a batch.
    pub fn stage(&self, stream: &Stream, (at, source): (Time, &str), batch: &mut Append) {
        let envelope = Envelope { id: self.first_id, at, source: source.into() };
        stage(batch, stream, &envelope, &self.events, (self.durable, self.state.last));
    }

    /// What must be written for the rows to catch up.
    pub fn change(&mut self, stream: &Stream) -> Option<ControlChange> {
        if !self.loaded || self.written == self.state.seq {
            return None;
        }
        debug_assert!(self.events.is_empty() && self.durable == self.state.seq, "rows of what is not durable");
        let dirty = std::mem::take(&mut self.dirty);
        let (mut rows, mut gone) = (Vec::new(), Vec::new());
        for key in dirty {
            match self.state.row(&key) {
                Some(row) => rows.push(row),
                None => gone.push(key),
            }
        }
        let from_seq = std::mem::replace(&mut self.written, self.state.seq);
        let (applied_seq, version) = (self.state.seq, self.state.last);
        Some(ControlChange { stream: stream.clone(), from_seq, applied_seq, version, rows, gone })
    }
}

impl Desk {
    /// What the workspace is set to, loaded if it is not here. Refused if it is frozen.
    pub fn control(&mut self) -> Result<&Control> {
        if let Some(reason) = self.frozen.get(&RunId::CONTROL) {
            let message =
                format!("flows, schedules and settings are frozen: {reason}. Look with `edgewise doctor --verify`");
            return Err(Error::conflict("control_frozen", message));
        }
        if !self.control.loaded {
            self.load_control()?;
        }
        Ok(&self.control.state)
    }

    fn load_control(&mut self) -> Result<()> {
        let stream = self.home.stream(RunId::CONTROL);
        let loaded = load_control(&mut *self.ledger, &mut *self.projections, &stream);
        let loaded = match loaded {
            Err(error) if error.kind == Kind::Corrupt => {
                self.freeze(RunId::CONTROL, &error.message)?;
                return Err(error);
            }
            other => other?,
        };
        let cached = CachedControl::new(loaded.state, loaded.written, loaded.changed);
        if cached.written < cached.state.seq {
            self.dirty.insert(RunId::CONTROL);
        }
        let old = std::mem::replace(&mut self.control, cached).state;
        self.reindex(&old);
        self.settle_queues(&old);
        Ok(())
    }

    /// Hints about every schedule that is not as it was.
    fn reindex(&mut self, old: &Control) {
        let schedules = &self.control.state.schedules;
        for name in old.schedules.keys().filter(|name| !schedules.contains_key(*name)) {
            self.ticks.forget(name);
        }
        for (name, entry) in schedules.iter().filter(|(name, entry)| old.schedules.get(*name) != Some(*entry)) {
            self.ticks.index(name, entry);
        }
    }

    /// Forgets control, so that it is loaded anew.
    pub(super) fn forget_control(&mut self) {
        self.control.loaded = false;
        self.control.events.clear();
        self.dirty.remove(&RunId::CONTROL);
    }

    /// Decides an event of control, folds it, and keeps it for the append.
    pub fn record_control(&mut self, event: ControlEvent) -> std::result::Result<(), Ignored> {
        let control = &mut self.control;
        if !control.loaded || self.frozen.contains_key(&RunId::CONTROL) {
            return Err(Ignored::Unknown);
        }
        check(&control.state, &event)?;
        if control.events.is_empty() {
            control.first_id = EventId::mint(self.now, self.entropy.bits(), control.state.last);
        }
        let stamp = Stamp { id: control.first_id.plus(control.events.len() as u64), at: self.now };
        fold(&mut control.state, stamp, &event, &mut control.dirty)?;
        let (name, over) = match &event {
            ControlEvent::ScheduleSet(event) => (Some(&event.name), &[][..]),
            ControlEvent::ScheduleFired(event) => (Some(&event.name), event.over.as_slice()),
            _ => (None, &[][..]),
        };
        over.iter().for_each(|run| self.ticks.settled(*run));
        if let Some(name) = name {
            match control.state.schedules.get(name) {
                Some(entry) => self.ticks.index(name, entry),
                None => self.ticks.forget(name),
            }
        }
        let queue = match &event {
            ControlEvent::SettingChanged(event) => queue_of(&event.key),
            _ => None,
        };
        control.events.push(event);
        queue.iter().for_each(|queue| self.settle_queue(queue));
        Ok(())
    }

    /// What the workspace is set to at the ledger's tail: for whoever may be refused, which no guard would notice.
    /// Where something is staged already, the guard of that tells.
    pub fn newest_control(&mut self) -> Result<&Control> {
        self.control()?;
        let stream = self.home.stream(RunId::CONTROL);
        if !self.control.is_staged() && self.ledger.head(&stream)?.seq != self.control.durable {
            self.forget_control();
        }
        self.control()
    }

    /// What was staged of control is durable.
    pub fn control_durable(&mut self) {
        if self.control.is_staged() {
            self.control.durable = self.control.state.seq;
            self.control.events.clear();
            self.dirty.insert(RunId::CONTROL);
        }
    }
}
