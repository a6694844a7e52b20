//! The fold by itself, reading a ledger back (what a refold costs without a store), and reading a flow file.

use super::load::Load;
use edgewise_core::event::{
    DispatchEnqueued, Envelope, Event, PlanCreated, RULES, Record, RunTriggered, TaskFinished, TaskIx, decode, encode,
};
use edgewise_core::flow::can_be_read;
use edgewise_core::fold::{Changes, Stamp, fold};
use edgewise_core::id::{EventId, PlanHash, RunId, TokenHash};
use edgewise_core::name::Name;
use edgewise_core::plan::Plan;
use edgewise_core::run::Run;
use edgewise_core::time::Time;
use edgewise_core::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// The events of one run of a load, in an order in which they could have happened.
fn ledger(plan: &Arc<Plan>, hash: PlanHash) -> Result<Vec<Event>> {
    let input = RawValue::from_string("null".into()).map_err(|e| Error::bug("bench_input", e.to_string()))?;
    let triggered = RunTriggered {
        flow: plan.flow.clone(),
        plan: hash,
        rules: RULES,
        input,
        by: Name::parse("bench")?,
        key: None,
        labels: Default::default(),
    };
    let mut events = vec![Event::RunTriggered(triggered), Event::PlanCreated(PlanCreated { plan: hash })];
    for task in (0..plan.root().len()).map(TaskIx) {
        let token = TokenHash(u64::from(task.0) + 1);
        events.push(Event::DispatchEnqueued(DispatchEnqueued {
            task,
            generation: 1,
            attempt: 1,
            token,
            worker: "local/engine".into(),
            lease: None,
        }));
        events.push(Event::TaskFinished(TaskFinished {
            task,
            generation: 1,
            attempt: 1,
            token,
            output: None,
            error: None,
        }));
    }
    Ok(events)
}

fn stamp(n: u64) -> Stamp {
    Stamp { id: EventId(1_000_000 + u128::from(n)), at: Time(1_000_000 + n) }
}

/// What the fold reaches by itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PureFigures {
    /// Events folded each second, nothing else.
    pub fold_per_second: f64,
    /// Events read back from records, verified and folded each second.
    pub refold_per_second: f64,
}

/// The fold takes the plan's hash on trust.
const HASH: PlanHash = PlanHash(1);

/// Reads a flow file a few times, without compiling it; the fastest, in microseconds.
pub fn read_some(file: &Path) -> Result<u128> {
    let text =
        std::fs::read_to_string(file).map_err(|e| Error::invalid("unreadable", format!("{}: {e}", file.display())))?;
    let name = file.to_string_lossy();
    let once = || {
        let clock = Instant::now();
        can_be_read(&text, &name);
        clock.elapsed().as_micros()
    };
    Ok((0..3).map(|_| once()).min().unwrap_or_default())
}

/// Folds so many events of a run of so many tasks and does nothing else: for whoever counts instructions.
pub fn fold_some(tasks: u32, events: usize) -> Result<()> {
    let plan = Arc::new(Load::layered(tasks)?);
    let all = ledger(&plan, HASH)?;
    let (mut run, mut changes) = (Run::new(RunId(1), HASH, plan), Changes::default());
    for (n, event) in all.iter().take(events).enumerate() {
        changes.clear();
        fold(&mut run, stamp(n as u64), event, &mut changes);
    }
    if run.seq as usize == events { Ok(()) } else { Err(Error::bug("bench_fold", "there were fewer events")) }
}

/// Measures both over one load.
pub fn pure(load: &Load) -> Result<PureFigures> {
    Ok(PureFigures { fold_per_second: fold_alone(load)?, refold_per_second: refold(load)? })
}

fn fold_alone(load: &Load) -> Result<f64> {
    let plan = Arc::new(load.plan()?);
    let events = ledger(&plan, HASH)?;
    let hash = HASH;
    let (mut run, mut changes) = (Run::new(RunId(1), hash, plan), Changes::default());
    let clock = Instant::now();
    for (n, event) in events.iter().enumerate() {
        changes.clear();
        fold(&mut run, stamp(n as u64), event, &mut changes);
    }
    ended(&run)?;
    Ok(events.len() as f64 / clock.elapsed().as_secs_f64())
}

/// From records of two events each, as a chain writes them.
fn refold(load: &Load) -> Result<f64> {
    let plan = Arc::new(load.plan()?);
    let (hash, _) = plan.encode();
    let events = ledger(&plan, hash)?;
    let envelope = |n: u64| Envelope { id: stamp(n).id, at: stamp(n).at, source: "engine-00000000".into() };
    let records: Vec<Record> = events
        .chunks(2)
        .enumerate()
        .map(|(n, pair)| {
            Record::new(
                "local/default/run/bench",
                n as u64 * 2 + 1,
                pair.len() as u32,
                encode(&envelope(n as u64 * 2), pair),
            )
        })
        .collect();
    let (mut run, mut changes) = (Run::new(RunId(1), hash, plan), Changes::default());
    let clock = Instant::now();
    for record in &records {
        record.verify("local/default/run/bench")?;
        let (envelope, events) = decode(record)?;
        for (n, event) in events.iter().enumerate() {
            changes.clear();
            fold(&mut run, Stamp { id: envelope.id.plus(n as u64), at: envelope.at }, event, &mut changes);
        }
    }
    ended(&run)?;
    Ok(events.len() as f64 / clock.elapsed().as_secs_f64())
}

fn ended(run: &Run) -> Result<()> {
    if run.state.is_done() { Ok(()) } else { Err(Error::bug("bench_fold", "the benchmark's run did not end")) }
}
