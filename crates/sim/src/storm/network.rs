//! The network: messages in flight between those who ask and those who answer.

use super::worker::is;
use super::{Ask, Storm};
use crate::driver::No;
use crate::violation::Held;
use crate::weather::Trouble;
use edgewise_core::Result;
use edgewise_core::event::AttemptRef;
use edgewise_core::id::RunId;
use edgewise_core::time::{Millis, Time};
use edgewise_engine::command::{Answer, Command, Grant};
use std::sync::Arc;

/// Something on its way.
pub(super) struct Message {
    body: Body,
    /// Not delivered before.
    after: Time,
    /// What was done to it, which counts once somebody gets it.
    trouble: Option<Trouble>,
}

enum Body {
    /// Commands to one orchestrator, which shall be in one commit.
    Asked(usize, Vec<(No, Command)>),
    Answered(No, Arc<Result<Answer>>),
    /// To a worker: one of its leases is over.
    Revoked(usize, RunId, AttemptRef),
}

impl Body {
    fn again(&self) -> Self {
        match self {
            Self::Asked(to, commands) => {
                Self::Asked(*to, commands.iter().map(|(no, command)| (*no, again(command))).collect())
            }
            Self::Answered(no, answer) => Self::Answered(*no, Arc::clone(answer)),
            Self::Revoked(worker, run, attempt) => Self::Revoked(*worker, *run, *attempt),
        }
    }
}

/// The same command once more.
fn again(command: &Command) -> Command {
    match command {
        Command::Start(start) => Command::Start(start.clone()),
        Command::Cancel(act) => Command::Cancel(act.clone()),
        Command::Pause(act) => Command::Pause(act.clone()),
        Command::Resume(act) => Command::Resume(act.clone()),
        Command::Approve(act) => Command::Approve(act.clone()),
        Command::Withdraw(act) => Command::Withdraw(act.clone()),
        Command::Reject(act) => Command::Reject(act.clone()),
        Command::Satisfy(satisfy) => Command::Satisfy(satisfy.clone()),
        Command::Claim(claim) => Command::Claim(claim.clone()),
        Command::Complete(reports) => Command::Complete(Arc::clone(reports)),
        Command::GiveBack(leases) => Command::GiveBack(leases.clone()),
        Command::Heartbeat(leases) => Command::Heartbeat(leases.clone()),
        Command::Wait(run) => Command::Wait(*run),
        Command::Skip(act) => Command::Skip(act.clone()),
        Command::CancelTask(act) => Command::CancelTask(act.clone()),
        Command::Resolve(act) => Command::Resolve(act.clone()),
        Command::Supply(act) => Command::Supply(act.clone()),
        Command::Reset(act) => Command::Reset(act.clone()),
        Command::ResolveRun(act) => Command::ResolveRun(act.clone()),
        Command::GiveUp(act) => Command::GiveUp(act.clone()),
        Command::Freeze(act) => Command::Freeze(act.clone()),
        Command::Unfreeze(act) => Command::Unfreeze(act.clone()),
        Command::Remove(removing) => Command::Remove(removing.clone()),
        Command::Register(register) => Command::Register(register.clone()),
        Command::SetSchedule(set) => Command::SetSchedule(set.clone()),
        Command::ChangeSetting(change) => Command::ChangeSetting(change.clone()),
        Command::Rerun(act) => Command::Rerun(act.clone()),
        Command::Work(ops) => Command::Work(ops.clone()),
        Command::Import(import) => Command::Import(import.clone()),
        Command::SetQueue(set) => Command::SetQueue(set.clone()),
    }
}

