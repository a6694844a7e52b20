//! Loading: a run is its rows, read in one snapshot, plus the ledger's tail after them. There is no other snapshot.

use crate::cached::Cached;
use crate::command::no_such_run;
use edgewise_core::control::{self, Control, ControlEvent, Key};
use edgewise_core::event::{Event, decode, decode_events};
use edgewise_core::fold::{Changes, Stamp, Verdict, fold};
use edgewise_core::id::PlanHash;
use edgewise_core::plan::Plan;
use edgewise_core::run::Run;
use edgewise_core::work::{self, Changed, Work, WorkEvent};
use edgewise_core::{Error, Result};
use edgewise_store::quick::QuickMap;
use edgewise_store::{Ledger, Projections, Stored, Stream};
use std::collections::BTreeSet;
use std::sync::{Arc, Weak};

/// Plans in use, each decoded once.
#[derive(Default)]
pub(crate) struct Plans(QuickMap<PlanHash, Weak<Plan>>);

/// A run out of its rows and the tail after them.
pub(crate) fn load(
    ledger: &mut dyn Ledger,
    projections: &mut dyn Projections,
    stream: &Stream,
    plans: &mut Plans,
) -> Result<Cached> {
    let rows = projections.load(stream)?;
    let mut cached = match rows {
        Some(rows) => {
            let plan = plan_of(ledger, rows.run.plan, plans)?;
            Cached::from_rows(Run::from_rows(&rows.run, rows.tasks, rows.given, plan)?, stream.clone())
        }
        None => {
            let first = ledger.read(stream, 0, 1)?;
            let Some(first) = first.first() else { return Err(no_such_run(stream.run)) };
            let hash = first_plan(first)?;
            let plan = plan_of(ledger, hash, plans)?;
            Cached::new(Run::new(stream.run, hash, plan), stream.clone())
        }
    };
    let mut changes = Changes::default();
    let written = cached.run.seq;
    loop {
        let page = ledger.read(stream, cached.run.seq, 1_000)?;
        if page.is_empty() {
            // Rows outlive for a moment a run that another engine took away: without its ledger it is not there.
            if cached.run.seq == written && ledger.head(stream)?.seq == 0 {
                return Err(no_such_run(stream.run));
            }
            break;
        }
        for stored in page {
            fold_stored(&mut cached, &stored, &mut changes)?;
        }
    }
    cached.durable = cached.run.seq;
    Ok(cached)
}

/// A workspace's control as it was loaded.
pub(crate) struct LoadedControl {
    pub state: Control,
    /// The seq its rows are at.
    pub written: u64,
    /// What changed since.
    pub changed: BTreeSet<Key>,
}

/// A workspace's control out of its rows and the tail after them. One that was never written is empty.
pub(crate) fn load_control(
    ledger: &mut dyn Ledger,
    projections: &mut dyn Projections,
    stream: &Stream,
) -> Result<LoadedControl> {
    let rows = projections.control(stream)?;
    let mut state = rows.as_ref().map_or(Ok(Control::default()), Control::from_rows)?;
    let (written, mut changed) = (state.seq, BTreeSet::new());
    loop {
        let page = ledger.read(stream, state.seq, 1_000)?;
        if page.is_empty() {
            return Ok(LoadedControl { state, written, changed });
        }
        for stored in page {
            fold_control(&mut state, &stored, &mut changed)?;
        }
    }
}

/// Folds a record of a control stream.
pub(crate) fn fold_control(state: &mut Control, stored: &Stored, changed: &mut BTreeSet<Key>) -> Result<()> {
    stored.record.verify(&stored.stream.label())?;
    if stored.record.first != state.seq + 1 {
        let message = format!("{} has no event {}: its ledger is damaged", stored.stream.label(), state.seq + 1);
        return Err(Error::corrupt("seq_gap", message));
    }
    let (envelope, events) = decode_events::<ControlEvent>(&stored.record)?;
    for (n, event) in (0..).zip(&events) {
        // An event that does not count changes nothing, here as everywhere.
        let _ = control::fold(state, Stamp { id: envelope.id.plus(n), at: envelope.at }, event, changed);
    }
    Ok(())
}

