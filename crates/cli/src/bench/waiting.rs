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
/// How often the load is measured, with and without what waits.
const ROUNDS: u32 = 5;
const STUCK: &str = "stuck";

/// What a load costs alone, and beside what waits.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
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
    let figures = Beside { waiting, start_ms, started_mb: memory_mb("VmRSS:"), ..Beside::default() };
    in_turns(load, &plan, [open(&dir.join("alone"))?, engine], figures).await
}

/// A load with a key of its own beside tasks whose key is full.
pub async fn limits(load: &Load, dir: &Path, waiting: u32) -> Result<Beside> {
    let mut plan = load.plan()?;
    let limit = Limit { key: Expr::literal("other".into()), max: Some(1_000), rate: None };
    plan.specs.iter_mut().for_each(|spec| spec.share = Share { limit: Some(limit.clone()), ..Share::default() });
    let plan = Arc::new(plan);
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
    let figures = Beside { waiting, started_mb: memory_mb("VmRSS:"), ..Beside::default() };
    let figures = in_turns(load, &plan, [open(&dir.join("alone"))?, engine], figures).await;
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

/// The load on an empty store and beside what waits, in turns: both see the same minutes of the machine.
async fn in_turns(load: &Load, plan: &Arc<Plan>, engines: [Engine; 2], figures: Beside) -> Result<Beside> {
    let workers = [stuck(load, &engines[0])?, stuck(load, &engines[1])?];
    let mut taken = [const { Vec::new() }; 2];
    for round in 0..=ROUNDS {
        for (engine, taken) in engines.iter().zip(&mut taken) {
            let one = timed(load, plan, engine).await?;
            // The first is to warm up.
            taken.extend((round > 0).then_some(one));
        }
    }
    for (worker, engine) in workers.into_iter().zip(&engines) {
        worker.stop(Duration::ZERO).await;
        engine.stop()?;
    }
    let [(alone_per_second, alone_cpu_us), (beside_per_second, beside_cpu_us)] = taken.map(medians);
    let peak_mb = memory_mb("VmHWM:");
    Ok(Beside { alone_per_second, alone_cpu_us, beside_per_second, beside_cpu_us, peak_mb, ..figures })
}

/// Tasks each second, and processor time for each of them.
async fn timed(load: &Load, plan: &Arc<Plan>, engine: &Engine) -> Result<(f64, f64)> {
    let (cpu, clock) = (cpu_time(), Instant::now());
    once(load, plan, engine).await?;
    let tasks = f64::from(load.runs) * f64::from(load.tasks);
    let cpu = cpu_time().saturating_sub(cpu).as_secs_f64() * 1e6 / tasks;
    Ok((tasks / clock.elapsed().as_secs_f64(), cpu))
}

fn medians(mut taken: Vec<(f64, f64)>) -> (f64, f64) {
    let half = taken.len() / 2;
    taken.sort_by(|a, b| a.0.total_cmp(&b.0));
    let rate = taken[half].0;
    taken.sort_by(|a, b| a.1.total_cmp(&b.1));
    (rate, taken[half].1)
}
