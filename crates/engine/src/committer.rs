//! The committer: the only writer. Takes what is there and makes one durable transaction of all of it.
//!
//! ```text
//! commands ─► decide, fold ─► match claims ─► append ─► durable ─► answers
//! ```
//!
//! A step has no thread, clock or channel of its own: time and chance come in, answers go out. The shell
//! around it brings commands; the simulator brings faults. `R` is whatever an answer is sent with.

mod append;
mod flush;
mod idle;
mod look;
mod recover;
mod remove;

use crate::command::{Answer, Claim, Command, Grant};
use crate::desk::{Batch, Desk, Home};
use crate::entropy::Entropy;
use crate::lanes::ClaimNo;
use crate::metrics::{Counts, Durations, Pulse};
use crate::queues::Queues;
use crate::{enqueue, request, result, work};
use append::Landed;
use edgewise_core::event::AttemptRef;
use edgewise_core::id::RunId;
use edgewise_core::time::{Millis, Time};
use edgewise_core::{Error, Kind, Result};
use edgewise_store::{Ledger, Projections};
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

/// How long to wait before a store that failed is asked again.
pub(crate) const AGAIN: Millis = Millis(500);
/// How often a batch is decided anew after somebody else was first.
const TRIES: u32 = 5;
/// So often it may be because of what others grant under the same limits.
const PATIENT: u32 = 3;
/// Most runs that somebody waits for and that one sweep asks the ledger about; the next one goes on with the others.
const LOOKED_FOR: usize = 200;
/// Most timers fired, leases ended and runs advanced in one commit, so that people's commands get their turn.
pub(crate) const CHORES: usize = 1_000;

/// A command and where its answer goes.
pub struct Request<R> {
    /// What is asked.
    pub command: Command,
    /// Where the answer goes.
    pub reply: R,
}

/// What a step gives to the outside.
pub struct Step<R> {
    /// Answers, all of them about what is durable.
    pub answers: Vec<(R, Result<Answer>)>,
    /// Leases whose workers should stop.
    pub revoked: Vec<(RunId, AttemptRef)>,
    /// When the next step is due even if nobody asks for anything.
    pub wake: Option<Time>,
    /// Whether there is more to do right now.
    pub more: bool,
}

/// The engine's heart, without threads, clocks or sockets.
pub struct Committer<R> {
    desk: Desk,
    claims: BTreeMap<ClaimNo, Waiting<R>>,
    next_claim: ClaimNo,
    waits: BTreeMap<RunId, Vec<R>>,
    /// The sweep looks at those behind this one next.
    looked_for: Option<RunId>,
    rows: flush::Pace,
    retention: Option<remove::Pass>,
}

struct Waiting<R> {
    claim: Claim,
    reply: R,
}

impl<R> Committer<R> {
    /// An engine over a store. Call [`Committer::recover`] before the first step.
    pub fn new(
        ledger: Box<dyn Ledger>,
        projections: Box<dyn Projections>,
        home: Home,
        source: Arc<str>,
        entropy: Entropy,
    ) -> Self {
        Self {
            desk: Desk::new(ledger, projections, home, source, entropy),
            claims: BTreeMap::new(),
            next_claim: 1,
            waits: BTreeMap::new(),
            looked_for: None,
            rows: flush::Pace::default(),
            retention: None,
        }
    }

    /// What whoever runs the engine says of queues, where the settings of the workspace say nothing.
    pub fn set_queues(&mut self, queues: &Queues) {
        self.desk.give_queues(queues);
    }

    /// The seq of control that the ledger has and everybody is judged by; none while it is to be loaded anew.
    pub(crate) fn control_seq(&self) -> Option<u64> {
        self.desk.control.loaded.then_some(self.desk.control.durable)
    }

    /// Whoever publishes hears of every commit from now on.
    pub(crate) fn tell(&mut self, tap: crate::publish::Tap) {
        self.desk.tap = Some(tap);
    }

