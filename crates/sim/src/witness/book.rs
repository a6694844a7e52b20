//! One run as the ledger tells it, and what each of its events must be allowed to do.

use crate::violation::{Held, Violation, ensure};
use edgewise_core::domain::{DomainEvent, told};
use edgewise_core::event::{
    Approved, AttemptRef, DispatchEnqueued, Event, GateEscalated, GateSatisfied, LinkResolved, TaskIx,
};
use edgewise_core::fold::{Changes, Verdict, fold};
use edgewise_core::gate::{Escalation, Wait};
use edgewise_core::history::{Entry, Stream};
use edgewise_core::id::{RunId, TokenHash};
use edgewise_core::invariant::{self, Step};
use edgewise_core::name::Name;
use edgewise_core::plan::Work;
use edgewise_core::run::{Run, Task};
use edgewise_core::state::{Move, RunState, TaskState};
use edgewise_core::time::Time;
use edgewise_engine::command::Finish;
use edgewise_store::Position;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};

/// The invariant of steps that takes a copy of the run, which a book has already.
const SAID_AGAIN: &str = "duplicate_is_noop";

/// One run as the ledger tells it.
pub struct Book {
    /// What its events have come to.
    pub run: Run,
    /// The same, for whoever judges the next event: what the run was before it.
    before: Option<Run>,
    /// What they had come to where its rows were when they were last compared.
    at_rows: Option<Run>,
    /// All its events.
    pub entries: Vec<Entry>,
    /// The ends that it came to, each before it was opened again.
    pub(super) ends: Vec<RunState>,
    /// What it was told of its children and items.
    pub(super) resolved: Vec<LinkResolved>,
    /// Where its records stand, and the seq each comes to.
    pub(super) places: Vec<(Position, u64)>,
    /// How many events it had, and what its rows were at, when they were last compared.
    pub(super) compared: Option<(usize, u64)>,
    /// Who has or had which lease.
    pub(super) workers: BTreeMap<TokenHash, Box<str>>,
    /// How each lease ended, by its token: well or not.
    pub(super) ended: BTreeMap<TokenHash, bool>,
    /// The lease that each task has now.
    pub(super) live: BTreeMap<TaskIx, TokenHash>,
    /// Attempts begun and not given back, by task and generation.
    begun: BTreeMap<(TaskIx, u16), u32>,
    /// Who has said yes and not taken it back, by gate.
    yes: BTreeMap<TaskIx, BTreeSet<Name>>,
    /// How many steps of its `escalate` a gate has told of.
    steps: BTreeMap<TaskIx, u16>,
    /// Whether people asked for no leases, for now or for ever.
    pub(super) paused: bool,
    pub(super) cancelled: bool,
    /// When it was cancelled, as long as it is; and when it was last let go on.
    pub(super) cancelled_at: Option<Time>,
    pub(super) unfrozen_at: Option<Time>,
    /// Whether people want nothing but reads to work on it.
    pub(super) frozen: bool,
    /// Leases that were live when it was frozen: what becomes of them meanwhile is not in the ledger.
    pub(super) rested: BTreeSet<TokenHash>,
    /// What the outside world is told of it, and no queue is known to have to have.
    pub(super) told: Vec<DomainEvent>,
    /// Leases that ended in the last look.
    pub(super) just_ended: Vec<TokenHash>,
    /// Whether it was taken away.
    pub(super) removed: bool,
}

impl Book {
    pub(super) fn new(run: Run) -> Self {
        let (workers, ended, live, begun, yes, steps) = Default::default();
        Self {
            run,
            before: None,
            at_rows: None,
            entries: Vec::new(),
            ends: Vec::new(),
            resolved: Vec::new(),
            places: Vec::new(),
            compared: None,
            workers,
            ended,
            live,
            begun,
            yes,
            steps,
            paused: false,
            cancelled: false,
            cancelled_at: None,
            unfrozen_at: None,
            frozen: false,
            rested: BTreeSet::new(),
            told: Vec::new(),
            just_ended: Vec::new(),
            removed: false,
        }
    }

    /// Whether it is frozen, or was until its last record: what waits for it to go on follows in the next commits.
    pub(super) fn rests(&self) -> bool {
        let before = self.places.iter().rev().nth(1).map_or(0, |(_, seq)| *seq);
        let last = self.entries.iter().rev().take_while(|entry| entry.seq > before);
        self.frozen || last.into_iter().any(|entry| matches!(entry.event, Event::RunUnfrozen(_)))
    }

