//! The server, measured: a worker over HTTP on loopback, against a durable store, all in this process.
//!
//! Runs are started and tasks are taken and reported over HTTP; only the end of a run is seen by the engine itself, so
//! that a thousand waiting connections are no part of the figure. They are part of another: the same runs beside a crowd.

mod crowd;
mod told;

use super::load::{Load, NOOP};
use super::measure::{cpu_time, memory_mb, open_telling};
use edgewise_client::{Client, Worker, Working, wire};
use edgewise_core::id::RunId;
use edgewise_core::name::Name;
use edgewise_core::{Error, Kind, Result};
use edgewise_engine::Home;
use edgewise_engine::command::{Command, Register};
use edgewise_engine::engine::{Engine, wall_clock};
use edgewise_server::{App, Parts, Serving, serve};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashMap;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// Starts under way at once.
const STARTING: usize = 64;
/// One-task runs that are timed from request to result.
const TIMED: usize = 300;
/// How long half the load is kept up.
const HALF: Duration = Duration::from_secs(5);
/// The longest that anything here may take.
const LONG: Duration = Duration::from_secs(600);
const ONE: &str = "one";

/// What was measured of the server.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ServerFigures {
    /// Tasks done each second, W1.
    pub tasks_per_second: f64,
    /// Processor time for each of them, server and worker together, in microseconds; without a worker of its own process.
    pub cpu_us_per_task: f64,
    /// Commits for each of them.
    pub commits_per_task: f64,
    /// From the request for a run of one task to its result, half took less, in milliseconds.
    pub run_p50_ms: f64,
    /// The same, 99 of 100 took less.
    pub run_p99_ms: f64,
    /// At half the load, from the end of one task's handler to the start of the next one's, half took less, in
    /// milliseconds. More than from ready to started, since report and commit are in it. Zero for another worker.
    pub next_p50_ms: f64,
    /// The same, 99 of 100 took less.
    pub next_p99_ms: f64,
    /// From the commit of a fast domain event to a listener in this process while nothing else happens, half took less,
    /// in milliseconds.
    pub told_p50_ms: f64,
    /// The same, 99 of 100 took less.
    pub told_p99_ms: f64,
    /// The same at half the load; zero for another worker.
    pub told_beside_p50_ms: f64,
    /// The same, 99 of 100 took less.
    pub told_beside_p99_ms: f64,
    /// W1 beside a crowd; absent for another worker.
    pub crowd: Option<CrowdFigures>,
    /// Most memory this process had, in MB.
    pub peak_mb: f64,
}

/// What a crowd costs: workers that wait, readers of streams, and a webhook's target that never answers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CrowdFigures {
    /// Workers that wait.
    pub workers: usize,
    /// Readers of streams.
    pub readers: usize,
    /// Tasks done each second right before they came, W1.
    pub alone_per_second: f64,
    /// Tasks done each second beside them.
    pub beside_per_second: f64,
    /// How much more memory this process has with all of them and the runs beside them, both ends of each connection
    /// included, in MB.
    pub grown_mb: f64,
}

/// Measures with the Rust worker, or with a command that is a worker.
pub async fn server(dir: &Path, worker: Option<&str>, quick: bool) -> Result<ServerFigures> {
    let load = Load::find("w1").ok_or_else(|| Error::bug("bench_plan", "w1 is gone"))?;
    let bench = Bench::open(dir, load).await?;
    let steps = Arc::new(Steps::default());
    let at_work = match worker {
        None => Hands::Own(own(&bench.client, load, &steps)),
        Some(command) => Hands::Other(Other::start(command, bench.client.address())?),
    };
    let runs = if quick { load.runs / 10 } else { load.runs };
    bench.rush(runs).await?;
    let (cpu, clock, before) = (cpu_time(), Instant::now(), bench.engine.counts().await?);
    bench.rush(runs).await?;
    let (elapsed, cpu) = (clock.elapsed().as_secs_f64(), cpu_time().saturating_sub(cpu));
    let tasks = f64::from(runs) * f64::from(load.tasks);
    let commits = (bench.engine.counts().await?.commits - before.commits) as f64;
    let (run_p50_ms, run_p99_ms) = bench.timed(if quick { TIMED / 10 } else { TIMED }).await?;
    let (mut next_p50_ms, mut next_p99_ms) = (0.0, 0.0);
    let (half, long) = (tasks / elapsed / f64::from(load.tasks) / 2.0, if quick { HALF / 10 } else { HALF });
    let (told_p50_ms, told_p99_ms) = told::alone(&bench, quick).await?;
    let (mut told_beside, mut crowd) = ((0.0, 0.0), None);
    if worker.is_none() {
        steps.clear();
        bench.half(half, long).await?;
        (next_p50_ms, next_p99_ms) = steps.figures();
        told_beside = told::beside(&bench, half, long).await?;
        crowd = Some(bench.crowded(load, runs).await?);
    }
    at_work.stop().await?;
    bench.close().await?;
    Ok(ServerFigures {
        tasks_per_second: tasks / elapsed,
        cpu_us_per_task: cpu.as_secs_f64() * 1e6 / tasks,
        commits_per_task: commits / tasks,
        run_p50_ms,
        run_p99_ms,
        next_p50_ms,
        next_p99_ms,
        told_p50_ms,
        told_p99_ms,
        told_beside_p50_ms: told_beside.0,
        told_beside_p99_ms: told_beside.1,
        crowd,
        peak_mb: memory_mb("VmHWM:"),
    })
}

