//! A worker at work: what it has asked, what is finished, what is to be said next.

use super::Worker;
use super::handler::Handlers;
use super::running::Running;
use super::task::{Failure, Task};
use crate::client::{Backoff, Client};
use crate::error::{Error, Result};
use crate::wire::{Beats, Claim, Complete, Completed, Finish, Lease, Leases, TaskError};
use edgewise_core::Kind;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::Instant;

/// Most reports in one request.
const REPORTS: usize = 1_000;
/// Reports under way at once: while the server commits one, the next is gathered and sent.
const REPORTING: usize = 2;
/// How long one poll waits for work.
const POLL: Duration = Duration::from_secs(20);
/// How long what was stopped may take to end before it is given up.
const GRACE: Duration = Duration::from_secs(5);

/// What came back.
enum Heard {
    Polled(usize, Result<Leases>),
    Reported(Complete, Result<Completed>),
    Beats(Result<Beats>),
    Released,
}

pub struct AtWork {
    client: Client,
    handlers: Arc<Handlers>,
    claim: Claim,
    slots: usize,
    lease: Duration,
    running: Running,
    finished: (mpsc::UnboundedSender<Finish>, mpsc::UnboundedReceiver<Finish>),
    asked: JoinSet<Heard>,
    poll: Option<AbortHandle>,
    reporting: usize,
    /// Slots that are claimed and not yet filled.
    claimed: usize,
    /// The heartbeat that is under way.
    beat: Option<AbortHandle>,
    draining: bool,
    /// Why the worker cannot go on.
    failed: Option<Error>,
    /// What is at work was told to stop: whatever fails now failed because of that.
    stopping: bool,
}

impl AtWork {
    pub fn new(worker: Worker) -> Self {
        let Worker { client, name, handlers, queues, slots, lease } = worker;
        let lease_ms = u64::try_from(lease.as_millis()).ok();
        let claim = Claim { worker: name, actions: handlers.actions(), queues, max: None, lease_ms, wait_ms: None };
        // Whoever works outlives a server that is away for a while.
        let client = client.with_backoff(Backoff { tries: u32::MAX, ..Backoff::default() });
        Self {
            client,
            handlers: Arc::new(handlers),
            claim,
            slots: slots as usize,
            lease,
            running: Running::default(),
            finished: mpsc::unbounded_channel(),
            asked: JoinSet::new(),
            poll: None,
            reporting: 0,
            claimed: 0,
            beat: None,
            draining: false,
            failed: None,
            stopping: false,
        }
    }

    pub async fn run(mut self, mut stopped: mpsc::UnboundedReceiver<Duration>) -> Result<()> {
        let (mut done, mut deadline) = (Vec::new(), None);
        loop {
            self.poll();
            self.rest();
            if self.draining && self.running.is_empty() && self.asked.is_empty() && self.finished.1.is_empty() {
                return self.failed.map_or(Ok(()), Err);
            }
            // Answers before reports, so that what was granted begins before the next report goes off.
            tokio::select! {
                biased;
                Some(patience) = stopped.recv(), if !self.stopping => {
                    self.drain();
                    let sooner = Instant::now().checked_add(patience);
                    deadline = deadline.map_or(sooner, |known: Instant| Some(sooner.map_or(known, |s| s.min(known))));
                }
                Some(heard) = self.asked.join_next() => self.hear(heard.ok()),
                _ = self.finished.1.recv_many(&mut done, REPORTS), if self.reporting < REPORTING => {
                    self.gather(&mut done).await;
                    self.report(std::mem::take(&mut done));
                }
                // One at a time: what falls due meanwhile stays due, and goes off as soon as the other is answered.
                () = at(self.running.next()), if self.beat.is_none() => self.beat(),
                () = at(deadline) => {
                    if self.stopping {
                        return self.failed.map_or(Ok(()), Err);
                    }
                    self.stopping = true;
                    self.running.cancel_all();
                    deadline = Some(Instant::now() + GRACE);
                }
            }
        }
    }

    /// Asks for work for every slot that is free, and waits for it. One such request is under way at a time.
    fn poll(&mut self) {
        let free = self.free();
        if self.poll.is_some() || free == 0 || self.draining || self.claim.actions.is_empty() {
            return;
        }
        self.claimed += free;
        let (client, wait_ms) = (self.client.clone(), u64::try_from(POLL.as_millis()).ok());
        let claim = Claim { max: u32::try_from(free).ok(), wait_ms, ..self.claim.clone() };
        self.poll = Some(self.asked.spawn(async move { Heard::Polled(free, client.claim(&claim).await) }));
    }

    fn free(&self) -> usize {
        self.slots.saturating_sub(self.running.at_work() + self.claimed)
    }

    /// Takes no more work. What a poll is given in this moment comes back to the server unspent when nobody hears it.
    fn drain(&mut self) {
        self.draining = true;
        if let Some(poll) = self.poll.take() {
            poll.abort();
        }
    }

    /// Lets what was just granted have its turn before the report goes off: what is quick is then in this one.
    async fn gather(&mut self, done: &mut Vec<Finish>) {
        tokio::task::yield_now().await;
        while done.len() < REPORTS
            && let Ok(finish) = self.finished.1.try_recv()
        {
            done.push(finish);
        }
    }

    fn report(&mut self, mut results: Vec<Finish>) {
        for finish in &mut results {
            self.running.report(&finish.lease);
            if self.stopping && finish.error.is_some() {
                finish.error = Some(Failure::retryable("worker_lost", "the worker was stopped").into());
            }
        }
        // A poll that waits has claimed the other slots already.
        let free = if self.draining { 0 } else { self.free() };
        self.claimed += free;
        let claim = (free > 0).then(|| Claim { max: u32::try_from(free).ok(), ..self.claim.clone() });
        self.send(Complete { results, claim });
    }