/// What a command is called.
pub(super) fn kind(command: &Command) -> &'static str {
    match command {
        Command::Start(_) => "Start",
        Command::Cancel(_) => "Cancel",
        Command::Pause(_) => "Pause",
        Command::Resume(_) => "Resume",
        Command::Approve(_) => "Approve",
        Command::Withdraw(_) => "Withdraw",
        Command::Reject(_) => "Reject",
        Command::Satisfy(_) => "Satisfy",
        Command::Claim(_) => "Claim",
        Command::Complete(_) => "Complete",
        Command::GiveBack(_) => "GiveBack",
        Command::Heartbeat(_) => "Heartbeat",
        Command::Wait(_) => "Wait",
        Command::Skip(_) => "Skip",
        Command::CancelTask(_) => "CancelTask",
        Command::Resolve(_) => "Resolve",
        Command::Supply(_) => "Supply",
        Command::Reset(_) => "Reset",
        Command::ResolveRun(_) => "ResolveRun",
        Command::GiveUp(_) => "GiveUp",
        Command::Freeze(_) => "Freeze",
        Command::Unfreeze(_) => "Unfreeze",
        Command::Remove(_) => "Remove",
        Command::Register(_) => "Register",
        Command::SetSchedule(_) => "SetSchedule",
        Command::ChangeSetting(_) => "ChangeSetting",
        Command::Rerun(_) => "Rerun",
        Command::Work(_) => "Work",
        Command::Import(_) => "Import",
        Command::SetQueue(_) => "SetQueue",
    }
}

/// An answer in a few words.
pub(super) fn told(answer: &Result<Answer>) -> String {
    match answer {
        Ok(Answer::Granted { grants, .. }) => {
            let one = |g: &Grant| format!("{}/{} attempt {}", g.lease.run.short(), g.path, g.lease.attempt);
            format!("granted {}", grants.iter().map(one).collect::<Vec<_>>().join(", "))
        }
        Ok(Answer::Completed(each)) => {
            let one = |r: &Result<()>| r.as_ref().err().map_or("kept", |e| e.code);
            each.iter().map(one).collect::<Vec<_>>().join(", ")
        }
        Ok(other) => format!("{other:?}"),
        Err(error) => error.code.to_owned(),
    }
}

impl Storm {
    /// Sends commands to an orchestrator; gives the number of the first.
    pub(super) fn send(&mut self, to: usize, commands: Vec<(Ask, Command)>) -> No {
        let first = self.next;
        let mut numbered = Vec::with_capacity(commands.len());
        let mut local = false;
        for (ask, command) in commands {
            let no = self.next;
            self.next += 1;
            self.note(|| format!("{} #{no} to orchestrator {to}", kind(&command)));
            self.witness.asked(no, &command);
            local |= self.is_local(&ask);
            self.asks.insert(no, ask);
            numbered.push((no, command));
        }
        if local {
            // A local worker lives and dies with its orchestrator.
            if self.orchestrators[to].lives() {
                self.orchestrators[to].inbox.extend(numbered);
            }
        } else {
            self.post(Body::Asked(to, numbered), None);
        }
        first
    }

    fn is_local(&self, ask: &Ask) -> bool {
        match ask {
            Ask::Claim(w) | Ask::Report(w, _) | Ask::Beat(w, _) | Ask::Back(w, _) => self.workers[*w].home.is_some(),
            Ask::Person => false,
        }
    }

    fn post(&mut self, body: Body, mut trouble: Option<Trouble>) {
        let mut delay = 0;
        if self.strikes(Trouble::Delay) {
            delay = 1 + self.dice.below(20_000);
            trouble = trouble.or(Some(Trouble::Delay));
        }
        self.net.push(Message { body, after: self.now.plus(Millis(delay)), trouble });
    }

    /// Whether there is somebody who gets it: workers and people always are.
    fn reaches(&self, body: &Body) -> bool {
        !matches!(body, Body::Asked(to, _) if !self.orchestrators[*to].lives())
    }

    pub(super) fn send_answer(&mut self, o: usize, no: No, answer: Result<Answer>) {
        let Some(ask) = self.asks.get(&no).cloned() else { return };
        if let (Ask::Claim(w), Ok(Answer::Granted { grants, .. })) = (&ask, &answer)
            && !self.workers[*w].waits_for(no)
            && self.dice.one_in(2)
        {
            // Whoever claimed is gone, and the connection says so.
            let grants = grants.clone();
            self.note(|| format!("the grants of #{no} reach nobody"));
            self.orchestrators[o].bring_back(self.now, &grants);
            return;
        }
        if self.is_local(&ask) {
            self.hear(no, &answer);
        } else {
            self.post(Body::Answered(no, Arc::new(answer)), None);
        }
    }

    pub(super) fn tell_revoked(&mut self, o: usize, run: RunId, attempt: AttemptRef) {
        let holds = |w: &super::Worker| w.holds(run, &attempt);
        let Some(w) = self.workers.iter().position(holds) else { return };
        match self.workers[w].home {
            Some(home) if home == o => self.stop_local(w, |lease| is(lease, run, &attempt)),
            Some(_) => {}
            None => self.post(Body::Revoked(w, run, attempt), None),
        }
    }