    /// The queues of which its last record leases something.
    pub(super) fn granted_anew(&self) -> impl Iterator<Item = &str> + '_ {
        let before = self.places.iter().rev().nth(1).map_or(0, |(_, seq)| *seq);
        let last = self.entries.iter().rev().take_while(move |entry| entry.seq > before);
        let leased = last.filter(|entry| matches!(entry.event, Event::DispatchEnqueued(_)));
        leased.filter_map(|entry| self.run.spec_of(entry.event.task()?).share.queue.as_deref())
    }

    /// Its events, for whoever looks at all of them.
    pub fn stream(&self) -> Stream<'_> {
        Stream { run: self.run.id, plan_hash: self.run.plan_hash, plan: &self.run.plan, entries: &self.entries }
    }

    /// The leases that live.
    pub(crate) fn leases(&self) -> impl Iterator<Item = (RunId, AttemptRef)> + '_ {
        self.live.iter().map(|(task, token)| {
            let Task { generation, attempt, .. } = self.run.tasks[task.0 as usize];
            (self.run.id, AttemptRef { task: *task, generation, attempt, token: *token })
        })
    }

    /// Whether a lease is the one that its task has now.
    pub(super) fn is_live(&self, task: TaskIx, token: TokenHash) -> bool {
        self.live.get(&task) == Some(&token)
    }

    /// Whether a person's yes was ever recorded at a gate.
    pub(super) fn has_said_yes(&self, path: &str, by: &Name) -> bool {
        let task = self.run.find(path);
        self.entries.iter().any(|e| matches!(&e.event, Event::ApprovalGiven(a) if Some(a.task) == task && a.by == *by))
    }

    /// Whether an act of a kind was ever recorded, on a task if it is about one.
    pub(super) fn has_act(&self, path: Option<&str>, kind: &str) -> bool {
        let is_of = |task: Option<TaskIx>| path.is_none_or(|path| task.is_some_and(|t| self.run.path(t) == path));
        self.entries.iter().any(|e| e.event.name() == kind && is_of(e.event.task()))
    }

    /// Whether this very report is how the last attempt of its task ended.
    pub(super) fn has_heard(&self, report: &Finish) -> bool {
        let (task, token, attempt) = (report.lease.task, report.lease.token.hash(), report.lease.attempt);
        let last = self
            .run
            .task(task)
            .is_some_and(|t| (t.token, t.attempt) == (token, attempt) && t.state != TaskState::InProgress);
        let same = |e: &Entry| match (&e.event, &report.outcome) {
            (Event::TaskFinished(f), Ok(output)) => {
                let text = |raw: &Option<Box<RawValue>>| raw.as_ref().map(|raw| raw.get().to_owned());
                f.token == token && f.error.is_none() && text(&f.output) == text(output)
            }
            (Event::TaskFinished(f), Err(failure)) => {
                f.token == token && f.error.as_ref() == Some(failure) && self.run.failure_of(task) == Some(failure)
            }
            _ => false,
        };
        last && self.entries.iter().any(same)
    }

    /// One event: everything that is written has counted, and was allowed.
    pub(super) fn fold(&mut self, entry: Entry) -> Held {
        ensure(!self.removed, "what_is_removed_is_gone", || format!("{:?} was written to it", entry.event))?;
        let rests = !self.frozen || matches!(entry.event, Event::RunUnfrozen(_));
        ensure(rests, "frozen_runs_rest", || format!("{:?} was written to a frozen run", entry.event))?;
        let before = self.before.take().unwrap_or_else(|| self.run.clone());
        let mut changes = Changes::default();
        let verdict = fold(&mut self.run, entry.stamp, &entry.event, &mut changes);
        let said = || format!("{:?} was written and does not count: {verdict:?}", entry.event);
        ensure(verdict == Verdict::Applied, "what_is_written_counts", said)?;
        let step = Step {
            before: &before,
            stamp: entry.stamp,
            event: &entry.event,
            changes: &changes,
            verdict,
            after: &self.run,
        };
        let others = invariant::STEP.iter().filter(|(name, _)| *name != SAID_AGAIN);
        others.into_iter().try_for_each(|(_, holds)| holds(&step))?;
        told(&self.run, entry.stamp.at, &changes, &mut |event| self.told.push(event));
        self.allowed(&before, &entry)?;
        for moved in changes.moves.iter().filter(|m| m.from == TaskState::InProgress) {
            if let Some(token) = self.live.remove(&moved.task) {
                let told = !is_by_others(moved.by) || changes.revoked.iter().any(|lease| lease.token == token);
                let said = || format!("{:?} ended a lease of task {} and revoked nothing", entry.event, moved.task.0);
                ensure(told, "leases_that_others_end_are_revoked", said)?;
                self.just_ended.push(token);
                self.ended.entry(token).or_insert(false);
            }
        }
        if self.run.state.is_done() && self.run.state != before.state {
            self.ends.push(self.run.state);
        }
        self.follow(before, &entry)?;
        self.entries.push(entry);
        Ok(())
    }

    /// The run before an event becomes the run after it, which the event changes no more when it is said again.
    fn follow(&mut self, mut copy: Run, entry: &Entry) -> Held {
        fold(&mut copy, entry.stamp, &entry.event, &mut Changes::default());
        invariant::said_again((entry.stamp, &entry.event), &self.run, &mut copy)?;
        (copy.seq, copy.last) = (self.run.seq, self.run.last);
        self.before = (copy == self.run).then_some(copy);
        Ok(())
    }

    /// The run at a seq, which mostly is the last one asked for or one soon after it.
    pub(super) fn run_at(&mut self, seq: u64) -> &Run {
        let known = self.at_rows.take().filter(|run| run.seq <= seq);
        let mut run = known.unwrap_or_else(|| self.stream().refold(0));
        let new = self.entries.get(run.seq as usize..).unwrap_or_default();
        for entry in new.iter().take_while(|entry| entry.seq <= seq) {
            fold(&mut run, entry.stamp, &entry.event, &mut Changes::default());
        }
        self.at_rows.insert(run)
    }

    fn allowed(&mut self, before: &Run, entry: &Entry) -> Held {
        match &entry.event {
            Event::RunPauseRequested(_) => self.paused = true,
            Event::RunResumeRequested(_) => self.paused = false,
            Event::RunCancelRequested(_) => {
                (self.cancelled, self.cancelled_at) = (true, Some(entry.stamp.at));
            }
            Event::RunFrozen(_) => {
                self.frozen = true;
                self.rested.extend(self.live.values());
            }
            Event::RunUnfrozen(_) => (self.frozen, self.unfrozen_at) = (false, Some(entry.stamp.at)),
            Event::RunRerunRequested(_) => {
                (self.cancelled, self.cancelled_at) = (false, None);
                self.ask_again(before);
            }
            Event::TaskResetForRetry(_) | Event::TaskResolvedManually(_) | Event::TaskCompletedManually(_) => {
                self.ask_again(before);
            }
            Event::DispatchEnqueued(e) => self.lease(before, e)?,
            Event::DispatchReturned(e) => {
                ensure(self.is_live(e.task, e.token), "stale_tokens_change_nothing", || {
                    "a lease came back late".into()
                })?;
                *self.begun.entry((e.task, e.generation)).or_default() -= 1;
            }
            Event::TaskFinished(e) => {
                let late = || format!("attempt {} of task {} ended again or late", e.attempt, e.task.0);
                ensure(self.is_live(e.task, e.token), "stale_tokens_change_nothing", late)?;
                let first = self.ended.insert(e.token, e.error.is_none()).is_none();
                ensure(first, "one_outcome_per_attempt", || "an attempt ended twice".into())?;
            }
            Event::TimerFired(e) => {
                let early = || format!("a timer of {} fired at {}", e.due, entry.stamp.at);
                ensure(e.due <= entry.stamp.at, "timers_are_never_early", early)?;
                self.waited(before, entry, e.timer.task)?;
            }
            Event::ApprovalGiven(e) => self.approve(before, e, entry.stamp.at)?,
            Event::ApprovalWithdrawn(e) => drop(self.yes.entry(e.task).or_default().remove(&e.by)),
            Event::GateSatisfied(e) => self.satisfied(before, e)?,
            Event::GateEscalated(e) => self.escalated(before, *e, entry.stamp.at)?,
            Event::LinkResolved(told) => self.resolved.push(told.clone()),
            _ => {}
        }
        Ok(())
    }

    /// A gate that is opened again asks everybody again.
    fn ask_again(&mut self, before: &Run) {
        let generation = |run: &Run, task: &TaskIx| run.task(*task).map(|t| t.generation);
        self.yes.retain(|task, _| generation(before, task) == generation(&self.run, task));
        self.steps.retain(|task, _| generation(before, task) == generation(&self.run, task));
    }

    fn lease(&mut self, before: &Run, e: &DispatchEnqueued) -> Held {
        ensure(!self.cancelled, "cancel_is_final", || "a lease of a cancelled run".into())?;
        ensure(!self.paused, "paused_means_no_leases", || "a lease of a paused run".into())?;
        let other = self.live.insert(e.task, e.token);
        ensure(other.is_none(), "one_live_lease", || format!("two live leases of task {}", e.task.0))?;
        let known = self.workers.insert(e.token, e.worker.clone());
        ensure(known.is_none(), "tokens_are_used_once", || format!("the token of {known:?} was given out again"))?;
        let begun = self.begun.entry((e.task, e.generation)).or_default();
        *begun += 1;
        let most = u32::from(before.spec_of(e.task).retry.most_attempts());
        ensure(*begun <= most, "attempts_are_bounded", || format!("attempt {begun} of at most {most}"))
    }

    /// A timer gate has waited for as long as the flow says, by the clocks that wrote it.
    fn waited(&self, before: &Run, entry: &Entry, task: TaskIx) -> Held {
        let Work::Gate(gate) = &before.spec_of(task).work else { return Ok(()) };
        let due = match (&gate.wait, &gate.deadline) {
            (Wait::After(span), None) => before.tasks[task.0 as usize].ready_at.plus(*span),
            (Wait::Until(due), None) => *due,
            (Wait::After(_) | Wait::Until(_), Some(_)) => return Ok(()),
            (Wait::Approval { .. } | Wait::Webhook | Wait::External { .. } | Wait::Shared { .. }, _) => return Ok(()),
        };
        ensure(due <= entry.stamp.at, "timers_are_never_early", || format!("a gate of {due} opened"))
    }

    fn approve(&mut self, before: &Run, e: &Approved, at: Time) -> Held {
        let Work::Gate(gate) = &before.spec_of(e.task).work else {
            return Err(Violation::new("approvers_differ", "an approval of what is not a gate"));
        };
        let Wait::Approval { from, count } = &gate.wait else { return Ok(()) };
        let reached = before.tasks[e.task.0 as usize].ready_at;
        let escalated = |step: &Escalation| reached.plus(step.after) <= at && step.to.contains(&e.by);
        let permitted = from.is_empty() || from.contains(&e.by) || gate.escalate.iter().any(escalated);
        ensure(permitted, "approvers_differ", || format!("{} may not approve", e.by))?;
        let yes = self.yes.entry(e.task).or_default();
        ensure(yes.insert(e.by.clone()), "approvers_differ", || format!("{} said yes twice", e.by))?;
        let open = self.run.tasks[e.task.0 as usize].state == TaskState::Complete;
        ensure(open == (yes.len() >= *count as usize), "gates_open_by_count", || {
            format!("{} of {count} yes", yes.len())
        })
    }

    /// More people are asked of a gate that is closed, in time, step by step, each once.
    fn escalated(&mut self, before: &Run, e: GateEscalated, at: Time) -> Held {
        let task = &before.tasks[e.task.0 as usize];
        let told = self.steps.entry(e.task).or_default();
        let step = match &before.spec_of(e.task).work {
            Work::Gate(gate) => gate.escalate.get(usize::from(*told)),
            _ => None,
        };
        *told += 1;
        let due = step.map(|step| task.ready_at.plus(step.after));
        let closed = task.state == TaskState::InProgress && task.generation == e.generation;
        let once = e.step == *told && self.run.tasks[e.task.0 as usize].state == TaskState::InProgress;
        ensure(due.is_some_and(|due| due <= at) && closed && once, "more_are_asked_once_in_time", || {
            format!("{e:?} at {at} met {task:?}, whose step {told} is due at {due:?}")
        })
    }

    /// A word from outside opens a gate that waits for one, in the generation that it was meant for.
    fn satisfied(&self, before: &Run, e: &GateSatisfied) -> Held {
        let waits = match &before.spec_of(e.task).work {
            Work::Gate(gate) => match gate.wait {
                Wait::Webhook | Wait::External { .. } => true,
                Wait::After(_) | Wait::Until(_) | Wait::Approval { .. } | Wait::Shared { .. } => false,
            },
            _ => false,
        };
        let task = &before.tasks[e.task.0 as usize];
        let closed = task.state == TaskState::InProgress && task.generation == e.generation;
        let open = self.run.tasks[e.task.0 as usize].state == TaskState::Complete;
        ensure(waits && closed && open, "gates_open_from_outside", || format!("{e:?} met {task:?}"))
    }

    pub(super) fn check(&self) -> Held {
        Ok(invariant::check_state(&self.run)?)
    }
}

/// Whether a move ends an attempt by somebody else's will than its worker's or the clock's.
fn is_by_others(by: Move) -> bool {
    let acts = [Move::SkippedByOperator, Move::ResolvedByOperator, Move::CompletedByOperator];
    matches!(by, Move::Cancelled | Move::Reopened) || acts.contains(&by)
}

#[cfg(test)]
mod tests;
