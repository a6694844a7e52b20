//! An orchestrator: an engine without threads, the shell around it, and a clock of its own.

use crate::driver::{No, home, name};
use crate::plans::{SLOW, SLOW_SLOTS, has_events, has_shares};
use crate::store::{Lag, Store};
use crate::teller::Teller;
use edgewise_core::id::RunId;
use edgewise_core::time::{Millis, Time};
use edgewise_core::work::Work;
use edgewise_core::{Error, Result};
use edgewise_engine::command::Command;
use edgewise_engine::committer::{Committer, Request, Step};
use edgewise_engine::entropy::Entropy;
use edgewise_engine::queues::QueueSettings;
use edgewise_store::faulty::Faults;
use edgewise_store::{Flush, Projections};
use std::collections::{BTreeMap, BTreeSet};

/// How often a shell looks for what was forgotten, and for how long it sleeps at most.
pub(crate) const SWEEP_EVERY: Millis = Millis(5_000);

/// What the file of every engine says of the queue with slots.
const FILED: QueueSettings = QueueSettings { slots: Some(SLOW_SLOTS), rate: None, paused: false };

/// An engine that lives, is frozen, or is dead.
pub(crate) struct Orchestrator {
    committer: Option<Committer<No>>,
    writer: Option<Box<dyn Projections>>,
    /// Its publisher, where flows tell something.
    pub teller: Option<Teller>,
    pub faults: Faults,
    /// Which engine this is: another one after each death.
    pub source: String,
    /// How far its clock is from the true one.
    pub skew: i64,
    /// Until when it does nothing and hears nothing.
    pub frozen: Option<Time>,
    /// Requests that arrived and were not yet taken.
    pub inbox: Vec<(No, Command)>,
    /// Until when its shell sleeps, by the true clock: who sleeps does not see that their own clock was set.
    asleep: Option<Time>,
    /// Whether it may wake late: its clock was set, or it was not woken, since it went to sleep.
    pub oversleeps: bool,
    /// Claims that it took and did not answer yet, and for how many actions each is.
    claims: BTreeMap<No, usize>,
    swept: Time,
    /// Rows on their way to the store, and the runs whose rows may have been written since somebody looked.
    pub writing: Option<Flush>,
    pub wrote: BTreeSet<RunId>,
    /// Whether the sweep found something that should have moved by itself.
    pub forgot: bool,
}

impl Orchestrator {
    pub fn new() -> Self {
        Self {
            committer: None,
            writer: None,
            teller: None,
            faults: Faults::none(),
            source: String::new(),
            skew: 0,
            frozen: None,
            inbox: Vec::new(),
            asleep: None,
            oversleeps: false,
            claims: BTreeMap::new(),
            swept: Time::NEVER,
            writing: None,
            wrote: BTreeSet::new(),
            forgot: false,
        }
    }

    pub fn lives(&self) -> bool {
        self.committer.is_some()
    }

    /// Whether it does anything at all.
    pub fn acts(&self) -> bool {
        self.lives() && self.frozen.is_none()
    }

    /// Its clock, at a true instant.
    pub fn clock(&self, now: Time) -> Time {
        Time(now.0.saturating_add_signed(self.skew))
    }

    /// The true instant at which it takes its next step by itself.
    pub fn due(&self) -> Option<Time> {
        self.asleep
    }

    /// Its clock is set.
    pub fn set_clock(&mut self, by: i64) {
        self.skew += by;
        self.oversleeps = true;
    }

    /// It is not woken in time.
    pub fn sleep_on(&mut self, now: Time) {
        (self.asleep, self.oversleeps) = (Some(now.plus(SWEEP_EVERY)), true);
    }

    /// Its shell sleeps until its clock will show a time, and never for longer than between two sweeps.
    fn sleep(&mut self, now: Time, wake: Option<Time>) {
        let clock = self.clock(now);
        self.asleep = wake.map(|wake| now.plus(wake.since(clock).min(SWEEP_EVERY)));
        self.oversleeps = false;
    }

    /// The true instant at which its clock shows a time.
    pub fn instant(&self, clock: Time) -> Time {
        Time(clock.0.saturating_add_signed(-self.skew))
    }

