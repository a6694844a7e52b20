//! Workers: they claim, work, report, say that they live, give back; and die, and speak up when it is too late.

use super::{Ask, Storm};
use crate::dice::Dice;
use crate::driver::{LEASE, No, name};
use crate::program;
use edgewise_core::Result;
use edgewise_core::event::{AttemptRef, Failure, TaskFinished};
use edgewise_core::id::{RunId, TokenHash};
use edgewise_core::run::COMMAND_ACTION;
use edgewise_core::time::Millis;
use edgewise_engine::command::{Answer, Beat, Claim, Command, Finish, Grant, Job, LeaseRef};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::sync::Arc;

/// All that anybody can do, but for what programs ask for.
const ACTIONS: [&str; 3] = ["work", "rare", COMMAND_ACTION];
/// Most leases of the past that a worker still believes in.
const PAST: usize = 20;

/// What an attempt came to, to be said as often as need be.
pub(super) type Said = std::result::Result<Option<Cow<'static, str>>, Failure>;

/// A worker elsewhere, or one within an orchestrator's own process.
pub(super) struct Worker {
    number: u64,
    /// The orchestrator it lives in, if it does.
    pub home: Option<usize>,
    /// What it has in hand, and what it has said of it so far.
    hands: Vec<(Grant, Option<Said>)>,
    past: Vec<LeaseRef>,
    waiting: Vec<(No, usize)>,
}

impl Worker {
    pub fn new(number: u64, orchestrators: usize, dice: &mut Dice) -> Self {
        // The first is elsewhere, so that there is somebody for every door.
        let home = (number > 0 && dice.one_in(4)).then(|| dice.below(orchestrators as u64) as usize);
        Self { number, home, hands: Vec::new(), past: Vec::new(), waiting: Vec::new() }
    }

    pub fn waits_for(&self, no: No) -> bool {
        self.waiting.iter().any(|(n, _)| *n == no)
    }

    pub fn holds(&self, run: RunId, attempt: &AttemptRef) -> bool {
        self.hands.iter().any(|(grant, _)| is(&grant.lease, run, attempt))
    }

    /// It dies and comes up again, with nothing in hand.
    pub fn die(&mut self) {
        self.waiting.clear();
        let gone: Vec<LeaseRef> = self.hands.drain(..).map(|(grant, _)| grant.lease).collect();
        gone.into_iter().for_each(|lease| self.remember(lease));
    }

    /// It hears that a lease is over, and stops.
    pub fn lose(&mut self, run: RunId, attempt: &AttemptRef) {
        self.let_go(|lease| is(lease, run, attempt));
    }

    fn let_go(&mut self, which: impl Fn(&LeaseRef) -> bool) {
        while let Some(at) = self.hands.iter().position(|(grant, _)| which(&grant.lease)) {
            let lease = self.hands.swap_remove(at).0.lease;
            self.remember(lease);
        }
    }

    fn remember(&mut self, lease: LeaseRef) {
        if self.past.len() == PAST {
            self.past.remove(0);
        }
        self.past.push(lease);
    }
}

pub(super) fn is(lease: &LeaseRef, run: RunId, attempt: &AttemptRef) -> bool {
    lease.run == run && lease.task == attempt.task && lease.token.hash() == attempt.token
}

fn finish(lease: LeaseRef, said: &Said) -> Command {
    let output = |text: &Cow<'_, str>| RawValue::from_string(text.to_string()).unwrap_or_else(|e| panic!("{e}"));
    let outcome = said.as_ref().map(|text| text.as_ref().map(output)).map_err(Clone::clone);
    Command::Complete(Arc::from([Finish { lease, outcome }]))
}

/// What an attempt of a program comes to: the world answers it as it answers the reference.
fn answered(grant: &Grant) -> Option<(TokenHash, Said)> {
    let Job::Action { action, input } = &grant.work else { return None };
    if !program::ACTIONS.contains(&action.as_str()) {
        return None;
    }
    let said = program::answer(action, input, grant.lease.attempt);
    Some((grant.lease.token.hash(), said.map(|output| Some(output.to_string().into()))))
}

impl Storm {
    /// Whether an attempt of a program ended as the world answers it.
    pub(super) fn is_own(&self, e: &TaskFinished) -> bool {
        match (self.answers.get(&e.token), &e.error) {
            (Some(Ok(output)), None) => output.as_deref() == e.output.as_ref().map(|output| output.get()),
            (Some(Err(failure)), Some(error)) => failure == error,
            _ => false,
        }
    }

    /// Where a worker asks: its own orchestrator, or any of them.
    pub(super) fn door(&mut self, w: usize) -> usize {
        let all = self.orchestrators.len() as u64;
        self.workers[w].home.unwrap_or_else(|| self.dice.below(all) as usize)
    }

    pub(super) fn any_worker(&mut self) -> usize {
        self.dice.below(self.workers.len() as u64) as usize
    }