/// A workspace's work graph as it was loaded.
pub(crate) struct LoadedWork {
    pub state: Work,
    /// The seq its rows are at.
    pub written: u64,
    /// What changed since.
    pub changed: Changed,
}

/// A workspace's work graph out of its rows and the tail after them. One that was never written is empty.
pub(crate) fn load_work(
    ledger: &mut dyn Ledger,
    projections: &mut dyn Projections,
    stream: &Stream,
) -> Result<LoadedWork> {
    let rows = projections.work(stream)?;
    let mut state = rows.as_ref().map_or(Ok(Work::default()), Work::from_rows)?;
    let (written, mut changed) = (state.seq, Changed::default());
    loop {
        let page = ledger.read(stream, state.seq, 1_000)?;
        if page.is_empty() {
            return Ok(LoadedWork { state, written, changed });
        }
        for stored in page {
            fold_work(&mut state, &stored, &mut changed)?;
        }
    }
}

/// Folds a record of a work stream.
pub(crate) fn fold_work(state: &mut Work, stored: &Stored, changed: &mut Changed) -> Result<()> {
    stored.record.verify(&stored.stream.label())?;
    if stored.record.first != state.seq + 1 {
        let message = format!("{} has no event {}: its ledger is damaged", stored.stream.label(), state.seq + 1);
        return Err(Error::corrupt("seq_gap", message));
    }
    let (envelope, events) = decode_events::<WorkEvent>(&stored.record)?;
    for (n, event) in (0..).zip(&events) {
        // An event that does not count changes nothing, here as everywhere.
        let _ = work::fold(state, Stamp { id: envelope.id.plus(n), at: envelope.at }, event, changed);
    }
    Ok(())
}

fn fold_stored(cached: &mut Cached, stored: &Stored, changes: &mut Changes) -> Result<()> {
    stored.record.verify(&stored.stream.label())?;
    if stored.record.first != cached.run.seq + 1 {
        let message = format!("run {} has no event {}: its ledger is damaged", stored.stream.run, cached.run.seq + 1);
        return Err(Error::corrupt("seq_gap", message));
    }
    let (envelope, events) = decode(&stored.record)?;
    for (n, event) in events.iter().enumerate() {
        let stamp = Stamp { id: envelope.id.plus(n as u64), at: envelope.at };
        changes.clear();
        if let Verdict::Overflow(task) = fold(&mut cached.run, stamp, event, changes) {
            let message = format!("`{}` has more resolved edges than edges", cached.run.path(task));
            return Err(Error::corrupt("readiness_overflow", message));
        }
        cached.note(changes);
        if let Event::DispatchEnqueued(lease) = event {
            cached.note_grant(lease, envelope.at);
        }
    }
    Ok(())
}

pub(crate) fn first_plan(first: &Stored) -> Result<PlanHash> {
    first.record.verify(&first.stream.label())?;
    match decode(&first.record)?.1.first() {
        Some(Event::RunTriggered(event)) => Ok(event.plan),
        _ => Err(Error::corrupt("no_trigger", format!("run {} does not begin with RunTriggered", first.stream.run))),
    }
}

pub(crate) fn plan_of(ledger: &mut dyn Ledger, hash: PlanHash, plans: &mut Plans) -> Result<Arc<Plan>> {
    if let Some(plan) = plans.0.get(&hash).and_then(Weak::upgrade) {
        return Ok(plan);
    }
    let bytes = ledger
        .plan(hash)?
        .ok_or_else(|| Error::corrupt("plan_missing", format!("plan {hash} is not in the ledger")))?;
    if PlanHash::of(&bytes) != hash {
        return Err(Error::corrupt("plan_damaged", format!("plan {hash} is not what was written")));
    }
    let plan = Arc::new(Plan::decode(&bytes)?);
    plans.0.retain(|_, p| p.strong_count() > 0);
    plans.0.insert(hash, Arc::downgrade(&plan));
    Ok(plan)
}