    /// Takes commands, decides all of them, and makes them durable in one append.
    ///
    /// An error is fatal (an fsync that failed): the process must end, and nothing was answered.
    pub fn step(&mut self, now: Time, requests: Vec<Request<R>>) -> Result<Step<R>> {
        self.desk.now = now;
        let mut answers = Vec::with_capacity(requests.len());
        let open = self.park(requests, &mut answers)?;
        let mut landed = false;
        for attempt in 1.. {
            self.desk.batch = Batch::default();
            // Where others are always first, what is not bounded must get through.
            self.desk.look_around(attempt <= PATIENT);
            let decided: Vec<Result<Answer>> = open.iter().map(|r| decide(&mut self.desk, &r.command)).collect();
            enqueue::chores(&mut self.desk);
            let grants = self.match_claims();
            match append::append(&mut self.desk)? {
                Landed::Yes => {
                    landed = true;
                    answers.extend(open.into_iter().map(|r| r.reply).zip(decided));
                    self.deliver(grants, &mut answers);
                    break;
                }
                Landed::Conflict if attempt < TRIES => self.wait_again(grants),
                Landed::Conflict => {
                    self.wait_again(grants);
                    // Nothing was decided: whoever asked comes again.
                    let error = Error::unavailable("too_busy", "other engines were first several times: try again");
                    refuse(open, &error, &mut answers);
                    break;
                }
                Landed::No(error) => {
                    self.wait_again(grants);
                    refuse(open, &error, &mut answers);
                    break;
                }
            }
        }
        self.answer_waits(&mut answers);
        self.desk.rouse_freed();
        // A run that was only looked at, and is over, need not stay.
        let fresh = std::mem::take(&mut self.desk.fresh);
        self.evict(fresh);
        let mut revoked = std::mem::take(&mut self.desk.batch.revoked);
        revoked.append(&mut self.desk.ended_elsewhere);
        Ok(Step {
            answers,
            revoked,
            // A store that takes nothing now is not asked again and again at the same instant.
            wake: if landed { self.next_wake() } else { Some(now.plus(AGAIN)) },
            more: landed && (enqueue::has_chores(&self.desk) || self.desk.could_match()),
        })
    }

    /// Sets claims and waits aside: they are answered when there is something to answer. Runs that are to be taken
    /// away are no part of the batch: each removal is durable by itself. An error is fatal.
    fn park(&mut self, requests: Vec<Request<R>>, answers: &mut Vec<(R, Result<Answer>)>) -> Result<Vec<Request<R>>> {
        let mut open = Vec::with_capacity(requests.len());
        for Request { command, reply } in requests {
            match command {
                Command::Claim(claim) if claim.max == 0 => {
                    let error = Error::invalid("empty_claim", "a claim is for at least one task, this one is for 0");
                    answers.push((reply, Err(error)));
                }
                Command::Claim(claim) => {
                    let number = self.next_claim;
                    self.next_claim += 1;
                    self.wait(number, &claim);
                    self.claims.insert(number, Waiting { claim, reply });
                }
                Command::Wait(run) => match self.desk.open(run) {
                    Ok(cached) if cached.run.state.is_done() => {
                        answers.push((reply, Ok(Answer::Ended(cached.run.state))));
                    }
                    Ok(_) => self.waits.entry(run).or_default().push(reply),
                    Err(error) => answers.push((reply, self.ended_and_gone(run, error))),
                },
                Command::Remove(removing) => {
                    let removed = self.remove(&removing);
                    match removed {
                        Err(error) if error.code == "sync_failed" => return Err(error),
                        removed => {
                            let told = removed.map(|done| Answer::Removed { kept: done.kept, more: done.more });
                            answers.push((reply, told));
                        }
                    }
                }
                command => open.push(Request { command, reply }),
            }
        }
        Ok(open)
    }

    /// How a run ended that was taken away since.
    fn ended_and_gone(&mut self, run: RunId, error: Error) -> Result<Answer> {
        if error.kind != Kind::NotFound {
            return Err(error);
        }
        let gone = self.desk.ledger.gone(&self.desk.home.stream(run))?;
        gone.map(|gone| Answer::Ended(gone.state)).ok_or(error)
    }

    /// Ready tasks meet waiting claims in the very commit that made them ready.
    fn match_claims(&mut self) -> BTreeMap<ClaimNo, Vec<Grant>> {
        let mut grants: BTreeMap<ClaimNo, Vec<Grant>> = BTreeMap::new();
        while let Some(found) = self.desk.next_match() {
            let number = found.claim;
            let Some(waiting) = self.claims.get(&number) else {
                self.desk.lanes.leave(number);
                self.desk.lanes.put_back(found);
                continue;
            };
            let Some(grant) = enqueue::grant(&mut self.desk, &found, &waiting.claim) else {
                self.desk.passed_on(found.waiting.bound.as_deref());
                continue;
            };
            let given = grants.entry(number).or_default();
            given.push(grant);
            if given.len() >= waiting.claim.max as usize {
                self.desk.lanes.leave(number);
            }
        }
        for number in grants.keys() {
            self.desk.lanes.leave(*number);
        }
        grants
    }