/// A server, and somebody who starts runs there.
struct Bench {
    engine: Engine,
    app: App,
    client: Client,
    serving: Serving,
}

impl Bench {
    async fn open(dir: &Path, load: &Load) -> Result<Self> {
        let engine = open_telling(dir)?;
        let (plan, by) = (Arc::new(load.plan()?), Name::parse("bench")?);
        let register = Register { plan, children: Vec::new(), schedules: Default::default(), hook: None, by };
        engine.ask(Command::Register(register)).await?;
        let (dir, clock) = (dir.to_owned(), Arc::new(wall_clock));
        let parts = Parts { engine: engine.clone(), home: Home::local(), dir, clock, trust_loopback: true };
        let no_socket = |e: std::io::Error| Error::unavailable("bench_socket", "no socket was given").with_source(e);
        let listener = TcpListener::bind("127.0.0.1:0").await.map_err(no_socket)?;
        let app = App::new(parts);
        let serving = serve(listener, &app).map_err(no_socket)?;
        let client = Client::new(&format!("http://{}", serving.address)).map_err(failed)?;
        Ok(Self { engine, app, client, serving })
    }

    /// The load alone once more, then beside a crowd.
    async fn crowded(&self, load: &Load, runs: u32) -> Result<CrowdFigures> {
        let tasks = f64::from(runs) * f64::from(load.tasks);
        let clock = Instant::now();
        self.rush(runs).await?;
        let (alone, memory) = (clock.elapsed().as_secs_f64(), memory_mb("VmRSS:"));
        let crowd = crowd::Crowd::gather(self).await?;
        let clock = Instant::now();
        self.rush(runs).await?;
        let beside = clock.elapsed().as_secs_f64();
        let grown_mb = memory_mb("VmRSS:") - memory;
        drop(crowd);
        Ok(CrowdFigures {
            workers: crowd::WORKERS,
            readers: crowd::READERS,
            alone_per_second: tasks / alone,
            beside_per_second: tasks / beside,
            grown_mb,
        })
    }

