//! What waits must cost those nothing that do not: a load beside a backlog, and beside a key that is full.

use super::load::{Load, NOOP};
use super::measure::{cpu_time, handlers, memory_mb, once, open, start_of};
use edgewise_core::expr::Expr;
use edgewise_core::flow::compile;
use edgewise_core::name::Name;
use edgewise_core::plan::{Limit, Plan, Share};
use edgewise_core::{Error, Result};
use edgewise_engine::engine::Engine;
use edgewise_engine::worker::{Worker, Working};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Runs that wait in the backlog.
pub const BACKLOG: u32 = 500_000;
/// Tasks that wait for the full key.
pub const ASIDE: u32 = 100_000;
/// Starts that are under way at once while the backlog is made.
const STARTING: usize = 4_000;
const STUCK: &str = "stuck";

/// What a load costs alone, and beside what waits.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Beside {
    /// What waits.
    pub waiting: u32,
    /// Tasks done each second on an empty store.
    pub alone_per_second: f64,
    /// Tasks done each second beside what waits.
    pub beside_per_second: f64,
    /// Processor time for each task on an empty store, in microseconds.
    pub alone_cpu_us: f64,
    /// Processor time for each task beside what waits, in microseconds.
    pub beside_cpu_us: f64,
    /// How long an engine takes to start over what waits, in milliseconds.
    pub start_ms: f64,
    /// Memory of that engine before the load, in MB.
    pub started_mb: f64,
    /// Most memory this process ever had, in MB.
    pub peak_mb: f64,
}

/// A load beside runs that wait: for a worker that does not come, for a person, for an instant.
pub async fn backlog(load: &Load, dir: &Path, waiting: u32) -> Result<Beside> {
    let plan = Arc::new(load.plan()?);
    let alone = alone(load, &plan, &dir.join("alone")).await?;
    let full = dir.join("full");
    let engine = open(&full)?;
    let texts = [
        "{ flow: nobody, tasks: { a: { action: nobody } } }",
        "{ flow: person, tasks: { a: { gate: { approval: { count: 1 } } } } }",
        "{ flow: instant, tasks: { a: { gate: { timer: 9d } } } }",
    ];
    let plans: Vec<Arc<Plan>> = texts.iter().map(|text| flow(text)).collect::<Result<_>>()?;
    let mut starts = tokio::task::JoinSet::new();
    for n in 0..waiting {
        let (engine, start) = (engine.clone(), start_of(&plans[n as usize % plans.len()])?);
        starts.spawn(async move { engine.start_run(start).await });
        if starts.len() >= STARTING {
            starts.join_next().await;
        }
    }
    while let Some(started) = starts.join_next().await {
        started.map_err(|e| Error::bug("bench_panic", e.to_string()))??;
    }
    engine.stop()?;
    let clock = Instant::now();
    let engine = open(&full)?;
    let start_ms = clock.elapsed().as_secs_f64() * 1e3;
    beside(load, &plan, engine, (alone, waiting, start_ms)).await
}

/// A load with a key of its own beside tasks whose key is full.
pub async fn limits(load: &Load, dir: &Path, waiting: u32) -> Result<Beside> {
    let mut plan = load.plan()?;
    let limit = Limit { key: Expr::literal("other".into()), max: Some(1_000), rate: None };
    plan.specs.iter_mut().for_each(|spec| spec.share = Share { limit: Some(limit.clone()), ..Share::default() });
    let plan = Arc::new(plan);
    let alone = alone(load, &plan, &dir.join("alone")).await?;
    let engine = open(&dir.join("full"))?;
    let of = |action: &str, items: u32| {
        let text = format!(
            "{{ flow: full, tasks: {{ a: {{ each: range({items}), action: {action}, limit: {{ key: '\"full\"', max: 1 }} }} }} }}"
        );
        flow(&text)
    };
    let worker = stuck(load, &engine)?;
    engine.start_run(start_of(&of(STUCK, 1)?)?).await?;
    engine.start_run(start_of(&of(NOOP, waiting)?)?).await?;
    // A large spread is made over several commits: what is measured begins when all of it is set aside and written.
    while engine.counts().await?.looks < u64::from(waiting) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    let figures = beside(load, &plan, engine, (alone, waiting, 0.0)).await;
    worker.stop(Duration::ZERO).await;
    figures
}

/// A worker that never comes back from what it is given.
fn stuck(load: &Load, engine: &Engine) -> Result<Working> {
    let starts = Arc::new(Mutex::new(Vec::new()));
    let handlers = handlers(&starts, false)?.on(Name::parse(STUCK)?, |_| std::future::pending());
    Ok(Worker { handlers, commands: None, http: None, secrets: Default::default(), slots: load.slots }.start(engine))
}

fn flow(text: &str) -> Result<Arc<Plan>> {
    let compiled = compile(text, "bench.yaml").map_err(|problems| Error::bug("bench_plan", problems.to_string()))?;
    Ok(Arc::new(compiled.plan))
}

async fn alone(load: &Load, plan: &Arc<Plan>, dir: &Path) -> Result<(f64, f64)> {
    let engine = open(dir)?;
    let worker = stuck(load, &engine)?;
    let figures = twice(load, plan, &engine).await?;
    worker.stop(Duration::ZERO).await;
    engine.stop()?;
    Ok(figures)
}

async fn beside(
    load: &Load,
    plan: &Arc<Plan>,
    engine: Engine,
    (alone, waiting, start_ms): ((f64, f64), u32, f64),
) -> Result<Beside> {
    let started_mb = memory_mb("VmRSS:");
    let worker = stuck(load, &engine)?;
    let (beside_per_second, beside_cpu_us) = twice(load, plan, &engine).await?;
    worker.stop(Duration::ZERO).await;
    engine.stop()?;
    let ((alone_per_second, alone_cpu_us), peak_mb) = (alone, memory_mb("VmHWM:"));
    Ok(Beside {
        waiting,
        alone_per_second,
        beside_per_second,
        alone_cpu_us,
        beside_cpu_us,
        start_ms,
        started_mb,
        peak_mb,
    })
}

/// Once to warm up, once to measure: tasks each second, and processor time for each of them.
async fn twice(load: &Load, plan: &Arc<Plan>, engine: &Engine) -> Result<(f64, f64)> {
    once(load, plan, engine).await?;
    let (cpu, clock) = (cpu_time(), Instant::now());
    once(load, plan, engine).await?;
    let tasks = f64::from(load.runs) * f64::from(load.tasks);
    let cpu = cpu_time().saturating_sub(cpu).as_secs_f64() * 1e6 / tasks;
    Ok((tasks / clock.elapsed().as_secs_f64(), cpu))
}