    /// The grants of a commit that did not land were never made: their claims wait on.
    fn wait_again(&mut self, grants: BTreeMap<ClaimNo, Vec<Grant>>) {
        for number in grants.into_keys() {
            if let Some(claim) = self.claims.get(&number).map(|waiting| waiting.claim.clone()) {
                self.wait(number, &claim);
            }
        }
    }

    fn wait(&mut self, number: ClaimNo, claim: &Claim) {
        let Desk { lanes, queues, .. } = &mut self.desk;
        let named = claim.queues.as_ref().map(|names| names.iter().map(|name| queues.number(Some(name))).collect());
        lanes.wait(number, claim.actions.iter().map(edgewise_core::name::Name::as_str), named);
    }

    fn deliver(&mut self, grants: BTreeMap<ClaimNo, Vec<Grant>>, answers: &mut Vec<(R, Result<Answer>)>) {
        for (number, given) in grants {
            if let Some(waiting) = self.claims.remove(&number) {
                let granted = Answer::Granted { grants: given, claimed: waiting.claim.max };
                answers.push((waiting.reply, Ok(granted)));
            }
        }
    }

    /// Tells whoever waits for a run that it has ended, or cannot any more.
    fn answer_waits(&mut self, answers: &mut Vec<(R, Result<Answer>)>) {
        let found_over = std::mem::take(&mut self.desk.found_over);
        if self.waits.is_empty() {
            return;
        }
        let ended = std::mem::take(&mut self.desk.batch.ended);
        let ended = ended.into_iter().filter_map(|run| Some((run, self.desk.runs.get(&run)?.run.state)));
        // What was opened again in the very commit in which it ended has not ended for anybody.
        for (run, state) in ended.chain(found_over).filter(|(_, state)| state.is_done()) {
            let waits = self.waits.remove(&run).unwrap_or_default();
            answers.extend(waits.into_iter().map(|reply| (reply, Ok(Answer::Ended(state)))));
        }
        let frozen: Vec<RunId> = self.waits.keys().filter(|r| self.desk.frozen.contains_key(r)).copied().collect();
        for run in frozen {
            for reply in self.waits.remove(&run).unwrap_or_default() {
                answers.push((reply, self.desk.open(run).map(|_| Answer::Done)));
            }
        }
    }

    fn next_wake(&self) -> Option<Time> {
        let timer = self.desk.timers.first().map(|(due, _, _)| *due);
        let reload = (!self.desk.unloaded.is_empty()).then(|| self.desk.now.plus(AGAIN));
        let (tick, opening) = (self.desk.ticks.next_look(), self.desk.next_opening());
        let (lease, rows, removal) = (self.desk.leases.next_due(), self.flush_due(), self.retention_due());
        let links = self.desk.links.is_waiting().then(|| self.desk.now.plus(AGAIN));
        let work = self.desk.work_due();
        [timer, tick, opening, lease, rows, removal, reload, links, work].into_iter().flatten().min()
    }

    /// Grants that could not be delivered: the next step takes them back, their attempts unspent.
    pub fn bring_back(&mut self, grants: &[Grant]) {
        self.desk.undelivered.extend(grants.iter().map(|grant| (grant.lease.run, grant.lease.attempt())));
    }

    /// Takes claims away whose workers are gone.
    pub fn drop_claims(&mut self, gone: impl Fn(&R) -> bool) {
        let dead: Vec<ClaimNo> = self.claims.iter().filter(|(_, w)| gone(&w.reply)).map(|(n, _)| *n).collect();
        for number in dead {
            self.claims.remove(&number);
            self.desk.lanes.leave(number);
        }
    }

    /// Takes away who waited for a run's end and is gone.
    pub fn drop_waits(&mut self, gone: impl Fn(&R) -> bool) {
        self.waits.retain(|_, waiting| {
            waiting.retain(|reply| !gone(reply));
            !waiting.is_empty()
        });
    }

