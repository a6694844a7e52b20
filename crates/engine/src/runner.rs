//! The command runner: one attempt of a `run:` task, from `sh` to its output.
//!
//! ```text
//!           spawn, own process group            exit            drain          kill the rest
//! Job ──► sh -c SCRIPT ──► pump pipes into log ──────► wait for pipes ──► reap ──► Output | Failure
//!                                 │ stop                                    ▲
//!                                 └──► TERM to the group ──► KILL ──────────┘
//! ```
//!
//! Two things must hold however an attempt ends. Nothing of it lives on: its group is killed before
//! the leader is reaped (so the number cannot be somebody else's yet), when the future is dropped,
//! and, after a crash, by [`orphans`]. And nothing it does can hold us up: a full log, an output
//! without end or a grandchild that keeps a pipe open cost a bounded amount of memory, disk and time.
//!
//! Files are written on the calling thread: they are local, and one write is at most a pipe's content.

mod group;
pub mod logs;
pub mod orphans;
mod output;
mod pipes;
mod stop;
mod traces;

pub use stop::Stop;

use crate::secrets::{Masks, PREFIX};
use edgewise_core::event::Failure;
use edgewise_core::id::RunId;
use edgewise_core::plan::OutputForm;
use edgewise_core::time::Time;
use group::Group;
use pipes::Pipes;
use serde_json::value::RawValue;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::process::Command;
use tokio::time::timeout;
use traces::Traces;

/// How long a cancelled group may clean up between TERM and KILL.
pub const STOP_GRACE: Duration = Duration::from_secs(5);
/// How long the pipes may stay open once the command itself has exited.
pub const DRAIN_GRACE: Duration = Duration::from_millis(200);
/// Largest log of one attempt; what follows is read and dropped.
pub const LOG_BYTES: u64 = 64 << 20;
/// Longest line of a log; a longer one is split.
pub const LINE_BYTES: usize = 64 << 10;

/// One attempt of a command.
#[derive(Debug, Clone)]
pub struct Job {
    /// The run.
    pub run: RunId,
    /// The task's path, such as `build[3]`.
    pub task: String,
    /// The task's generation.
    pub generation: u16,
    /// Which attempt.
    pub attempt: u16,
    /// What `sh -c` is given, as it stands.
    pub script: String,
    /// Variables besides those of the engine itself.
    pub env: Vec<(String, String)>,
    /// How the output is read.
    pub output: OutputForm,
    /// Where it runs.
    pub dir: PathBuf,
    /// Where its log goes; see [`logs::log_path`]. Its pid and output files are beside it.
    pub log: PathBuf,
    /// What must not be seen in its log.
    pub masks: Masks,
}

/// The runner's bounds and its clock.
#[derive(Debug, Clone, Copy)]
pub struct Runner {
    /// See [`STOP_GRACE`].
    pub stop_grace: Duration,
    /// See [`DRAIN_GRACE`].
    pub drain_grace: Duration,
    /// See [`LOG_BYTES`].
    pub log_bytes: u64,
    /// What log lines are stamped with.
    pub clock: fn() -> Time,
}

impl Default for Runner {
    fn default() -> Self {
        Self { stop_grace: STOP_GRACE, drain_grace: DRAIN_GRACE, log_bytes: LOG_BYTES, clock: wall_clock }
    }
}

/// Runs one attempt within the default bounds. No output is null.
pub async fn run(job: Job, stop: Stop) -> Result<Option<Box<RawValue>>, Failure> {
    Runner::default().run(job, stop).await
}