    /// Another engine comes up over the store.
    pub fn rise(&mut self, store: &Store, lag: &Lag, now: Time, (seed, life): (u64, u64)) -> Result<()> {
        self.faults.restart();
        self.source = format!("e{life}");
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8..16].copy_from_slice(&life.to_le_bytes());
        let (ledger, rows) = store.faulty(&self.faults, lag)?;
        let source = self.source.as_str().into();
        let mut committer = Committer::new(ledger, rows, home(), source, Entropy::from_seed(key));
        if has_shares(seed) {
            committer.set_queues(&[(name(SLOW), FILED)].into());
        }
        let clock = self.clock(now);
        committer.recover(clock)?;
        self.writer = Some(store.faulty(&self.faults, lag)?.1);
        if has_events(seed) {
            self.teller = Some(Teller::new(store.faulty_domain(&self.faults)?, &mut committer)?);
        }
        (self.committer, self.swept) = (Some(committer), clock);
        self.sleep(now, Some(clock));
        Ok(())
    }

    /// It is gone, with everything it had in memory and everything it was asked.
    pub fn die(&mut self) {
        (self.committer, self.writer, self.frozen, self.asleep, self.writing) = (None, None, None, None, None);
        self.teller = None;
        self.inbox.clear();
        self.claims.clear();
    }

    /// One round of the shell: sweep if it is time, take what was asked, commit. An error ends the process.
    pub fn step(&mut self, now: Time) -> Result<Step<No>> {
        let clock = self.clock(now);
        let Some(committer) = &mut self.committer else {
            return Err(Error::bug("no_engine", "a dead orchestrator was asked to do something"));
        };
        if clock.since(self.swept) >= SWEEP_EVERY || clock < self.swept {
            self.swept = clock;
            self.forgot |= committer.sweep(clock);
        }
        for (no, command) in &self.inbox {
            if let Command::Claim(claim) = command {
                self.claims.insert(*no, claim.actions.len());
            }
        }
        let requests = self.inbox.drain(..).map(|(reply, command)| Request { command, reply }).collect();
        let step = committer.step(clock, requests)?;
        let sweep = committer.has_runs().then(|| self.swept.plus(SWEEP_EVERY));
        if self.writing.is_none() {
            self.writing = committer.flush(clock)?;
        }
        self.claims.retain(|no, _| step.answers.iter().all(|(answered, _)| answered != no));
        self.sleep(now, if step.more { Some(clock) } else { step.wake.into_iter().chain(sweep).min() });
        Ok(step)
    }

    /// Writes the rows that are on their way, or says that they were not written.
    pub fn write(&mut self, now: Time, lost: bool) {
        let clock = self.clock(now);
        let (Some(flush), Some(writer), Some(committer)) = (self.writing.take(), &mut self.writer, &mut self.committer)
        else {
            return;
        };
        self.wrote.extend(flush.runs.iter().map(|change| change.stream.run));
        self.wrote.extend(flush.gone.iter().map(|stream| stream.run));
        let result = match lost {
            true => Err(Error::unavailable("store_busy", "the rows were not written, as the weather would have it")),
            false => writer.flush(&flush),
        };
        committer.flushed(clock, &result);
        // The shell takes the result as a message, and a message is a step.
        self.sleep(now, Some(clock));
    }

    /// The work graph as its engine has it, if it has one.
    pub fn work_at_hand(&self) -> Option<&Work> {
        self.committer.as_ref()?.work_at_hand()
    }

    /// The claims that it took, that it did not answer yet, and that are for so many actions.
    pub fn open_claims(&self, actions: usize) -> BTreeSet<No> {
        self.claims.iter().filter(|(_, count)| **count == actions).map(|(no, _)| *no).collect()
    }

    /// The connections of workers broke: their claims are taken back.
    pub fn drop_claims(&mut self, gone: impl Fn(&No) -> bool) {
        self.claims.retain(|no, _| !gone(no));
        if let Some(committer) = &mut self.committer {
            committer.drop_claims(gone);
        }
    }

    /// Grants that reached nobody.
    pub fn bring_back(&mut self, now: Time, grants: &[edgewise_engine::command::Grant]) {
        if let Some(committer) = &mut self.committer {
            committer.bring_back(grants);
            self.sleep(now, Some(self.clock(now)));
        }
    }
}
