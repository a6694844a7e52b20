//! The local worker: takes leases of what this process can do, does it, and reports.
//!
//! Slots are conserved: what is finished is reported together with a claim for the slots it frees, in one
//! bundle and so in one commit. One report is under way at a time, so whatever finishes during a commit is
//! in the next one: batches grow with the load by themselves. What could not be reported is reported again
//! until an answer decides it: nothing done is lost to a full disk, or to other engines that are faster.

mod reports;
mod wind_down;

use crate::command::{Answer, Claim, Command, Finish, Grant, Job, LeaseRef, Outcome};
use crate::committer::Request;
use crate::desk::LOCAL;
use crate::engine::{Engine, Reply, Revoked};
use crate::handler::Handlers;
use crate::http::{Attempt, Http};
use crate::runner::{self, Stop};
use crate::secrets::{Masks, Secrets};
use edgewise_core::Result;
use edgewise_core::event::{Failure, TaskIx};
use edgewise_core::id::RunId;
use edgewise_core::name::Name;
use edgewise_core::run::{COMMAND_ACTION, HTTP_ACTION};
use edgewise_store::quick::QuickMap;
use reports::{Next, Reports};
use serde_json::Value;
use serde_json::value::RawValue;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use wind_down::WindDown;

/// Most reports in one bundle.
const REPORTS: usize = 1_000;
/// How long to wait before a report is tried again.
const REPORT_AGAIN: Duration = Duration::from_millis(200);

/// What a local worker can do.
pub struct Worker {
    /// In-process actions.
    pub handlers: Handlers,
    /// Where commands run and where their logs go; `None` for a worker that runs no commands.
    pub commands: Option<Commands>,
    /// What makes requests; `None` for a worker that makes none.
    pub http: Option<Http>,
    /// Where the secrets of tasks are found.
    pub secrets: Secrets,
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
    http: Option<Http>,
    secrets: Secrets,
    actions: Arc<[Name]>,
    name: Arc<str>,
    slots: u32,
    running: QuickMap<AttemptKey, Stop>,
    show: watch::Sender<Seen>,
    answers: (mpsc::UnboundedSender<Result<Answer>>, mpsc::UnboundedReceiver<Result<Answer>>),
    finished: (mpsc::UnboundedSender<Finish>, mpsc::UnboundedReceiver<Finish>),
    /// Slots that are claimed and not yet filled.
    claimed: u32,
    reports: Reports,
}

impl AtWork {
    fn new(worker: Worker, engine: Engine, show: watch::Sender<Seen>) -> Self {
        let mut actions: Vec<Name> = worker.handlers.by_action.keys().cloned().collect();
        if worker.commands.is_some() {
            actions.extend(Name::parse(COMMAND_ACTION));
        }
        if worker.http.is_some() {
            actions.extend(Name::parse(HTTP_ACTION));
        }
        Self {
            name: format!("{LOCAL}{}", engine.source()).into(),
            engine,
            handlers: Arc::new(worker.handlers),
            commands: worker.commands,
            http: worker.http,
            secrets: worker.secrets,
            actions: actions.into(),
            slots: worker.slots.max(1),
            running: QuickMap::default(),
            show,
            answers: mpsc::unbounded_channel(),
            finished: mpsc::unbounded_channel(),
            claimed: 0,
            reports: Reports::default(),
        }
    }

    async fn run(mut self, mut stopped: mpsc::UnboundedReceiver<Duration>) {
        let mut revoked = self.engine.listen();
        let mut done = Vec::new();
        let mut going = self.ask_for_more(Vec::new()).await;
        self.show.send_modify(|seen| seen.claimed = true);
        while going.is_ok() {
            let may_report = self.reports.is_empty();
            // Answers before revocations, so that nothing is revoked before it was heard of; and before reports, so that
            // what was granted begins before the next one goes off.
            going = tokio::select! {
                biased;
                Some(patience) = stopped.recv() => {
                    return WindDown::new(self, revoked, stopped).run(patience).await;
                },
                Some(answer) = self.answers.1.recv() => self.hear(answer).await,
                Some(lease) = revoked.recv() => {
                    self.revoke(lease);
                    Ok(())
                },
                _ = self.finished.1.recv_many(&mut done, REPORTS), if may_report => {
                    self.gather(&mut done).await;
                    self.report(std::mem::take(&mut done).into()).await
                },
            };
        }
    }

