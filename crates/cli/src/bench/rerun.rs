//! A rerun from failure: how long it takes from the request to its answer, which is durable then. The work itself is not
//! counted.

use super::load::{Load, NOOP};
use super::measure::{open, start_of};
use edgewise_core::event::Failure;
use edgewise_core::id::RunId;
use edgewise_core::name::Name;
use edgewise_core::{Error, Result};
use edgewise_engine::command::{Answer, Claim, Command, Finish, Grant, Rerun, RerunOf};
use edgewise_engine::engine::Engine;
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// The load that is rerun, and how many tasks of it fail.
const LOAD: &str = "w2";
const TASKS: u32 = 10_000;
const FAILED: [u32; 2] = [10_000, 2];
/// Leases that are claimed at once.
const CLAIMED: u32 = 1_000;

/// What was measured of reruns.
#[derive(Debug, Clone, Serialize)]
pub struct RerunFigures {
    /// How many tasks the run has.
    pub tasks: u32,
    /// How many of them failed, and were opened again.
    pub failed: u32,
    /// How long an engine takes that has just done the run, in milliseconds.
    pub warm_ms: f64,
    /// How long an engine takes that has just started, in milliseconds.
    pub cold_ms: f64,
}

/// Reruns a run of which all tasks failed, and one of which few did.
pub async fn rerun(dir: &Path) -> Result<Vec<RerunFigures>> {
    let mut all = Vec::new();
    for failed in FAILED {
        all.push(rerun_of(&dir.join(format!("failed-{failed}")), failed).await?);
    }
    Ok(all)
}

async fn rerun_of(dir: &Path, failed: u32) -> Result<RerunFigures> {
    let load = Load::find(LOAD).ok_or_else(|| Error::bug("bench_flow", format!("there is no load {LOAD}")))?;
    let engine = open(dir)?;
    let run = match engine.ask(Command::Start(start_of(&Arc::new(load.plan()?))?)).await? {
        Answer::Started { run, .. } => run,
        other => return Err(unexpected(&other)),
    };
    work_off(&engine, TASKS, |nth| nth.is_multiple_of(TASKS / failed)).await?;
    let warm_ms = timed(&engine, run, failed).await?;
    work_off(&engine, failed, |_| true).await?;
    engine.ask(Command::Wait(run)).await?;
    engine.stop()?;
    let engine = open(dir)?;
    let cold_ms = timed(&engine, run, failed).await?;
    engine.stop()?;
    Ok(RerunFigures { tasks: TASKS, failed, warm_ms, cold_ms })
}

/// From the request to its answer.
async fn timed(engine: &Engine, run: RunId, failed: u32) -> Result<f64> {
    engine.ask(Command::Wait(run)).await?;
    let asked = Rerun { run, from: RerunOf::Failure, by: Name::parse("bench")?, why: None };
    let begun = Instant::now();
    let answer = engine.ask(Command::Rerun(asked)).await?;
    let took = begun.elapsed();
    match answer {
        Answer::Reopened(opened) if opened >= failed => Ok(took.as_secs_f64() * 1_000.0),
        other => Err(unexpected(&other)),
    }
}

/// Does so many tasks; some of them fail.
async fn work_off(engine: &Engine, tasks: u32, fails: impl Fn(u32) -> bool) -> Result<()> {
    let mut done = 0;
    while done < tasks {
        let actions = Arc::from([Name::parse(NOOP)?]);
        let max = CLAIMED.min(tasks - done);
        let claim = Claim { worker: "bench".into(), actions, queues: None, max, lease: None };
        let grants = match engine.ask(Command::Claim(claim)).await? {
            Answer::Granted { grants, .. } => grants,
            other => return Err(unexpected(&other)),
        };
        let report = |(grant, nth): (Grant, u32)| {
            let failure = Failure::permanent("bench", "on purpose");
            Finish { lease: grant.lease, outcome: if fails(nth) { Err(failure) } else { Ok(None) } }
        };
        let reports: Vec<Finish> = grants.into_iter().zip(done..).map(report).collect();
        done += reports.len() as u32;
        engine.ask(Command::Complete(reports.into())).await?;
    }
    Ok(())
}

fn unexpected(answer: &Answer) -> Error {
    Error::bug("unexpected_answer", format!("the engine answered {answer:?}"))
}