    /// A worker with something in hand, if there is one.
    fn busy_worker(&mut self) -> Option<(usize, usize)> {
        let busy: Vec<usize> = (0..self.workers.len()).filter(|w| !self.workers[*w].hands.is_empty()).collect();
        let w = busy[self.dice.index(busy.len())?];
        Some((w, self.dice.index(self.workers[w].hands.len())?))
    }

    pub(super) fn claim_of(&mut self, w: usize, max: u32) -> Command {
        let home = self.workers[w].home;
        let (worker, lease) = match home {
            Some(o) => (format!("local/{}/{w}", self.orchestrators[o].source), None),
            None => (format!("w{}", self.workers[w].number), Some(LEASE)),
        };
        let all = self.is_calm || self.dice.one_in(3);
        let actions = self.actions(all).map(name).collect();
        Command::Claim(Claim { worker: worker.into(), actions, queues: None, max, lease })
    }

    pub(super) fn claim(&mut self) {
        let w = self.any_worker();
        let to = self.door(w);
        self.abandon(w);
        let max = if self.dice.one_in(40) { 0 } else { 1 + self.dice.below(3) as u32 };
        let command = self.claim_of(w, max);
        let no = self.send(to, vec![(Ask::Claim(w), command)]);
        self.workers[w].waiting.push((no, to));
    }

    /// A worker has no more than two claims; it walks away from the older one.
    fn abandon(&mut self, w: usize) {
        if self.workers[w].waiting.len() > 1 {
            let (old, at) = self.workers[w].waiting.remove(0);
            if self.dice.one_in(2) {
                self.orchestrators[at].drop_claims(|no| *no == old);
            }
        }
    }

