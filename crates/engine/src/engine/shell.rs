//! The committer's thread: takes what was asked, has it decided and made durable, answers, and hands rows on.
//!
//! Rows are written by another thread. When they fall behind as far as may be, nothing more is taken until they are
//! written: whoever asks waits, and the memory stays bounded.

use super::{Clock, Looking, Message, Reply, Revoked};
use crate::command::Answer;
use crate::committer::{Committer, Request};
use crate::metrics::{Counts, Durations, Pulse};
use crate::work::Look;
use edgewise_core::Result;
use edgewise_core::time::{Millis, Time};
use edgewise_store::{Flush, Projections};
use serde_json::Value;
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender};
use std::time::{Duration, Instant};
use tokio::sync::{mpsc, oneshot, watch};

/// How often the sweep looks for what was forgotten, while there are runs.
const SWEEP_EVERY: Millis = Millis(5_000);
/// Most bundles taken into one commit.
const BATCH: usize = 2_000;

pub(super) struct Shell {
    committer: Committer<Reply>,
    clock: Clock,
    flushes: SyncSender<Flush>,
    /// What came while rows were too far behind, in its order. It keeps its permits, so there is no more of it than may wait.
    put_off: VecDeque<Message>,
    listeners: Vec<mpsc::UnboundedSender<Revoked>>,
    /// Asked since the last step; answered after the next, when what was asked before them is decided.
    idle: Vec<oneshot::Sender<bool>>,
    /// Whose leases are counted after the next step.
    held: Vec<(Arc<str>, oneshot::Sender<usize>)>,
    leaving: Vec<(mpsc::UnboundedSender<Result<Answer>>, oneshot::Sender<()>)>,
    /// Who looks at the work graph after the next step.
    looks: Vec<(Box<Look>, oneshot::Sender<Result<Value>>)>,
    looking: Vec<Looking>,
    tell: watch::Sender<Option<String>>,
    /// How long commits took.
    commit: Durations,
    /// The state of control, and one more; 0 while it is not known.
    control: Arc<AtomicU64>,
}

impl Shell {
    pub(super) fn new(
        committer: Committer<Reply>,
        clock: Clock,
        flushes: SyncSender<Flush>,
        tell: watch::Sender<Option<String>>,
        control: Arc<AtomicU64>,
    ) -> Self {
        let (put_off, listeners, idle, held, leaving, looks, looking, commit) = Default::default();
        Self {
            committer,
            clock,
            flushes,
            put_off,
            listeners,
            idle,
            held,
            leaving,
            looks,
            looking,
            tell,
            commit,
            control,
        }
    }

    /// Takes what is there, makes it durable, answers; until told to stop or a sync fails.
    pub(super) fn run(mut self, messages: &Receiver<Message>) -> Result<Counts> {
        let mut wake = Some((self.clock)());
        let mut swept = (self.clock)();
        loop {
            let mut bundle = Vec::new();
            let mut go_on = self.take(messages, wake, &mut bundle);
            let now = (self.clock)();
            // A clock that went back must not put the sweep off.
            if now.since(swept) >= SWEEP_EVERY || now < swept {
                swept = now;
                self.committer.sweep(now);
                // Whoever waits for a while and asks again would be kept each time, until the run ends.
                self.committer.drop_waits(|to| matches!(to, Reply::Once(once) if once.is_closed()));
            }
            let hasty = bundle.iter().any(|request| matches!(request.reply, Reply::Now(_)));
            let (begun, commits) = (Instant::now(), self.committer.counts().commits);
            let step = self.committer.step(now, bundle)?;
            if self.committer.counts().commits > commits {
                self.commit.add(begun.elapsed());
            }
            let sweep = self.committer.has_runs().then(|| swept.plus(SWEEP_EVERY));
            wake = if step.more { Some(now) } else { step.wake.into_iter().chain(sweep).min() };
            self.tell_trouble();
            self.control.store(self.committer.control_seq().map_or(0, |seq| seq + 1), Ordering::Release);
            for (reply, answer) in step.answers {
                let unheard = match reply {
                    Reply::Once(once) | Reply::Now(once) => once.send(answer).err(),
                    Reply::Many(many) => many.send(answer).err().map(|e| e.0),
                };
                // Whoever asked may be gone. What was decided stays, but for leases that nobody has.
                if let Some(Ok(Answer::Granted { grants, .. })) = unheard {
                    self.committer.bring_back(&grants);
                    wake = Some(now);
                }
            }
            if hasty {
                self.committer.drop_claims(|to| matches!(to, Reply::Now(_)));
            }
            for revoked in step.revoked {
                self.listeners.retain(|l| l.send(revoked).is_ok());
            }
            self.answer_later();
            self.committer.retain(now)?;
            if let Some(flush) = self.committer.flush(now)? {
                go_on &= self.flushes.send(flush).is_ok();
            }
            if !go_on {
                return self.finish(messages);
            }
        }
    }