    /// Looks for what should have moved and did not; true if there was something, and a step should follow.
    pub fn sweep(&mut self, now: Time) -> bool {
        self.desk.now = now;
        // What others wrote and this engine has not heard of; a store that does not answer is asked the next time.
        let _ = self.desk.catch_up();
        self.desk.look_at_marks();
        self.find_taken_away();
        enqueue::sweep(&mut self.desk) > 0
    }

    /// Runs that somebody waits for, and that ended and were taken away elsewhere: no record of theirs tells it.
    fn find_taken_away(&mut self) {
        let from = self.looked_for.take().map_or(Bound::Unbounded, Bound::Excluded);
        let some: Vec<RunId> =
            self.waits.range((from, Bound::Unbounded)).take(LOOKED_FOR).map(|(run, _)| *run).collect();
        if some.len() == LOOKED_FOR {
            self.looked_for = some.last().copied();
        }
        for run in some {
            // A store that does not answer is asked the next time.
            if let Ok(Some(gone)) = self.desk.ledger.gone(&self.desk.home.stream(run)) {
                self.desk.found_over.push((run, gone.state));
            }
        }
    }

    /// Whether there are runs that are not over, or that somebody waits for, as far as this engine has them at hand.
    pub fn has_runs(&self) -> bool {
        !self.desk.runs.is_empty() || !self.desk.frozen.is_empty() || !self.waits.is_empty()
    }

    /// Why nothing can be written at the moment; `None` if nothing is known to be wrong.
    pub fn trouble(&self) -> Option<&str> {
        self.desk.trouble.as_deref()
    }

    /// What was counted since the engine started.
    pub fn counts(&self) -> Counts {
        self.desk.counts
    }

    /// How many leases a worker has.
    pub fn held(&self, worker: &str) -> usize {
        self.desk.leases.of_worker(worker)
    }

    /// How it does at this moment.
    pub fn pulse(&self) -> Pulse {
        Pulse {
            ready: self.desk.lanes.len(),
            leases: self.desk.leases.len(),
            claims: self.claims.len(),
            runs: self.desk.runs.len(),
            ready_to_start: self.desk.ready_to_start,
            commit: Durations::default(),
        }
    }
}

/// One command, one file.
fn decide(desk: &mut Desk, command: &Command) -> Result<Answer> {
    match command {
        Command::Start(start) => request::start(desk, start),
        Command::Cancel(act) => request::cancel(desk, act),
        Command::Pause(act) => request::pause(desk, act),
        Command::Resume(act) => request::resume(desk, act),
        Command::Approve(act) => request::approve(desk, act),
        Command::Withdraw(act) => request::withdraw(desk, act),
        Command::Reject(act) => request::reject(desk, act),
        Command::Satisfy(satisfy) => request::satisfy(desk, satisfy),
        Command::Skip(act) => request::skip(desk, act),
        Command::CancelTask(act) => request::cancel_task(desk, act),
        Command::Resolve(act) => request::resolve(desk, act),
        Command::Supply(supply) => request::supply(desk, supply),
        Command::Reset(act) => request::reset(desk, act),
        Command::ResolveRun(act) => request::resolve_run(desk, act),
        Command::GiveUp(act) => request::give_up(desk, act),
        Command::Rerun(act) => request::rerun(desk, act),
        Command::Freeze(act) => request::freeze(desk, act),
        Command::Unfreeze(act) => request::unfreeze(desk, act),
        Command::Complete(reports) => result::complete(desk, reports),
        Command::GiveBack(leases) => result::give_back(desk, leases),
        Command::Heartbeat(leases) => result::heartbeat(desk, leases),
        Command::SetQueue(set) => request::set_queue(desk, set),
        Command::Register(register) => request::register(desk, register),
        Command::SetSchedule(set) => request::set_schedule(desk, set),
        Command::ChangeSetting(change) => request::change_setting(desk, change),
        Command::Work(ops) => work::work(desk, ops),
        Command::Import(import) => work::import(desk, import),
        Command::Claim(_) | Command::Wait(_) | Command::Remove(_) => {
            Err(Error::bug("not_parked", "claims, waits and removals are dealt with before this"))
        }
    }
}

fn refuse<R>(open: Vec<Request<R>>, error: &Error, answers: &mut Vec<(R, Result<Answer>)>) {
    let copy = || Error::new(error.kind, error.code, error.to_string());
    answers.extend(open.into_iter().map(|r| (r.reply, Err(copy()))));
}