    /// How many messages are in flight.
    pub(super) fn in_flight(&self) -> usize {
        self.net.len()
    }

    /// Takes one message that may arrive by now, usually the oldest.
    pub(super) fn deliver(&mut self) -> Held {
        let now = self.now;
        let may = |m: &Message| m.after <= now;
        let Some(first) = self.net.iter().position(may) else { return Ok(()) };
        let mut at = first;
        if self.net.len() > first + 1 && self.strikes(Trouble::Reorder) {
            let others: Vec<usize> = (first + 1..self.net.len()).filter(|i| may(&self.net[*i])).collect();
            at = self.dice.index(others.len()).map_or(first, |i| others[i]);
            self.felt_if(at != first, Trouble::Reorder);
        }
        let message = self.net.remove(at);
        if self.strikes(Trouble::Loss) {
            self.felt_if(self.reaches(&message.body), Trouble::Loss);
            return Ok(());
        }
        if self.strikes(Trouble::Duplicate) {
            // What nobody gets the first time is not there twice.
            let doubled = self.reaches(&message.body).then_some(Trouble::Duplicate);
            self.post(message.body.again(), doubled);
        }
        if let Some(trouble) = message.trouble {
            self.felt_if(self.reaches(&message.body), trouble);
        }
        self.arrive(message.body)
    }

    fn arrive(&mut self, body: Body) -> Held {
        match body {
            Body::Asked(to, _) if !self.orchestrators[to].lives() => Ok(()),
            Body::Asked(to, commands) => {
                self.orchestrators[to].inbox.extend(commands);
                // Now and then it waits for more, and takes all in one commit.
                if !self.is_calm && self.dice.one_in(5) { Ok(()) } else { self.serve(to) }
            }
            Body::Answered(no, answer) => {
                self.hear(no, &answer);
                Ok(())
            }
            Body::Revoked(w, run, attempt) => {
                self.workers[w].lose(run, &attempt);
                Ok(())
            }
        }
    }

    /// All messages arrive, whatever they are held up by.
    pub(super) fn deliver_all(&mut self) -> Held {
        while !self.net.is_empty() {
            let message = self.net.remove(0);
            self.arrive(message.body)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;

    /// A storm without troubles of its own.
    fn fair() -> Storm {
        let storm = |seed| Storm::new(seed, Store::in_memory(), false).unwrap();
        let is_fair = |storm: &Storm| Trouble::ALL.iter().all(|trouble| !storm.weather.has(*trouble));
        (0..).map(storm).find(is_fair).unwrap()
    }

    #[test]
    fn what_is_late_or_comes_twice_counts_if_a_living_engine_gets_it() {
        let mut storm = fair();
        let count = |storm: &Storm| [Trouble::Delay, Trouble::Duplicate].map(|t| storm.cover.get("trouble", t.word()));
        let send = |storm: &mut Storm, trouble| {
            storm.post(Body::Asked(0, Vec::new()), trouble);
            storm.deliver().unwrap();
        };
        storm.kill(0);
        for trouble in [None, Some(Trouble::Delay), Some(Trouble::Duplicate)] {
            send(&mut storm, trouble);
        }
        assert_eq!((count(&storm), storm.in_flight()), ([0, 0], 0), "nobody was there");
        storm.rise(0);
        for trouble in [None, Some(Trouble::Delay), Some(Trouble::Duplicate)] {
            send(&mut storm, trouble);
        }
        assert_eq!(count(&storm), [1, 1]);
    }

    #[test]
    fn nobody_feels_what_is_still_on_its_way() {
        let mut storm = fair();
        storm.net.push(Message {
            body: Body::Asked(0, Vec::new()),
            after: storm.now.plus(Millis(5)),
            trouble: Some(Trouble::Delay),
        });
        storm.deliver().unwrap();
        assert_eq!((storm.cover.get("trouble", Trouble::Delay.word()), storm.in_flight()), (0, 1));
        storm.now = storm.now.plus(Millis(5));
        storm.deliver().unwrap();
        assert_eq!((storm.cover.get("trouble", Trouble::Delay.word()), storm.in_flight()), (1, 0));
    }
}
