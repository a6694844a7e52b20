//! The local worker: takes leases of what this process can do, does it, and reports.
//!
//! Slots are conserved: each finished attempt is reported together with a claim for the slots it frees, in
//! one bundle and so in one commit. What could not be reported is reported again until the engine
//! answers: nothing done is lost to a full disk.

use crate::command::{Answer, Claim, Command, Finish, Grant, Job, LeaseRef, Outcome};
use crate::committer::Request;
use crate::desk::LOCAL;
use crate::engine::{Engine, Reply};
use crate::handler::Handlers;
use crate::runner::{self, Stop};
use edgewise_core::event::{Failure, TaskIx};
use edgewise_core::id::RunId;
use edgewise_core::name::Name;
use edgewise_core::run::COMMAND_ACTION;
use edgewise_core::{Kind, Result};
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// How long to wait before a report is tried again.
const REPORT_AGAIN: Duration = Duration::from_millis(200);

/// What a local worker can do.
pub struct Worker {
    /// In-process actions.
    pub handlers: Handlers,
    /// Where commands run and where their logs go; `None` for a worker that runs no commands.
    pub commands: Option<Commands>,
    /// How many attempts at once.
    pub slots: u32,
}

/// Where commands run.
#[derive(Debug, Clone)]
pub struct Commands {
    /// Their working directory.
    pub dir: PathBuf,
    /// Where their logs go.
    pub logs: PathBuf,
}

/// A worker at work. Dropping it leaves it at work; [`Working::stop`] ends it.
pub struct Working {
    stop: oneshot::Sender<Duration>,
    task: tokio::task::JoinHandle<()>,
}

impl Working {
    /// Takes no more work, waits so long for what is at work, then ends that as `worker_lost`.
    pub async fn stop(self, patience: Duration) {
        let _ = self.stop.send(patience);
        let _ = self.task.await;
    }
}

impl Worker {
    /// Begins to take work from an engine.
    pub fn start(self, engine: &Engine) -> Working {
        let (stop, stopped) = oneshot::channel();
        let at_work = AtWork::new(self, engine.clone());
        Working { stop, task: tokio::spawn(at_work.run(stopped)) }
    }
}

type AttemptKey = (RunId, TaskIx, u16, u16);

fn key_of(lease: &LeaseRef) -> AttemptKey {
    (lease.run, lease.task, lease.generation, lease.attempt)
}

struct AtWork {
    engine: Engine,
    handlers: Arc<Handlers>,
    commands: Option<Commands>,
    actions: Arc<[Name]>,
    name: Arc<str>,
    slots: u32,
    running: HashMap<AttemptKey, Stop>,
    grants: (mpsc::UnboundedSender<Result<Answer>>, mpsc::UnboundedReceiver<Result<Answer>>),
    finished: (mpsc::UnboundedSender<Finish>, mpsc::UnboundedReceiver<Finish>),
}

impl AtWork {
    fn new(worker: Worker, engine: Engine) -> Self {
        let mut actions: Vec<Name> = worker.handlers.by_action.keys().cloned().collect();
        if worker.commands.is_some() {
            actions.extend(Name::parse(COMMAND_ACTION));
        }
        Self {
            name: format!("{LOCAL}{}", engine.source()).into(),
            engine,
            handlers: Arc::new(worker.handlers),
            commands: worker.commands,
            actions: actions.into(),
            slots: worker.slots.max(1),
            running: HashMap::new(),
            grants: mpsc::unbounded_channel(),
            finished: mpsc::unbounded_channel(),
        }
    }

    async fn run(mut self, mut stopped: oneshot::Receiver<Duration>) {
        let mut revoked = self.engine.listen();
        if self.report(Vec::new(), self.slots).await.is_err() {
            return;
        }
        let mut done = Vec::new();
        loop {
            tokio::select! {
                answer = self.grants.1.recv() => match answer {
                    Some(Ok(Answer::Granted(grants))) => grants.into_iter().for_each(|g| self.begin(g)),
                    _ => return,
                },
                count = self.finished.1.recv_many(&mut done, 1_000) => {
                    let finishes = std::mem::take(&mut done);
                    self.forget(&finishes);
                    if self.report(finishes, count as u32).await.is_err() {
                        return;
                    }
                },
                Some((run, a)) = revoked.recv() => {
                    if let Some(stop) = self.running.get(&(run, a.task, a.generation, a.attempt)) {
                        stop.cancel();
                    }
                },
                patience = &mut stopped => return self.wind_down(patience.unwrap_or_default()).await,
            }
        }
    }

