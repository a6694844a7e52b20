//! One load, measured: from the first start to the last end, acknowledged durably, rows included.

use super::load::{Load, NOOP};
use edgewise_core::name::Name;
use edgewise_core::plan::Plan;
use edgewise_core::state::RunState;
use edgewise_core::{Error, Result};
use edgewise_engine::Home;
use edgewise_engine::command::Start;
use edgewise_engine::engine::{Engine, Parts, wall_clock};
use edgewise_engine::entropy::Entropy;
use edgewise_engine::handler::Handlers;
use edgewise_engine::metrics::Counts;
use edgewise_engine::publish::Telling;
use edgewise_engine::queues::Queues;
use edgewise_engine::worker::Worker;
use edgewise_store::sqlite;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How many syncs the disk is measured by.
const SYNCS: usize = 200;

/// What was measured of a load.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Figures {
    /// Tasks done each second.
    pub tasks_per_second: f64,
    /// Processor time for each task, in microseconds, until all rows are written.
    pub cpu_us_per_task: f64,
    /// From one task to the next, half of them took less, in milliseconds.
    pub step_p50_ms: f64,
    /// From one task to the next, 99 of 100 took less, in milliseconds.
    pub step_p99_ms: f64,
    /// Writing and syncing one page of a file on the same disk in the same minute, half took less, in milliseconds.
    pub sync_p50_ms: f64,
    /// Events in each commit.
    pub events_per_commit: f64,
    /// Commits for each task.
    pub commits_per_task: f64,
    /// Rows written for each task.
    pub rows_per_task: f64,
    /// Bytes of records for each event.
    pub bytes_per_event: f64,
    /// Most memory this process had, in MB.
    pub peak_mb: f64,
    /// Memory of an engine that has nothing to do, in MB.
    pub idle_mb: f64,
}

