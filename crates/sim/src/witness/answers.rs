//! What was answered is so: accepted means durable, already means already, and nobody is refused who is right.

use super::{GRACE, Promised, Witness};
use crate::driver::No;
use crate::violation::{Held, ensure};
use edgewise_core::control::{HOOK_SECRET, SettingChanged};
use edgewise_core::id::{PlanHash, RunId};
use edgewise_core::name::Name;
use edgewise_core::state::TaskState;
use edgewise_core::time::Time;
use edgewise_core::{Error, Result};
use edgewise_engine::command::{Answer, Beat, Command, Finish, Grant, LeaseRef};
use std::sync::Arc;

/// What a message asked, as far as its answer can be checked.
pub(super) enum Asked {
    Start(Option<String>),
    Finishes(Arc<[Finish]>),
    Beats(Vec<LeaseRef>),
    Cancel(RunId),
    Pause(RunId, bool),
    Approve(RunId, String, Name),
    Wait(RunId),
    /// An event of a kind that must be there, of a task if it is about one.
    Act(RunId, Option<String>, &'static str),
    Freeze(RunId, bool),
    /// A version of a flow.
    Register(Name, PlanHash),
    Change(SettingChanged),
    Other,
}

/// Who answered, when by their clock, and whether others were answered in the same commit.
#[derive(Debug, Clone, Copy)]
pub struct Answerer<'a> {
    /// Which engine.
    pub source: &'a str,
    /// Its clock.
    pub now: Time,
    /// Whether another request of the same commit may have undone this one.
    pub crowded: bool,
}

impl Witness {
    /// Remembers what is asked, so that the answer can be judged.
    pub fn asked(&mut self, no: No, command: &Command) {
        self.work.asked(no, command);
        if let Command::Heartbeat(leases) = command {
            let heard = leases.iter().map(|lease| lease.token.hash());
            heard.for_each(|token| self.granted.get_mut(&token).into_iter().for_each(|granted| granted.beaten = true));
        }
        let asked = match command {
            Command::Start(start) => Asked::Start(start.key.clone()),
            Command::Complete(each) => Asked::Finishes(Arc::clone(each)),
            Command::Heartbeat(leases) => Asked::Beats(leases.clone()),
            Command::Cancel(act) => Asked::Cancel(act.run),
            Command::Pause(act) => Asked::Pause(act.run, true),
            Command::Resume(act) => Asked::Pause(act.run, false),
            Command::Approve(act) => Asked::Approve(act.run, act.task.clone(), act.by.clone()),
            Command::Wait(run) => Asked::Wait(*run),
            Command::Freeze(act) => Asked::Freeze(act.run, true),
            Command::Unfreeze(act) => Asked::Freeze(act.run, false),
            Command::Register(register) => Asked::Register(register.plan.flow.clone(), register.plan.encode().0),
            Command::ChangeSetting(change) => Asked::Change(change.clone()),
            _ => operated(command),
        };
        self.asked.insert(no, asked);
    }

    /// Judges an answer at the moment it leaves the engine.
    pub fn heard(&mut self, no: No, answer: &Result<Answer>, by: Answerer<'_>) -> Held {
        if self.rests {
            return Ok(());
        }
        self.work.heard(no, answer, (by, &mut self.cover))?;
        let Ok(answer) = answer else { return Ok(()) };
        if let Answer::Granted { grants, claimed } = answer {
            ensure(!grants.is_empty(), "grants_are_kept", || "a grant of nothing".into())?;
            let said = || format!("{} leases for a claim of {claimed}", grants.len());
            ensure(grants.len() <= *claimed as usize, "claims_are_not_overfilled", said)?;
            return grants.iter().try_for_each(|grant| self.granted(no, grant, by));
        }
        let Some(asked) = self.asked.get(&no) else { return Ok(()) };
        match (answer, asked) {
            (Answer::Started { run, .. }, Asked::Start(key)) => {
                ensure(self.books.contains_key(run), "acked_is_kept", || {
                    format!("{run} was accepted and is not kept")
                })?;
                let owner = key.as_ref().map(|key| self.keys.get(key));
                ensure(owner.is_none_or(|o| o == Some(run)), "one_run_per_key", || format!("{key:?} gave {run}"))
            }
            (Answer::Completed(each), Asked::Finishes(reports)) => self.finished(reports, each),
            (Answer::Beats(beats), Asked::Beats(leases)) => {
                let pairs: Vec<(LeaseRef, Beat)> = leases.iter().copied().zip(beats.iter().copied()).collect();
                pairs.iter().try_for_each(|(lease, beat)| self.beat(lease, *beat, by))
            }
            (Answer::Done | Answer::Already | Answer::Ended(_) | Answer::Reopened(_), asked) => {
                self.is_so(answer, asked, by)
            }
            _ => Ok(()),
        }
    }