    /// Reports what is finished and claims the slots it frees, in one commit.
    async fn report(&self, finishes: Vec<Finish>, free: u32) -> Result<()> {
        let claim = Claim { worker: self.name.clone(), actions: self.actions.clone(), max: free, lease: None };
        let mut bundle = Vec::with_capacity(2);
        let mut answer = None;
        let finishes: Arc<[Finish]> = finishes.into();
        if !finishes.is_empty() {
            let (reply, answered) = oneshot::channel();
            bundle.push(Request { command: Command::Complete(Arc::clone(&finishes)), reply: Reply::Once(reply) });
            answer = Some(answered);
        }
        bundle.push(Request { command: Command::Claim(claim), reply: Reply::Grants(self.grants.0.clone()) });
        self.engine.send(bundle).await?;
        if let Some(answer) = answer {
            tokio::spawn(report_until_heard(self.engine.clone(), finishes, answer));
        }
        Ok(())
    }

    fn forget(&mut self, finishes: &[Finish]) {
        for finish in finishes {
            self.running.remove(&key_of(&finish.lease));
        }
    }

    fn begin(&mut self, grant: Grant) {
        let stop = Stop::new();
        self.running.insert(key_of(&grant.lease), stop.clone());
        let (handlers, commands, report) = (Arc::clone(&self.handlers), self.commands.clone(), self.finished.0.clone());
        tokio::spawn(async move {
            let lease = grant.lease;
            let outcome = attempt(&handlers, commands.as_ref(), grant, stop).await;
            // The worker is gone only when the engine is, and then the lease ends with it.
            let _ = report.send(Finish { lease, outcome });
        });
    }

    /// No new work; what is at work may finish, then is stopped and given up.
    async fn wind_down(mut self, patience: Duration) {
        let deadline = tokio::time::Instant::now() + patience;
        let mut stopping = false;
        while !self.running.is_empty() {
            let wait = if stopping {
                runner::STOP_GRACE * 2
            } else {
                deadline.saturating_duration_since(tokio::time::Instant::now())
            };
            match tokio::time::timeout(wait, self.finished.1.recv()).await {
                Ok(Some(mut finish)) => {
                    if stopping && finish.outcome.is_err() {
                        finish.outcome = Err(Failure::new("worker_lost", "the engine was stopped"));
                    }
                    let finish = [finish];
                    self.forget(&finish);
                    let _ = self.engine.ask(Command::Complete(Arc::from(finish))).await;
                }
                Err(_) if !stopping => {
                    stopping = true;
                    self.running.values().for_each(Stop::cancel);
                }
                _ => return,
            }
        }
    }
}

/// Does one attempt.
async fn attempt(handlers: &Handlers, commands: Option<&Commands>, grant: Grant, stop: Stop) -> Outcome {
    match (&grant.work, commands) {
        (Job::Action { .. }, _) => {
            let value = handlers.call(&grant, stop).await?;
            if value.is_null() {
                return Ok(None);
            }
            RawValue::from_string(value.to_string()).map(Some).map_err(|e| Failure::new("bad_output", e.to_string()))
        }
        (Job::Command { script, env, output }, Some(commands)) => {
            let lease = &grant.lease;
            let log = runner::logs::log_path(&commands.logs, lease.run, lease.task, lease.generation, lease.attempt);
            let job = runner::Job {
                run: lease.run,
                task: grant.path.clone(),
                generation: lease.generation,
                attempt: lease.attempt,
                script: script.clone(),
                env: env.clone(),
                output: *output,
                dir: commands.dir.clone(),
                log,
            };
            runner::run(job, stop).await
        }
        (Job::Command { .. }, None) => Err(Failure::new("handler_not_found", "this worker runs no commands")),
    }
}

/// A report that met a store that cannot write now is made again until it is heard.
async fn report_until_heard(engine: Engine, finishes: Arc<[Finish]>, first: oneshot::Receiver<Result<Answer>>) {
    let mut answer = first.await;
    while let Ok(Err(error)) = &answer {
        if error.kind != Kind::Unavailable || error.code == "engine_stopped" {
            return;
        }
        tokio::time::sleep(REPORT_AGAIN).await;
        answer = Ok(engine.ask(Command::Complete(Arc::clone(&finishes))).await);
    }
}
