//! Ten thousand schedules: how late their ticks are decided, by the ledger's own word.

use super::load::NOOP;
use super::measure::{handlers, open};
use edgewise_core::control::{ControlEvent, Outcome};
use edgewise_core::event::decode_events;
use edgewise_core::id::RunId;
use edgewise_core::name::Name;
use edgewise_core::schedule::{Overlap, Schedule, When};
use edgewise_core::time::{Millis, Time};
use edgewise_core::{Error, Result};
use edgewise_engine::Home;
use edgewise_engine::command::{Command, Register};
use edgewise_engine::engine::wall_clock;
use edgewise_engine::worker::Worker;
use edgewise_store::{Ledger, sqlite};
use serde::Serialize;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How many schedules there are, and how often each ticks.
const SCHEDULES: u64 = 10_000;
const EVERY: Millis = Millis(60_000);
/// How long is measured, after a start of so long; less where all of them tick at once.
const LASTS: [Duration; 2] = [Duration::from_secs(60), Duration::from_secs(30)];
const FIRST: Millis = Millis(2_000);

/// What was measured of schedules.
#[derive(Debug, Clone, Serialize)]
pub struct ScheduleFigures {
    /// How many schedules there were.
    pub schedules: u64,
    /// How many ticks became runs.
    pub ticks: usize,
    /// How late a tick is decided, half of them less, in milliseconds.
    pub late_p50_ms: u64,
    /// How late a tick is decided, 99 of 100 less, in milliseconds.
    pub late_p99_ms: u64,
    /// How late the latest was.
    pub late_most_ms: u64,
}

/// Lets schedules tick, on a fresh store in a folder: spread over a minute for a minute, or all of them at one instant.
pub async fn schedules(dir: &Path, at_once: bool) -> Result<ScheduleFigures> {
    let text = format!("{{ flow: bench, tasks: {{ a: {{ action: {NOOP} }} }} }}");
    let compiled = edgewise_core::flow::compile(&text, "bench.yaml");
    let plan = compiled.map_err(|problems| Error::bug("bench_flow", problems.to_string()))?.plan;
    let (flow, engine) = (plan.flow.clone(), open(dir)?);
    let starts = Arc::new(Mutex::new(Vec::new()));
    let worker = Worker {
        handlers: handlers(&starts, false)?,
        commands: None,
        http: None,
        secrets: Default::default(),
        slots: 16,
    }
    .start(&engine);
    let begin = wall_clock().plus(FIRST);
    let spread = |n: u64| -> Result<(Name, Schedule)> {
        let from = Time(begin.0 + if at_once { 0 } else { n * EVERY.0 / SCHEDULES });
        let schedule = Schedule::new(flow.clone(), When::Every { span: EVERY, from });
        Ok((Name::parse(&format!("bench/{n}"))?, Schedule { declared: true, overlap: Overlap::Skip, ..schedule }))
    };
    let all = (0..SCHEDULES).map(spread).collect::<Result<_>>()?;
    engine
        .ask(Command::Register(Register {
            plan: Arc::new(plan),
            children: Vec::new(),
            schedules: all,
            hook: None,
            by: Name::parse("bench")?,
        }))
        .await?;
    tokio::time::sleep(LASTS[usize::from(at_once)]).await;
    worker.stop(Duration::ZERO).await;
    engine.stop()?;
    lateness(dir)
}

/// What the control stream says of each tick.
fn lateness(dir: &Path) -> Result<ScheduleFigures> {
    let mut ledger = sqlite::open_ledger_reader(dir)?;
    let mut late = Vec::new();
    for stored in ledger.read(&Home::local().stream(RunId::CONTROL), 0, usize::MAX)? {
        let (envelope, events) = decode_events::<ControlEvent>(&stored.record)?;
        late.extend(events.iter().filter_map(|event| match event {
            ControlEvent::ScheduleFired(fired) if matches!(fired.outcome, Outcome::Started(_)) => {
                Some(envelope.at.since(fired.due).0)
            }
            _ => None,
        }));
    }
    late.sort_unstable();
    let at = |share: usize| late.get(late.len() * share / 100).or(late.last()).copied().unwrap_or_default();
    let late_most_ms = late.last().copied().unwrap_or_default();
    let (late_p50_ms, late_p99_ms) = (at(50), at(99));
    Ok(ScheduleFigures { schedules: SCHEDULES, ticks: late.len(), late_p50_ms, late_p99_ms, late_most_ms })
}