    /// What a person was told about a run is what the ledger has.
    fn is_so(&self, answer: &Answer, asked: &Asked, by: Answerer<'_>) -> Held {
        match (answer, asked) {
            (Answer::Done | Answer::Already, Asked::Cancel(run)) => {
                let kept = self.books[run].cancelled || by.crowded;
                ensure(kept, "acked_is_kept", || format!("a cancel of {run} was accepted and is not kept"))
            }
            (Answer::Done | Answer::Already, Asked::Pause(run, pause)) => {
                let kept = self.books[run].paused == *pause || by.crowded;
                ensure(kept, "acked_is_kept", || format!("pause {pause} of {run} was answered well and is not so"))
            }
            (Answer::Done | Answer::Already, Asked::Freeze(run, freeze)) => {
                let book = &self.books[run];
                let kind = if *freeze { "RunFrozen" } else { "RunUnfrozen" };
                let told = matches!(answer, Answer::Already) || book.has_act(None, kind);
                let kept = told && (book.frozen == *freeze || by.crowded);
                ensure(kept, "acked_is_kept", || format!("{kind} of {run} was answered well and is not so"))
            }
            (Answer::Done | Answer::Already, Asked::Approve(run, path, who)) => {
                let kept = self.books[run].has_said_yes(path, who);
                ensure(kept, "acked_is_kept", || format!("the yes of {who} to {path} was accepted and is not kept"))
            }
            (Answer::Done | Answer::Already, Asked::Register(flow, plan)) => {
                let kept = self.control.version(flow) == Some(*plan) || by.crowded;
                ensure(kept, "acked_is_kept", || format!("a version of {flow} was accepted and is not kept"))
            }
            (Answer::Done | Answer::Already, Asked::Change(SettingChanged { key, value, .. })) => {
                let is = self.control.setting(key);
                // The first secret of addresses stays, whoever brings another one.
                let stays = key.as_str() == HOOK_SECRET && is.is_some();
                let kept = is == value.as_ref() || stays || by.crowded;
                ensure(kept, "acked_is_kept", || format!("{key} was to be {value:?} and is {is:?}"))
            }
            (Answer::Ended(state), Asked::Wait(run)) => {
                // It may have been opened again in the very step that told its end.
                let (is, ends) = (self.books[run].run.state, &self.books[run].ends);
                ensure(state.is_done() && (*state == is || ends.contains(state)), "acked_is_kept", || {
                    format!("{run} ended {state:?} and is {is:?}")
                })
            }
            (Answer::Done | Answer::Reopened(_), Asked::Act(run, path, kind)) => {
                let kept = self.books[run].has_act(path.as_deref(), kind);
                ensure(kept, "acked_is_kept", || format!("{kind} of {path:?} of {run} was accepted and is not kept"))
            }
            _ => Ok(()),
        }
    }

    fn granted(&mut self, no: No, grant: &Grant, by: Answerer<'_>) -> Held {
        let token = grant.lease.token.hash();
        // The same answer may be given to the same claim again; nobody else is told of the lease.
        let first = *self.told.entry(token).or_insert(no);
        let twice = || format!("a lease of {} was given to the claims #{first} and #{no}", grant.path);
        ensure(first == no, "grants_are_delivered_once", twice)?;
        let book = &self.books[&grant.lease.run];
        ensure(book.workers.contains_key(&token), "grants_are_kept", || {
            "a lease was given out and is not kept".into()
        })?;
        let task = &book.run.tasks[grant.lease.task.0 as usize];
        let live = (task.token, task.state) == (token, TaskState::InProgress) && !book.ended.contains_key(&token);
        ensure(live, "one_live_lease", || format!("a lease of {} was given out that is over", grant.path))?;
        let attempt = book.run.spec_of(grant.lease.task).timeouts.attempt;
        let attempt_until = attempt.map(|span| by.now.plus(span));
        let (until, granted) = (grant.deadline, grant.deadline);
        let (kept, passed) = (None, false);
        let promised = Promised { by: by.source.into(), at: by.now, until, granted, attempt_until, kept, passed };
        self.promised.insert(token, promised);
        Ok(())
    }