    /// What workers do: all there is, or what most of them can; and what programs ask for, if there are such.
    fn actions(&self, all: bool) -> impl Iterator<Item = &'static str> + use<> {
        let own: &[&str] = if all { &ACTIONS[..] } else { &ACTIONS[..1] };
        let asked: &[&str] = if self.guests.is_empty() { &[] } else { &program::ACTIONS };
        own.iter().chain(asked).copied()
    }

    fn outcome(&mut self, lease: &LeaseRef) -> Said {
        if let Some(said) = self.answers.get(&lease.token.hash()) {
            return said.clone();
        }
        if self.is_calm {
            return Ok(Some("[1]".into()));
        }
        let boom = |kind: &str| Failure::new(kind, "it broke");
        match self.dice.below(12) {
            0..=3 => Ok(None),
            4 | 5 => Ok(Some("[1,2]".into())),
            6 => Ok(Some(r#"{"k":[7]}"#.into())),
            7 => Err(Failure { retryable: false, ..boom("boom") }),
            8 => Err(Failure { retry_after: Some(Millis(700)), ..boom("boom") }),
            9 => Err(boom("bang")),
            _ => Err(boom("boom")),
        }
    }

    /// A report of what a worker has in hand; said again, it is the same.
    fn report_of(&mut self, w: usize, hand: usize) -> (Ask, Command) {
        let lease = self.workers[w].hands[hand].0.lease;
        let said = match self.workers[w].hands[hand].1.clone() {
            Some(said) if !self.dice.one_in(20) => said,
            _ => self.outcome(&lease),
        };
        self.workers[w].hands[hand].1 = Some(said.clone());
        (Ask::Report(w, vec![lease]), finish(lease, &said))
    }

    pub(super) fn finish(&mut self, and_claim: bool) {
        let Some((w, hand)) = self.busy_worker() else { return };
        let mut bundle = vec![self.report_of(w, hand)];
        let to = self.door(w);
        if and_claim {
            self.abandon(w);
            bundle.push((Ask::Claim(w), self.claim_of(w, 1)));
        }
        let first = self.send(to, bundle);
        if and_claim {
            self.workers[w].waiting.push((first + 1, to));
        }
    }

    /// Somebody who lost its lease long ago, or never had one, reports all the same.
    pub(super) fn speak_too_late(&mut self) {
        let w = self.any_worker();
        let Some(at) = self.dice.index(self.workers[w].past.len()) else { return };
        let mut lease = self.workers[w].past[at];
        let said = self.outcome(&lease);
        match self.dice.below(8) {
            0 => lease.token.0 ^= 1,
            1 => lease.attempt = lease.attempt.wrapping_sub(1),
            _ => {}
        }
        let to = self.door(w);
        self.send(to, vec![(Ask::Report(w, vec![lease]), finish(lease, &said))]);
    }

    pub(super) fn beat(&mut self) {
        let Some((w, _)) = self.busy_worker() else { return };
        let mut leases: Vec<LeaseRef> = self.workers[w].hands.iter().map(|(grant, _)| grant.lease).collect();
        leases.extend(self.dice.index(self.workers[w].past.len()).map(|at| self.workers[w].past[at]));
        let to = self.door(w);
        self.send(to, vec![(Ask::Beat(w, leases.clone()), Command::Heartbeat(leases))]);
    }

    /// A worker says of all it has in hand that it is at work.
    pub(super) fn beat_at(&mut self, w: usize, door: usize) {
        let leases: Vec<LeaseRef> = self.workers[w].hands.iter().map(|(grant, _)| grant.lease).collect();
        if !leases.is_empty() {
            self.send(door, vec![(Ask::Beat(w, leases.clone()), Command::Heartbeat(leases))]);
        }
    }

    /// A worker within an engine's process hears that a lease is over, stops, and says so: its slots are free only then.
    pub(super) fn stop_local(&mut self, w: usize, which: impl Fn(&LeaseRef) -> bool) {
        let worker = &mut self.workers[w];
        let hand = worker.hands.iter().map(|(grant, _)| grant.lease).find(which);
        let (Some(lease), Some(home)) = (hand, worker.home) else { return };
        worker.let_go(|held| *held == lease);
        let stopped = Err(Failure::new("stopped", "it was told to stop"));
        self.send(home, vec![(Ask::Report(w, vec![lease]), finish(lease, &stopped))]);
    }

    pub(super) fn give_back(&mut self) {
        let Some((w, hand)) = self.busy_worker() else { return };
        let lease = self.workers[w].hands[hand].0.lease;
        let to = self.door(w);
        self.send(to, vec![(Ask::Back(w, vec![lease]), Command::GiveBack(vec![lease]))]);
    }

    /// A worker elsewhere dies, and is back at once with empty hands.
    pub(super) fn lose_worker(&mut self) {
        let w = self.any_worker();
        if self.workers[w].home.is_none() {
            self.workers[w].die();
        }
    }

    /// An answer arrives. It may be the second one, and it may be for somebody who does not wait any more.
    pub(super) fn hear(&mut self, no: No, answer: &Result<Answer>) {
        let Some(ask) = self.asks.get(&no).cloned() else { return };
        match (ask, answer) {
            (Ask::Claim(w), Ok(Answer::Granted { grants, .. })) => {
                self.answers.extend(grants.iter().filter_map(answered));
                let worker = &mut self.workers[w];
                worker.waiting.retain(|(n, _)| *n != no);
                for grant in grants {
                    let known = worker.hands.iter().any(|(g, _)| g.lease == grant.lease);
                    if !known && !worker.past.contains(&grant.lease) {
                        worker.hands.push((grant.clone(), None));
                    }
                }
            }
            (Ask::Claim(w), _) => self.workers[w].waiting.retain(|(n, _)| *n != no),
            (Ask::Report(w, leases), Ok(Answer::Completed(_))) | (Ask::Back(w, leases), Ok(_)) => {
                self.workers[w].let_go(|lease| leases.contains(lease));
            }
            (Ask::Beat(w, leases), Ok(Answer::Beats(beats))) => {
                let over: Vec<LeaseRef> =
                    leases.iter().zip(beats).filter(|(_, b)| **b == Beat::Cancel).map(|(l, _)| *l).collect();
                over.iter().for_each(|lease| self.stop_local(w, |held| held == lease));
                self.workers[w].let_go(|lease| over.contains(lease));
            }
            _ => {}
        }
    }

    /// Everything in hand is reported; true if there was anything.
    pub(super) fn report_all(&mut self) -> bool {
        let mut any = false;
        for w in 0..self.workers.len() {
            for hand in 0..self.workers[w].hands.len() {
                let bundle = vec![self.report_of(w, hand)];
                let to = self.door(w);
                self.send(to, bundle);
                any = true;
            }
        }
        any
    }

    /// After every other storm workers trust a claim that a living engine took and did not answer yet: nobody else
    /// would notice that it was lost. After the others they claim anew, whatever became of what they claimed before.
    fn trusts_claims(&self) -> bool {
        !self.seed.is_multiple_of(2)
    }

    /// Of what was claimed in the storm, that is left which somebody waits for and which is for all there is.
    pub(super) fn keep_claims(&mut self) {
        for o in 0..self.orchestrators.len() {
            let mut good = self.orchestrators[o].open_claims(self.actions(true).count());
            good.retain(|no| self.trusts_claims() && self.workers.iter().any(|w| w.waiting.contains(&(*no, o))));
            self.orchestrators[o].drop_claims(|no| !good.contains(no));
            self.workers.iter_mut().for_each(|w| w.waiting.retain(|(no, at)| *at != o || good.contains(no)));
        }
    }

    /// Somebody waits at every door for all there is.
    pub(super) fn claim_anew(&mut self) {
        for o in 0..self.orchestrators.len() {
            if !self.trusts_claims() {
                self.orchestrators[o].drop_claims(|_| true);
            } else if !self.orchestrators[o].open_claims(self.actions(true).count()).is_empty() {
                continue;
            }
            let w = self.workers.iter().position(|w| w.home.is_none_or(|home| home == o));
            let Some(w) = w else { continue };
            let command = self.claim_of(w, 3);
            let no = self.send(o, vec![(Ask::Claim(w), command)]);
            self.workers[w].waiting.push((no, o));
        }
    }
}