    fn answer_later(&mut self) {
        for (gone, reply) in self.leaving.drain(..) {
            self.committer.drop_claims(|to| matches!(to, Reply::Many(answers) if answers.same_channel(&gone)));
            let _ = reply.send(());
        }
        for reply in self.idle.drain(..) {
            let _ = reply.send(self.committer.is_idle());
        }
        for (worker, reply) in self.held.drain(..) {
            let _ = reply.send(self.committer.held(&worker));
        }
        let now = (self.clock)();
        for (look, reply) in self.looks.drain(..) {
            let _ = reply.send(self.committer.look(now, &look));
        }
        for looking in self.looking.drain(..) {
            looking(self.committer.work(now), now);
        }
    }

    /// Says what is wrong when it begins, and that it is over when it is.
    fn tell_trouble(&self) {
        self.tell.send_if_modified(|known| {
            let changed = known.as_deref() != self.committer.trouble();
            if changed {
                *known = self.committer.trouble().map(str::to_owned);
            }
            changed
        });
    }

    /// Waits for a first message until `wake`, then takes all that are there. False to stop.
    fn take(&mut self, messages: &Receiver<Message>, wake: Option<Time>, bundle: &mut Vec<Request<Reply>>) -> bool {
        while self.committer.is_behind() {
            let Ok(message) = messages.recv() else { return false };
            match message {
                Message::Flushed(_) | Message::Counts(_) | Message::Pulse(_) | Message::Stop => {
                    if !self.heed(message, bundle) {
                        return false;
                    }
                }
                _ => self.put_off.push_back(message),
            }
        }
        let mut next = match (self.put_off.pop_front(), wake.map(|wake| patience(wake, (self.clock)()))) {
            (Some(message), _) => Some(message),
            (None, Some(Duration::ZERO)) => messages.try_recv().ok(),
            (None, Some(patience)) => match messages.recv_timeout(patience) {
                Ok(message) => Some(message),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return false,
            },
            (None, None) => match messages.recv() {
                Ok(message) => Some(message),
                Err(_) => return false,
            },
        };
        let mut taken = 0;
        while let Some(message) = next {
            if !self.heed(message, bundle) {
                return false;
            }
            taken += 1;
            let more = || self.put_off.pop_front().or_else(|| messages.try_recv().ok());
            next = (taken < BATCH).then(more).flatten();
        }
        true
    }

    /// Does what a message says, or puts it aside for this round. False to stop.
    fn heed(&mut self, message: Message, bundle: &mut Vec<Request<Reply>>) -> bool {
        match message {
            Message::Ask(requests, _permit) => bundle.extend(requests),
            Message::Flushed(result) => self.committer.flushed((self.clock)(), &result),
            Message::Listen(listener) => self.listeners.push(listener),
            Message::Counts(reply) => drop(reply.send(self.committer.counts())),
            Message::Pulse(reply) => {
                let _ = reply.send(Pulse { commit: self.commit, ..self.committer.pulse() });
            }
            Message::Idle(reply) => self.idle.push(reply),
            Message::Held(worker, reply) => self.held.push((worker, reply)),
            Message::Look(look, reply) => self.looks.push((look, reply)),
            Message::WithWork(looking) => self.looking.push(looking),
            Message::Leave(gone, reply) => self.leaving.push((gone, reply)),
            Message::Stop => return false,
        }
        true
    }

    /// Writes what the rows are behind, so that the next start has nothing to catch up with.
    fn finish(mut self, messages: &Receiver<Message>) -> Result<Counts> {
        while self.committer.is_flushing() {
            match messages.recv() {
                Ok(Message::Flushed(result)) => self.committer.flushed((self.clock)(), &result),
                Ok(_) => {}
                Err(_) => return Ok(self.committer.counts()),
            }
        }
        let flush = self.committer.flush_all()?;
        if self.flushes.send(flush).is_ok() {
            while let Ok(message) = messages.recv() {
                if let Message::Flushed(_) = message {
                    break;
                }
            }
        }
        Ok(self.committer.counts())
    }
}