    fn send(&mut self, sent: Complete) {
        self.reporting += 1;
        let client = self.client.clone();
        self.asked.spawn(async move {
            let answer = decided(&client, &sent).await;
            Heard::Reported(sent, answer)
        });
    }

    fn hear(&mut self, heard: Option<Heard>) {
        match heard {
            // A poll or a heartbeat that was given up.
            None | Some(Heard::Released) => {}
            Some(Heard::Polled(claimed, answer)) => {
                self.poll = None;
                self.claimed -= claimed;
                match answer {
                    Ok(given) => self.begin_all(given.leases),
                    Err(error) => self.fail(error),
                }
            }
            Some(Heard::Reported(sent, answer)) => {
                self.reporting -= 1;
                self.claimed -= claimed(&sent);
                match answer {
                    // A report that does not count any more has told the server all that it needs.
                    Ok(completed) => {
                        self.end_all(&sent.results);
                        self.begin_all(completed.leases);
                    }
                    Err(error) => self.report_otherwise(sent, error),
                }
            }
            Some(Heard::Beats(answer)) => {
                self.beat = None;
                // A server that refuses heartbeats refuses the next report as well, and says why there.
                if let Ok(beats) = answer {
                    self.running.told(&beats.beats);
                }
            }
        }
    }

    fn fail(&mut self, error: Error) {
        self.failed.get_or_insert(error);
        self.drain();
    }

    /// The server cannot take these reports: alone most of them may pass, and one that does not is too large.
    fn report_otherwise(&mut self, sent: Complete, error: Error) {
        if !matches!(error.kind, Kind::Limit | Kind::Invalid) {
            self.end_all(&sent.results);
            return self.fail(error);
        }
        if sent.results.len() > 1 {
            for finish in sent.results {
                self.send(Complete { results: vec![finish], claim: None });
            }
            return;
        }
        for finish in sent.results {
            if finish.output.is_none() {
                self.running.end(&finish.lease);
                continue;
            }
            let refused = Failure::permanent("output_refused", format!("the server refused the output: {error}"));
            self.send(Complete { results: vec![failed(finish.lease, refused)], claim: None });
        }
    }

    /// Nothing more is said about these: their leases are kept up no longer.
    fn end_all(&mut self, results: &[Finish]) {
        for finish in results {
            self.running.end(&finish.lease);
        }
    }

    fn begin_all(&mut self, leases: Vec<Lease>) {
        if self.draining {
            return self.release(leases);
        }
        let now = Instant::now();
        for lease in leases {
            self.begin(lease, now);
        }
    }

    fn begin(&mut self, lease: Lease, now: Instant) {
        let span = lease.lease_ms.map_or(self.lease, Duration::from_millis);
        let (lease, task) = Task::of(lease);
        let context = self.running.begin(lease.clone(), span, now);
        let (handlers, report) = (Arc::clone(&self.handlers), self.finished.0.clone());
        tokio::spawn(async move {
            let done = handlers.call(task, context).await;
            // A worker that is gone reports nothing: the lease ends at its deadline.
            let _ = report.send(finish(lease, done));
        });
    }

    /// What came too late to begin goes back unspent.
    fn release(&mut self, leases: Vec<Lease>) {
        if leases.is_empty() {
            return;
        }
        let (client, leases) = (self.client.clone(), leases.into_iter().map(|lease| lease.lease).collect());
        self.asked.spawn(async move {
            // If it is not heard, they end at their deadline.
            let _ = client.release(leases).await;
            Heard::Released
        });
    }

    fn beat(&mut self) {
        let leases = self.running.due(Instant::now());
        if leases.is_empty() {
            return;
        }
        let client = self.client.clone();
        self.beat = Some(self.asked.spawn(async move { Heard::Beats(client.heartbeat(leases).await) }));
    }

    /// A heartbeat for nothing that is still to be kept up is not waited for, however often it would be repeated.
    fn rest(&mut self) {
        if self.running.is_empty()
            && let Some(beat) = self.beat.take()
        {
            beat.abort();
        }
    }
}

/// Reports until an answer decides about it. What breaks in the server, and whoever was faster there, says nothing about
/// the attempts.
async fn decided(client: &Client, sent: &Complete) -> Result<Completed> {
    for tries in 1.. {
        match client.complete(sent).await {
            Err(error) if matches!(error.kind, Kind::Conflict | Kind::Bug) => {
                tokio::time::sleep(client.backoff().after(tries)).await;
            }
            answer => return answer,
        }
    }
    unreachable!("it is tried until it ends")
}

fn claimed(sent: &Complete) -> usize {
    sent.claim.as_ref().and_then(|claim| claim.max).unwrap_or(0) as usize
}

fn finish(lease: String, done: Result<Value, Failure>) -> Finish {
    match done {
        Ok(Value::Null) => Finish { lease, output: None, error: None },
        Ok(output) => match serde_json::value::to_raw_value(&output) {
            Ok(output) => Finish { lease, output: Some(output), error: None },
            Err(error) => failed(lease, Failure::permanent("bad_output", error.to_string())),
        },
        Err(failure) => failed(lease, failure),
    }
}

fn failed(lease: String, failure: Failure) -> Finish {
    Finish { lease, output: None, error: Some(TaskError::from(failure)) }
}

async fn at(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