    fn finished(&self, reports: &[Finish], each: &[Result<()>]) -> Held {
        for (report, answer) in reports.iter().zip(each) {
            let Finish { lease, outcome } = report;
            let Some(book) = self.books.get(&lease.run) else { continue };
            let token = lease.token.hash();
            let over = |e: &Error| e.code == "attempt_over";
            match answer {
                Ok(()) => {
                    let kept = book.ended.get(&token) == Some(&outcome.is_ok());
                    ensure(kept, "acked_is_kept", || "a report was accepted and is not kept".into())?;
                }
                Err(error) if over(error) => {
                    let current = book.run.task(lease.task).is_some_and(|task| task.attempt == lease.attempt);
                    let stale = !(current && book.is_live(lease.task, token));
                    ensure(stale, "who_holds_the_lease_is_heard", || format!("refused although live: {error}"))?;
                    let again = || format!("what was said before is called late: {error}");
                    ensure(!book.has_heard(report), "the_same_answer_again", again)?;
                }
                Err(_) => {}
            }
        }
        Ok(())
    }

    fn beat(&mut self, lease: &LeaseRef, beat: Beat, by: Answerer<'_>) -> Held {
        let token = lease.token.hash();
        let Some(book) = self.books.get(&lease.run) else { return Ok(()) };
        let live = book.is_live(lease.task, token);
        let was_live = live || book.just_ended.contains(&token);
        // Who works for a run that is frozen is told to stop.
        let frozen = book.rests();
        let heartbeat = book.run.spec_of(lease.task).timeouts.heartbeat;
        let Some(promised) = self.promised.get_mut(&token) else { return Ok(()) };
        match beat {
            // An engine that cannot see what others wrote does not know yet that a lease is over; and what ends in the
            // very commit was not over when it was asked.
            Beat::Continue(until) => {
                let known = was_live || self.in_doubt || by.crowded;
                ensure(known, "the_late_are_told", || "a worker was told to go on with what is over".into())?;
                promised.until = promised.until.map(|told| told.max(until));
                let kept = by.now.plus(heartbeat.map_or(GRACE, |span| span.min(GRACE)));
                promised.kept = promised.until.map(|_| (by.source.into(), kept));
                Ok(())
            }
            Beat::Cancel => {
                let over = !live || frozen || promised.attempt_until.is_some_and(|due| due <= by.now);
                ensure(over, "the_living_go_on", || "a live lease was called over".into())
            }
        }
    }
}

/// What an operator's act must have left in the ledger.
fn operated(command: &Command) -> Asked {
    match command {
        Command::Skip(act) => Asked::Act(act.run, Some(act.task.clone()), "TaskSkipRequested"),
        Command::CancelTask(act) => Asked::Act(act.run, Some(act.task.clone()), "TaskCancelRequested"),
        Command::Resolve(act) => Asked::Act(act.run, Some(act.task.clone()), "TaskResolvedManually"),
        Command::Supply(supply) => Asked::Act(supply.act.run, Some(supply.act.task.clone()), "TaskCompletedManually"),
        Command::Reset(act) => Asked::Act(act.run, Some(act.task.clone()), "TaskResetForRetry"),
        Command::ResolveRun(act) => Asked::Act(act.run, None, "RunResolvedManually"),
        Command::GiveUp(act) => Asked::Act(act.run, None, "RunGivenUp"),
        Command::Rerun(act) => Asked::Act(act.run, None, "RunRerunRequested"),
        Command::Satisfy(asked) => Asked::Act(asked.act.run, Some(asked.act.task.clone()), "GateSatisfied"),
        _ => Asked::Other,
    }
}
