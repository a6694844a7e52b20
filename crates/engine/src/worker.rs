//! The local worker: takes leases of what this process can do, does it, and reports.
//!
//! Slots are conserved: each finished attempt is reported together with a claim for the slots it frees, in
//! one bundle and so in one commit. What could not be reported is reported again until the engine
//! answers: nothing done is lost to a full disk.

use crate::command::{Answer, Claim, Command, Finish, Grant, Job, LeaseRef, Outcome};
use crate::committer::Request;
use crate::desk::LOCAL;
use crate::engine::{Engine, Reply, Revoked};
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
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

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
    stop: mpsc::UnboundedSender<Duration>,
    seen: watch::Receiver<Seen>,
}

/// What is to be seen of a worker from outside.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    /// The engine knows that it waits for work.
    claimed: bool,
    at_work: usize,
}

impl Working {
    /// Returns once the engine has been asked for work.
    pub async fn claimed(&mut self) {
        // A worker that is gone will not claim any more.
        let _ = self.seen.wait_for(|seen| seen.claimed).await;
    }

    /// How many attempts are at work.
    pub fn at_work(&self) -> usize {
        self.seen.borrow().at_work
    }

    /// Takes no more work. What is at work may go on for so long, then it is ended as `worker_lost`.
    /// May be said again, with less patience.
    pub fn wind_down(&self, patience: Duration) {
        let _ = self.stop.send(patience);
    }

    /// Returns once nothing is at work any more, after [`Working::wind_down`].
    pub async fn ended(&mut self) {
        while self.seen.changed().await.is_ok() {}
    }

    /// Winds down and waits for the end.
    pub async fn stop(mut self, patience: Duration) {
        self.wind_down(patience);
        self.ended().await;
    }
}

impl Worker {
    /// Begins to take work from an engine.
    pub fn start(self, engine: &Engine) -> Working {
        let (stop, stopped) = mpsc::unbounded_channel();
        let (show, seen) = watch::channel(Seen::default());
        tokio::spawn(AtWork::new(self, engine.clone(), show).run(stopped));
        Working { stop, seen }
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
    show: watch::Sender<Seen>,
    grants: (mpsc::UnboundedSender<Result<Answer>>, mpsc::UnboundedReceiver<Result<Answer>>),
    finished: (mpsc::UnboundedSender<Finish>, mpsc::UnboundedReceiver<Finish>),
}

impl AtWork {
    fn new(worker: Worker, engine: Engine, show: watch::Sender<Seen>) -> Self {
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
            show,
            grants: mpsc::unbounded_channel(),
            finished: mpsc::unbounded_channel(),
        }
    }

    async fn run(mut self, mut stopped: mpsc::UnboundedReceiver<Duration>) {
        let mut revoked = self.engine.listen();
        if self.report(Vec::new(), self.slots).await.is_err() {
            return;
        }
        self.show.send_modify(|seen| seen.claimed = true);
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
                Some(lease) = revoked.recv() => self.revoke(lease),
                Some(patience) = stopped.recv() => {
                    return WindDown { worker: self, revoked, stopped }.run(patience).await;
                },
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
        self.show_at_work();
    }

    fn revoke(&self, (run, a): Revoked) {
        if let Some(stop) = self.running.get(&(run, a.task, a.generation, a.attempt)) {
            stop.cancel();
        }
    }

    fn show_at_work(&self) {
        self.show.send_modify(|seen| seen.at_work = self.running.len());
    }

    fn begin(&mut self, grant: Grant) {
        let stop = Stop::new();
        self.running.insert(key_of(&grant.lease), stop.clone());
        self.show_at_work();
        let (handlers, commands, report) = (Arc::clone(&self.handlers), self.commands.clone(), self.finished.0.clone());
        tokio::spawn(async move {
            let lease = grant.lease;
            let outcome = attempt(&handlers, commands.as_ref(), grant, stop).await;
            // The worker is gone only when the engine is, and then the lease ends with it.
            let _ = report.send(Finish { lease, outcome });
        });
    }

    /// Takes waiting claims back. What was granted in that moment has not begun: it is given back unspent.
    async fn leave(&mut self) {
        self.engine.leave(&self.grants.0).await;
        let mut unspent = Vec::new();
        while let Ok(answer) = self.grants.1.try_recv() {
            if let Ok(Answer::Granted(grants)) = answer {
                unspent.extend(grants.into_iter().map(|grant| grant.lease));
            }
        }
        if !unspent.is_empty() {
            // If it is not heard, the leases end with this process.
            let _ = self.engine.ask(Command::GiveBack(unspent)).await;
        }
    }
}

/// A worker that takes no more work: what is at work may finish, then is stopped and given up.
struct WindDown {
    worker: AtWork,
    revoked: mpsc::UnboundedReceiver<Revoked>,
    stopped: mpsc::UnboundedReceiver<Duration>,
}

impl WindDown {
    async fn run(mut self, patience: Duration) {
        self.worker.leave().await;
        let (mut deadline, mut stopping) = (Instant::now().checked_add(patience), false);
        while !self.worker.running.is_empty() {
            tokio::select! {
                Some(finish) = self.worker.finished.1.recv() => self.report(finish, stopping).await,
                Some(lease) = self.revoked.recv() => self.worker.revoke(lease),
                Some(less) = self.stopped.recv(), if !stopping => {
                    let sooner = Instant::now().checked_add(less);
                    deadline = deadline.map_or(sooner, |known| Some(sooner.map_or(known, |s| s.min(known))));
                },
                () = at(deadline) => {
                    if stopping {
                        return;
                    }
                    stopping = true;
                    deadline = Some(Instant::now() + runner::STOP_GRACE * 2);
                    self.worker.running.values().for_each(Stop::cancel);
                },
            }
        }
    }

    async fn report(&mut self, mut finish: Finish, stopping: bool) {
        if stopping && finish.outcome.is_err() {
            finish.outcome = Err(Failure::new("worker_lost", "the engine was stopped"));
        }
        let finish = [finish];
        self.worker.forget(&finish);
        let _ = self.worker.engine.ask(Command::Complete(Arc::from(finish))).await;
    }
}

async fn at(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
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