/// Runs a load on a fresh store in a folder, once to warm up and once to measure.
pub async fn measure(load: &Load, dir: &Path) -> Result<Figures> {
    let (idle_mb, sync_p50_ms) = (idle_mb(&dir.join("idle"))?, sync_p50_ms(&dir.join("page"))?);
    let plan = Arc::new(load.plan()?);
    let (engine, starts) = (open(dir)?, Arc::new(Mutex::new(Vec::<Instant>::new())));
    let worker = Worker {
        handlers: handlers(&starts, load.slots == 1)?,
        commands: None,
        http: None,
        secrets: Default::default(),
        slots: load.slots,
    }
    .start(&engine);
    if load.warms_up() {
        // The log has its size then and is used again, as in an engine that has been at work for a while.
        once(load, &plan, &engine).await?;
        starts.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
    let (cpu, clock, before) = (cpu_time(), Instant::now(), engine.counts().await?);
    once(load, &plan, &engine).await?;
    let elapsed = clock.elapsed();
    worker.stop(Duration::ZERO).await;
    let after = engine.stop()?;
    // The last rows are written by now: a short load leaves more of its share to the end than a long one does.
    let cpu = cpu_time().saturating_sub(cpu);
    let starts = starts.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(Figures { idle_mb, sync_p50_ms, ..figures(load, elapsed, cpu, difference(before, after), &starts) })
}

/// Starts all runs of a load at once and waits for the last to end.
pub(super) async fn once(load: &Load, plan: &Arc<Plan>, engine: &Engine) -> Result<()> {
    let mut runs = tokio::task::JoinSet::new();
    for _ in 0..load.runs {
        let (engine, start) = (engine.clone(), start_of(plan)?);
        runs.spawn(async move {
            let (run, _) = engine.start_run(start).await?;
            engine.wait(run).await
        });
    }
    while let Some(ended) = runs.join_next().await {
        let state = ended.map_err(|e| Error::bug("bench_panic", e.to_string()))??;
        if state != RunState::Complete {
            return Err(Error::bug("bench_failed", format!("a run of the benchmark ended as {state:?}")));
        }
    }
    Ok(())
}

pub(super) fn open(dir: &Path) -> Result<Engine> {
    Engine::start(parts(dir)?)
}

/// One that publishes domain events, as a server's does.
pub(super) fn open_telling(dir: &Path) -> Result<Engine> {
    let parts = parts(dir)?;
    let telling =
        Telling { news: Box::new(sqlite::open_ledger_reader(dir)?), queues: Box::new(sqlite::open_ledger(dir)?) };
    Engine::start_telling(parts, Default::default(), Some(telling))
}

fn parts(dir: &Path) -> Result<Parts> {
    let stores = sqlite::open(dir)?;
    let reader = sqlite::open_reader(dir)?.projections;
    Ok(Parts {
        ledger: Box::new(stores.ledger),
        reader: Box::new(reader),
        writer: Box::new(stores.projections),
        home: Home { tenant: Name::parse("local")?, workspace: Name::parse("default")? },
        clock: Arc::new(wall_clock),
        entropy: Entropy::from_system()?,
        queues: Queues::new(),
    })
}

pub(super) fn handlers(starts: &Arc<Mutex<Vec<Instant>>>, timed: bool) -> Result<Handlers> {
    let starts = Arc::clone(starts);
    Ok(Handlers::default().on(Name::parse(NOOP)?, move |_| {
        if timed {
            starts.lock().unwrap_or_else(PoisonError::into_inner).push(Instant::now());
        }
        async { Ok(Value::Null) }
    }))
}

pub(super) fn start_of(plan: &Arc<Plan>) -> Result<Start> {
    let input = RawValue::from_string("null".into()).map_err(|e| Error::bug("bench_input", e.to_string()))?;
    Ok(Start {
        plan: Arc::clone(plan),
        children: Vec::new(),
        input,
        by: Name::parse("bench")?,
        key: None,
        labels: Default::default(),
    })
}

fn difference(before: Counts, after: Counts) -> Counts {
    Counts {
        commits: after.commits - before.commits,
        events: after.events - before.events,
        bytes: after.bytes - before.bytes,
        leases: after.leases - before.leases,
        flushes: after.flushes - before.flushes,
        task_rows: after.task_rows - before.task_rows,
        loads: after.loads - before.loads,
        looks: after.looks - before.looks,
    }
}

fn figures(load: &Load, elapsed: Duration, cpu: Duration, counts: Counts, starts: &[Instant]) -> Figures {
    let tasks = f64::from(load.runs) * f64::from(load.tasks);
    let mut steps: Vec<f64> = starts.windows(2).map(|w| (w[1] - w[0]).as_secs_f64() * 1e3).collect();
    steps.sort_by(f64::total_cmp);
    let at = |share: f64| steps.get((steps.len() as f64 * share) as usize).copied().unwrap_or_default();
    let (commits, events) = (counts.commits.max(1) as f64, counts.events.max(1) as f64);
    Figures {
        tasks_per_second: tasks / elapsed.as_secs_f64(),
        cpu_us_per_task: cpu.as_secs_f64() * 1e6 / tasks,
        step_p50_ms: at(0.5),
        step_p99_ms: at(0.99),
        sync_p50_ms: 0.0,
        events_per_commit: events / commits,
        commits_per_task: commits / tasks,
        rows_per_task: counts.task_rows as f64 / tasks,
        bytes_per_event: counts.bytes as f64 / events,
        peak_mb: memory_mb("VmHWM:"),
        idle_mb: 0.0,
    }
}

/// Processor time of all threads so far.
pub fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or_default())
}

/// What the disk takes for a page that is already there: the least that a durable step can cost.
fn sync_p50_ms(file: &Path) -> Result<f64> {
    let failed = |e: std::io::Error| Error::unavailable("bench_disk", "the disk could not be measured").with_source(e);
    let page = [7u8; 4096];
    let file = std::fs::File::create(file).map_err(failed)?;
    let mut times = Vec::with_capacity(SYNCS);
    for n in 0..2 * SYNCS as u64 {
        let clock = Instant::now();
        file.write_all_at(&page, n % SYNCS as u64 * 4096).and_then(|()| file.sync_data()).map_err(failed)?;
        // The first round makes the file grow, which a log that is used again does not.
        if n >= SYNCS as u64 {
            times.push(clock.elapsed().as_secs_f64() * 1e3);
        }
    }
    times.sort_by(f64::total_cmp);
    Ok(times[SYNCS / 2])
}

/// Memory of an engine over an empty store, once it has started.
pub fn idle_mb(dir: &Path) -> Result<f64> {
    let engine = open(dir)?;
    let memory = memory_mb("VmRSS:");
    engine.stop()?;
    Ok(memory)
}

/// What the system says of this process's memory; zero where it does not.
pub(super) fn memory_mb(what: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix(what)).unwrap_or_default();
    line.trim().trim_end_matches(" kB").trim().parse::<f64>().unwrap_or_default() / 1024.0
}