/// How long to sleep for what is due at `wake`. A sleep does not see that the clock is set forwards or that the machine
/// was suspended; so it is short, and whatever is due then is late by no more than it.
fn patience(wake: Time, now: Time) -> Duration {
    Duration::from_millis(wake.since(now).0.min(SWEEP_EVERY.0))
}

/// Writes rows, one flush after the other, until the committer is gone.
pub(super) fn compact(
    mut rows: Box<dyn Projections>,
    logs: Option<&Path>,
    work: &Receiver<Flush>,
    back: &Sender<Message>,
) {
    while let Ok(flush) = work.recv() {
        // Logs before rows: as long as there are rows, what was not finished is found again.
        for (logs, gone) in logs.into_iter().flat_map(|logs| flush.gone.iter().map(move |gone| (logs, gone))) {
            // A run of actions has none; what cannot be deleted now harms nobody.
            let _ = std::fs::remove_dir_all(logs.join(gone.run.to_string()));
        }
        if back.send(Message::Flushed(rows.flush(&flush))).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::{Command, Start};
    use crate::desk::Home;
    use crate::entropy::Entropy;
    use edgewise_core::flow::compile;
    use edgewise_core::name::Name;
    use edgewise_store::memory::{MemoryLedger, MemoryProjections};
    use serde_json::value::RawValue;
    use std::sync::mpsc::{channel, sync_channel};

    #[test]
    fn nobody_sleeps_so_long_that_a_clock_that_is_set_forwards_goes_unseen() {
        let check = |wake: u64, sleep: u64| {
            assert_eq!(patience(Time(wake), Time(1_000_000)), Duration::from_millis(sleep), "due at {wake}");
        };
        check(1_000_000, 0);
        check(999_000, 0);
        check(1_000_040, 40);
        check(1_005_000, 5_000);
        check(1_005_001, 5_000);
        check(u64::MAX, 5_000);
    }

    fn ask(inbox: &Sender<Message>, starts: usize) -> Vec<oneshot::Receiver<Result<Answer>>> {
        let plan = Arc::new(compile("{ flow: f, tasks: { a: { action: nobody } } }", "f.yaml").unwrap().plan);
        let start = || Start {
            plan: Arc::clone(&plan),
            children: Vec::new(),
            input: RawValue::from_string("null".into()).unwrap(),
            by: Name::parse("ann").unwrap(),
            key: None,
            labels: Default::default(),
        };
        let (replies, answers): (Vec<_>, Vec<_>) = (0..starts).map(|_| oneshot::channel()).unzip();
        let request = |reply| Request { command: Command::Start(start()), reply: Reply::Once(reply) };
        inbox.send(Message::Ask(replies.into_iter().map(request).collect(), None)).unwrap();
        answers
    }

    #[test]
    fn while_rows_are_too_far_behind_nobody_is_answered_and_then_everybody() {
        let (ledger, rows) = (MemoryLedger::default(), MemoryProjections::default());
        let home = Home { tenant: Name::parse("local").unwrap(), workspace: Name::parse("default").unwrap() };
        let entropy = Entropy::from_seed([7; 32]);
        let mut committer = Committer::new(Box::new(ledger), Box::new(rows), home, "e1".into(), entropy);
        committer.recover(Time(1_000)).unwrap();
        let ((inbox, messages), (flushes, flushed)) = (channel(), sync_channel(1));
        let shell = Shell::new(committer, Arc::new(|| Time(1_000)), flushes, watch::channel(None).0, Arc::default());
        let thread = std::thread::spawn(move || shell.run(&messages));
        let answered = |answers: Vec<oneshot::Receiver<Result<Answer>>>| {
            answers.into_iter().for_each(|answer| drop(answer.blocking_recv().unwrap().unwrap()));
        };
        answered(ask(&inbox, 1));
        // This test writes the rows, and takes its time.
        flushed.recv().unwrap();
        answered(ask(&inbox, 10_001));
        let mut late = ask(&inbox, 1);
        let (reply, counts) = oneshot::channel();
        inbox.send(Message::Counts(reply)).unwrap();
        counts.blocking_recv().unwrap();
        assert!(late[0].try_recv().is_err(), "it was taken although 10,001 runs wait to be written");
        inbox.send(Message::Flushed(Ok(()))).unwrap();
        answered(late);
        assert_eq!(flushed.recv().unwrap().runs.len(), 10_002);
        inbox.send(Message::Flushed(Ok(()))).unwrap();
        inbox.send(Message::Stop).unwrap();
        flushed.recv().unwrap();
        inbox.send(Message::Flushed(Ok(()))).unwrap();
        thread.join().unwrap().unwrap();
    }
}