impl Runner {
    /// Runs one attempt. No output is null.
    pub async fn run(self, job: Job, stop: Stop) -> Result<Option<Box<RawValue>>, Failure> {
        if stop.is_cancelled() {
            return Err(Failure::new("cancelled", "the attempt was cancelled before its command was started"));
        }
        // Locals are dropped in reverse: the group is killed before its pid file goes.
        let mut traces = Traces::prepare(&job.log).map_err(|e| unwritable(&job.log, &e))?;
        let log = logs::Writer::open(&job.log, self.log_bytes, self.clock).map_err(|e| unwritable(&job.log, &e))?;
        let log = log.masked(job.masks.clone());
        let mut group = Group::spawn(&mut command(&job, traces.output())).map_err(|e| not_started(&job.dir, &e))?;
        traces.record(group.pid()).map_err(|e| unwritable(&job.log, &e))?;
        let mut pipes = Pipes::new(group.take_stdout(), group.take_stderr(), log);

        let cancelled = self.supervise(&mut group, &mut pipes, &stop).await;
        let ended = group.end().await;
        pipes.finish();
        if cancelled {
            return Err(Failure::new("cancelled", "the attempt was cancelled; its processes were stopped"));
        }
        match ended {
            Ok(status) if status.success() => output::read(job.output, traces.output(), pipes.into_stdout()),
            Ok(status) => Err(unsuccessful(status, &pipes.stderr_tail())),
            Err(e) => Err(Failure::new("exit_unknown", format!("the command ended, but how is not known: {e}"))),
        }
    }

    /// Returns when the command has exited and its pipes are read; true if it was told to stop.
    async fn supervise(&self, group: &mut Group, pipes: &mut Pipes, stop: &Stop) -> bool {
        let cancelled = tokio::select! {
            // In this order, so that a command that writes without end cannot keep us from the first two.
            biased;
            () = group.exited() => false,
            () = stop.cancelled() => true,
            never = pipes.pump_on() => match never {},
        };
        if cancelled {
            group.terminate();
            // `sh` dies at once, the program in it may need its grace: closed pipes tell that it is gone too.
            let gone = async { tokio::join!(group.exited(), pipes.pump()) };
            let _ = timeout(self.stop_grace, gone).await;
            group.kill();
            tokio::select! {
                biased;
                () = group.exited() => {}
                never = pipes.pump_on() => match never {},
            }
        }
        pipes.drain(self.drain_grace).await;
        cancelled
    }
}

fn command(job: &Job, output: &Path) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "--", &job.script]).current_dir(&job.dir).process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A command is given the secrets that its task names, not all of them.
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.as_encoded_bytes().starts_with(PREFIX.as_bytes())) {
        command.env_remove(name);
    }
    // Ours last: a flow cannot pretend to be another run.
    command.envs(job.env.iter().map(|(name, value)| (name, value)));
    command.env("EDGEWISE_RUN", job.run.to_string()).env("EDGEWISE_TASK", &job.task);
    command.env("EDGEWISE_GENERATION", job.generation.to_string());
    command.env("EDGEWISE_ATTEMPT", job.attempt.to_string());
    command.env("EDGEWISE_KEY", format!("{}/{}/{}", job.run, job.task, job.generation));
    command.env("EDGEWISE_OUTPUT", output);
    command
}

fn unwritable(log: &Path, e: &std::io::Error) -> Failure {
    let beside = log.display();
    Failure::new("spawn_failed", format!("the log {beside} and the files beside it must be writable: {e}"))
}

fn not_started(dir: &Path, e: &std::io::Error) -> Failure {
    let why = match e.kind() {
        _ if !dir.is_dir() => format!("its working directory {} is not a directory: create it", dir.display()),
        std::io::ErrorKind::ArgumentListTooLong => {
            format!("its script and variables are too long for this system ({e}): hand large values over in files")
        }
        _ => format!("/bin/sh in {}: {e}", dir.display()),
    };
    Failure::new("spawn_failed", format!("the command could not be started: {why}"))
}

fn unsuccessful(status: ExitStatus, tail: &str) -> Failure {
    let (kind, what) = match (status.code(), status.signal()) {
        (Some(code), _) => (format!("exit_{code}"), format!("the command exited with code {code}")),
        (None, Some(signal)) => (format!("signal_{signal}"), format!("the command was killed by {status}")),
        (None, None) => ("exit_unknown".to_owned(), format!("the command ended as {status}")),
    };
    let said = if tail.is_empty() { " and said nothing on stderr".to_owned() } else { format!(": {tail}") };
    Failure::new(kind, what + &said)
}

fn wall_clock() -> Time {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Time(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