    async fn hear(&mut self, answer: Result<Answer>) -> Result<()> {
        match answer {
            Ok(Answer::Granted { grants, claimed }) => {
                self.claimed -= claimed.min(self.claimed);
                grants.into_iter().for_each(|grant| self.begin(grant));
                self.show_at_work();
                self.ask_for_more(Vec::new()).await
            }
            answer => {
                let bundle = match self.reports.heard(answer.as_ref().err()) {
                    Next::Nothing => return Ok(()),
                    Next::Say(bundle) => bundle,
                    Next::Again(bundle) => {
                        tokio::time::sleep(REPORT_AGAIN).await;
                        bundle
                    }
                };
                self.engine.send(vec![self.request(Command::Complete(bundle))]).await
            }
        }
    }

    /// Lets what was just granted have its turn before the report goes off: what is quick is then in this commit, not
    /// in one of its own. A commit of twice as many tasks writes hardly more pages.
    async fn gather(&mut self, done: &mut Vec<Finish>) {
        tokio::task::yield_now().await;
        while done.len() < REPORTS
            && let Ok(finish) = self.finished.1.try_recv()
        {
            done.push(finish);
        }
    }

    /// Reports what is finished and claims the slots it frees, in one commit.
    async fn report(&mut self, finishes: Arc<[Finish]>) -> Result<()> {
        self.forget(&finishes);
        self.reports.begin(Arc::clone(&finishes));
        let report = self.request(Command::Complete(finishes));
        self.ask_for_more(vec![report]).await
    }

    /// Claims every slot that is neither at work nor claimed already, after whatever else is to be said.
    async fn ask_for_more(&mut self, mut bundle: Vec<Request<Reply>>) -> Result<()> {
        let free = self.slots.saturating_sub(self.running.len() as u32 + self.claimed);
        if free > 0 {
            self.claimed += free;
            let (worker, actions) = (self.name.clone(), self.actions.clone());
            bundle.push(self.request(Command::Claim(Claim { worker, actions, queues: None, max: free, lease: None })));
        }
        if bundle.is_empty() { Ok(()) } else { self.engine.send(bundle).await }
    }

    fn request(&self, command: Command) -> Request<Reply> {
        Request { command, reply: Reply::Many(self.answers.0.clone()) }
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

    fn begin(&mut self, mut grant: Grant) {
        let stop = Stop::new();
        self.running.insert(key_of(&grant.lease), stop.clone());
        let (handlers, report) = (Arc::clone(&self.handlers), self.finished.0.clone());
        let (commands, http) = (self.commands.clone(), self.http.clone());
        let secrets = grant.sealed.take().map(|sealed| (sealed, self.secrets.clone()));
        tokio::spawn(async move {
            let lease = grant.lease;
            let opened = secrets.map_or_else(|| Ok(Masks::default()), |(names, all)| all.open(&names, &mut grant.work));
            let outcome = match (opened, &grant.work) {
                (Err(failure), _) => Err(failure),
                (Ok(masks), Job::Action { .. }) => masks.outcome(action(&handlers, &grant, stop).await),
                (Ok(masks), Job::Command { .. }) => {
                    masks.outcome(command(commands.as_ref(), grant, &masks, stop).await)
                }
                (Ok(masks), Job::Http { .. }) => masks.outcome(request(http.as_ref(), grant, stop).await),
            };
            // The worker is gone only when the engine is, and then the lease ends with it.
            let _ = report.send(Finish { lease, outcome });
        });
    }
}

/// Does one attempt of an action.
async fn action(handlers: &Handlers, grant: &Grant, stop: Stop) -> Outcome {
    output(&handlers.call(grant, stop).await?)
}

/// Does one attempt of a request.
async fn request(http: Option<&Http>, grant: Grant, stop: Stop) -> Outcome {
    let key = grant.key();
    let (Job::Http { request, timeout }, Some(http)) = (grant.work, http) else {
        return Err(Failure::new("handler_not_found", "this worker makes no requests"));
    };
    output(&http.run(Attempt { request, timeout, key }, stop).await?)
}

fn output(value: &Value) -> Outcome {
    if value.is_null() {
        return Ok(None);
    }
    RawValue::from_string(value.to_string()).map(Some).map_err(|e| Failure::new("bad_output", e.to_string()))
}

/// Does one attempt of a command.
async fn command(commands: Option<&Commands>, grant: Grant, masks: &Masks, stop: Stop) -> Outcome {
    let lease = grant.lease;
    let (Job::Command { script, env, output }, Some(commands)) = (grant.work, commands) else {
        return Err(Failure::new("handler_not_found", "this worker runs no commands"));
    };
    let log = runner::logs::log_path(&commands.logs, lease.run, lease.task, lease.generation, lease.attempt);
    let job = runner::Job {
        run: lease.run,
        task: grant.path,
        generation: lease.generation,
        attempt: lease.attempt,
        script,
        env,
        output,
        dir: commands.dir.clone(),
        log,
        masks: masks.clone(),
    };
    runner::run(job, stop).await
}