    /// Until so many claims wait at the engine and so many streams are read.
    async fn until_waiting(&self, claims: usize, streams: usize) -> Result<()> {
        let look = async {
            loop {
                let waiting = self.engine.pulse().await?.claims;
                if waiting >= claims && self.app.readers_of_streams() >= streams {
                    return Ok(());
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let missing = |_| Error::unavailable("bench_crowd", "the crowd did not gather: raise the limit of open files");
        tokio::time::timeout(LONG, look).await.map_err(missing)?
    }

    /// Starts all runs as fast as the server takes them, and waits for the last to end.
    async fn rush(&self, runs: u32) -> Result<()> {
        let (mut starting, mut waiting) = (JoinSet::new(), JoinSet::new());
        for _ in 0..runs {
            if starting.len() >= STARTING {
                self.watch(starting.join_next().await, &mut waiting)?;
            }
            starting.spawn(start(self.client.clone(), "w1"));
        }
        while let Some(started) = starting.join_next().await {
            self.watch(Some(started), &mut waiting)?;
        }
        ended(waiting).await
    }

    /// The same at so many runs each second, for a while.
    async fn half(&self, per_second: f64, long: Duration) -> Result<()> {
        let (mut starting, mut waiting) = (JoinSet::new(), JoinSet::new());
        let (begun, mut started) = (Instant::now(), 0.0);
        let mut tick = tokio::time::interval(Duration::from_millis(2));
        while begun.elapsed() < long {
            tick.tick().await;
            while started < begun.elapsed().as_secs_f64() * per_second {
                starting.spawn(start(self.client.clone(), "w1"));
                started += 1.0;
            }
            while let Some(done) = starting.try_join_next() {
                self.watch(Some(done), &mut waiting)?;
            }
        }
        while let Some(done) = starting.join_next().await {
            self.watch(Some(done), &mut waiting)?;
        }
        ended(waiting).await
    }

    fn watch(&self, started: Option<Started>, waiting: &mut JoinSet<Result<()>>) -> Result<()> {
        let Some(started) = started else { return Ok(()) };
        let run = started.map_err(|e| Error::bug("bench_panic", e.to_string()))??;
        let engine = self.engine.clone();
        waiting.spawn(async move { engine.wait(run).await.map(drop) });
        Ok(())
    }

    /// Runs of one task, one after the other, from the request to the result.
    async fn timed(&self, runs: usize) -> Result<(f64, f64)> {
        let mut times = Vec::with_capacity(runs);
        let source = format!("flow: {ONE}\ntasks:\n  only: {{ action: {NOOP} }}\n");
        for _ in 0..runs {
            let clock = Instant::now();
            let asked = wire::Start { source: Some(source.clone()), ..Default::default() };
            let run = self.client.start(&asked).await.map_err(failed)?.run;
            let ended = self.client.wait(&run, LONG).await.map_err(failed)?;
            times.push(clock.elapsed().as_secs_f64() * 1e3);
            if ended.state.as_deref() != Some("Complete") {
                return Err(Error::bug("bench_failed", format!("a run of the benchmark ended as {:?}", ended.state)));
            }
        }
        Ok((at(&mut times, 0.5), at(&mut times, 0.99)))
    }

    async fn close(self) -> Result<()> {
        self.serving.stop(Duration::from_secs(1)).await;
        self.engine.stop().map(drop)
    }
}

type Started = std::result::Result<Result<RunId>, tokio::task::JoinError>;

async fn start(client: Client, flow: &str) -> Result<RunId> {
    let asked = wire::Start { flow: Some(flow.into()), ..Default::default() };
    RunId::parse(&client.start(&asked).await.map_err(failed)?.run)
}

async fn ended(mut waiting: JoinSet<Result<()>>) -> Result<()> {
    while let Some(ended) = waiting.join_next().await {
        ended.map_err(|e| Error::bug("bench_panic", e.to_string()))??;
    }
    Ok(())
}

fn failed(error: edgewise_client::Error) -> Error {
    Error::new(Kind::Unavailable, "bench_client", error.message)
}

/// Who does the tasks.
enum Hands {
    Own(Working),
    Other(Other),
}

impl Hands {
    async fn stop(self) -> Result<()> {
        match self {
            Self::Own(working) => working.stop(LONG).await.map_err(failed),
            Self::Other(other) => {
                drop(other);
                Ok(())
            }
        }
    }
}

fn own(client: &Client, load: &Load, steps: &Arc<Steps>) -> Working {
    let steps = Arc::clone(steps);
    let worker = Worker::new(client, "bench").slots(load.slots).on(NOOP, move |task, _| {
        steps.note(task.run);
        async { Ok(Value::Null) }
    });
    worker.start()
}

/// A worker that is a process of its own; it is ended with this value.
struct Other(Child);

impl Other {
    fn start(command: &str, address: &str) -> Result<Self> {
        let child = std::process::Command::new("sh")
            .args(["-c", &format!("exec {command}")])
            .env("EDGEWISE_ADDR", address)
            .env("EDGEWISE_ACTION", NOOP)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn();
        let failed = |e| Error::unavailable("bench_worker", "the worker could not be started").with_source(e);
        child.map(Self).map_err(failed)
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        // One that has ended already needs no ending.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// When the last task of each run was done, and how long the next one took to begin.
#[derive(Default)]
struct Steps(Mutex<(HashMap<String, Instant>, Vec<f64>)>);

impl Steps {
    fn note(&self, run: String) {
        let now = Instant::now();
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = seen.0.insert(run, now) {
            seen.1.push((now - before).as_secs_f64() * 1e3);
        }
    }

    fn clear(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Default::default();
    }

    fn figures(&self) -> (f64, f64) {
        let times = &mut self.0.lock().unwrap_or_else(PoisonError::into_inner).1;
        (at(times, 0.5), at(times, 0.99))
    }
}

fn at(times: &mut [f64], share: f64) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get((times.len() as f64 * share) as usize).copied().unwrap_or_default()
}
