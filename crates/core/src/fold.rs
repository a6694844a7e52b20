//! The fold: one event into the run. Total and pure: it never fails, and reads nothing but its arguments.
//!
//! One event, one file beside this one. Each has a `check`, which says whether the event counts, and an
//! `apply`, which changes the run. The engine calls the same checks before it writes anything: guard
//! first, fold second. What several events have in common is in [`crate::rule`].

mod approval_given;
mod approval_withdrawn;
mod dispatch_enqueued;
mod dispatch_returned;
mod gate_escalated;
mod gate_rejected;
mod gate_satisfied;
mod link_requested;
mod link_resolved;
mod plan_created;
mod refusal;
mod run_advanced;
mod run_cancel_requested;
mod run_frozen;
mod run_given_up;
mod run_pause_requested;
mod run_rerun_requested;
mod run_resolved_manually;
mod run_resume_requested;
mod run_triggered;
mod run_unfrozen;
mod task_cancel_requested;
mod task_completed_manually;
mod task_finished;
mod task_heartbeat;
mod task_reset_for_retry;
mod task_resolved_manually;
mod task_skip_requested;
mod timer_fired;

pub use refusal::{CODES, Refusal, is_refusal};
pub use run_rerun_requested::reopens;

use crate::event::{AttemptRef, Event, TaskAct, TaskIx, TimerKey};
use crate::id::EventId;
use crate::limits;
use crate::rule::Exit;
use crate::run::{Asked, Reason, Run, Task};
use crate::state::{Move, RunState, TaskState};
use crate::time::Time;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Where an event stands: its id, and the committer's clock.
#[derive(Debug, Clone, Copy)]
pub struct Stamp {
    /// The event's id.
    pub id: EventId,
    /// When it was committed.
    pub at: Time,
}

/// What became of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It changed the run.
    Applied,
    /// It changed nothing.
    Ignored(Ignored),
    /// A task has more resolved in-edges than it has in-edges: a bug of ours. Roll back and freeze the run.
    Overflow(TaskIx),
}

/// Why an event changes nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ignored {
    /// Just this has happened already; whoever says it again is answered as the first time.
    Duplicate,
    /// It speaks of an attempt or generation that is over.
    Stale,
    /// It speaks of a task or timer that does not exist, or is of an unknown type.
    Unknown,
    /// It comes before its time.
    Early,
    /// Whoever says it may not.
    Denied,
    /// The state forbids it, for this reason.
    Refused(Refusal),
}

/// What one or several events have changed, for whoever keeps rows and queues.
#[derive(Debug, Clone, Default)]
pub struct Changes {
    /// Every move of a task, in order.
    pub moves: Vec<TaskMove>,
    /// Every move of the run, in order.
    pub run_moves: Vec<(RunState, RunState)>,
    /// Tasks whose row changed without a move.
    pub touched: Vec<TaskIx>,
    /// Composites (or the whole run) that were given something to begin with, or have it no more.
    pub given: Vec<TaskIx>,
    /// Tasks that a worker may take from now on.
    pub ready: Vec<TaskIx>,
    /// Leases that were ended by something else than their own finish.
    pub revoked: Vec<AttemptRef>,
    /// Timers that were set.
    pub timers_set: Vec<(TimerKey, Time)>,
    /// Timers that were taken away.
    pub timers_gone: Vec<TimerKey>,
    /// Tasks whose children are to be begun or ended.
    pub links: Vec<TaskIx>,
    /// Gates that ask more people from now on.
    pub escalated: Vec<TaskIx>,
}

/// A move of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskMove {
    /// Which task.
    pub task: TaskIx,
    /// From where.
    pub from: TaskState,
    /// To where.
    pub to: TaskState,
    /// By what.
    pub by: Move,
}

impl Changes {
    /// Forgets everything but the room it has.
    pub fn clear(&mut self) {
        self.moves.clear();
        self.run_moves.clear();
        self.touched.clear();
        self.given.clear();
        self.ready.clear();
        self.revoked.clear();
        self.timers_set.clear();
        self.timers_gone.clear();
        self.links.clear();
        self.escalated.clear();
    }
}

/// Folds one event into a run.
pub fn fold(run: &mut Run, stamp: Stamp, event: &Event, changes: &mut Changes) -> Verdict {
    run.seq += 1;
    run.last = stamp.id;
    if let Err(ignored) = check(run, stamp.at, event) {
        run.unknown += u32::from(matches!(event, Event::Unknown(_)));
        return Verdict::Ignored(ignored);
    }
    let mut fold = Fold {
        run,
        stamp,
        changes,
        done: VecDeque::new(),
        ended: VecDeque::new(),
        moving: VecDeque::new(),
        exits: BTreeMap::new(),
        stopped: BTreeSet::new(),
        budget: limits::INLINE_STEPS,
        cost: Cell::new(0),
        overflow: None,
    };
    fold.apply(event);
    fold.settle();
    match fold.overflow {
        Some(task) => Verdict::Overflow(task),
        None => Verdict::Applied,
    }
}

/// Whether an event would count now. The fold asks this first, and so does the engine before it writes.
pub fn check(run: &Run, now: Time, event: &Event) -> Result<(), Ignored> {
    run_frozen::rests(run, event)?;
    match event {
        Event::RunTriggered(e) => run_triggered::check(run, e),
        Event::PlanCreated(e) => plan_created::check(run, e),
        Event::RunCancelRequested(_) => run_cancel_requested::check(run),
        Event::RunPauseRequested(_) => run_pause_requested::check(run),
        Event::RunResumeRequested(_) => run_resume_requested::check(run),
        Event::RunAdvanced(_) => run_advanced::check(run),
        Event::DispatchEnqueued(e) => dispatch_enqueued::check(run, e),
        Event::DispatchReturned(e) => dispatch_returned::check(run, e),
        Event::TaskHeartbeat(e) => task_heartbeat::check(run, e),
        Event::TaskFinished(e) => task_finished::check(run, e),
        Event::TimerFired(e) => timer_fired::check(run, now, e),
        Event::ApprovalGiven(e) => approval_given::check(run, now, e),
        Event::ApprovalWithdrawn(e) => approval_withdrawn::check(run, now, e),
        Event::GateRejected(e) => gate_rejected::check(run, now, e),
        Event::GateSatisfied(e) => gate_satisfied::check(run, e),
        Event::GateEscalated(e) => gate_escalated::check(run, now, e),
        Event::TaskResolvedManually(e) => task_resolved_manually::check(run, e),
        Event::TaskCompletedManually(e) => task_resolved_manually::check(run, &e.act),
        Event::TaskResetForRetry(e) => task_reset_for_retry::check(run, e),
        Event::TaskSkipRequested(e) => task_skip_requested::check(run, e),
        Event::TaskCancelRequested(e) => task_cancel_requested::check(run, e),
        Event::RunResolvedManually(_) => run_resolved_manually::check(run),
        Event::RunGivenUp(_) => run_given_up::check(run),
        Event::RunRerunRequested(e) => run_rerun_requested::check(run, e),
        Event::RunFrozen(_) => run_frozen::check(run),
        Event::RunUnfrozen(e) => run_unfrozen::check(run, e),
        Event::LinkRequested(e) => link_requested::check(run, e),
        Event::LinkResolved(e) => link_resolved::check(run, e),
        Event::Unknown(_) => Err(Ignored::Unknown),
    }
}

/// A fold at work: the run, the event's stamp, what changed, and what is still to be settled.
pub(crate) struct Fold<'a> {
    pub run: &'a mut Run,
    pub stamp: Stamp,
    pub changes: &'a mut Changes,
    /// Tasks that are done and whose out-edges are not yet resolved, first in, first out.
    pub done: VecDeque<TaskIx>,
    /// Scopes that have ended and whose composite does not know yet.
    pub ended: VecDeque<u32>,
    /// Chain scopes with statements that can be run.
    pub moving: VecDeque<u32>,
    /// How composites that are done hand the way their scope ended to the chain around them, where it is no plain end.
    pub exits: BTreeMap<TaskIx, Exit>,
    /// Spreads whose open items this event has cancelled: there is nothing left to stop, however many of them follow.
    pub stopped: BTreeSet<TaskIx>,
    /// Scopes that may still be made and statements that may still be run in this event.
    pub budget: u32,
    /// Steps of evaluating that are not yet taken from it.
    pub cost: Cell<u64>,
    /// The alarm.
    pub overflow: Option<TaskIx>,
}

impl Fold<'_> {
    fn apply(&mut self, event: &Event) {
        match event {
            Event::RunTriggered(e) => run_triggered::apply(self, e),
            Event::PlanCreated(_) => plan_created::apply(self),
            Event::RunCancelRequested(e) => run_cancel_requested::apply(self, e),
            Event::RunPauseRequested(_) => run_pause_requested::apply(self),
            Event::RunResumeRequested(_) => run_resume_requested::apply(self),
            Event::RunAdvanced(_) => run_advanced::apply(self),
            Event::DispatchEnqueued(e) => dispatch_enqueued::apply(self, e),
            Event::DispatchReturned(e) => dispatch_returned::apply(self, e),
            Event::TaskHeartbeat(e) => task_heartbeat::apply(self, e),
            Event::TaskFinished(e) => task_finished::apply(self, e),
            Event::TimerFired(e) => timer_fired::apply(self, e),
            Event::ApprovalGiven(e) => approval_given::apply(self, e),
            Event::ApprovalWithdrawn(e) => approval_withdrawn::apply(self, e),
            Event::GateRejected(e) => gate_rejected::apply(self, e),
            Event::GateSatisfied(e) => gate_satisfied::apply(self, e),
            Event::GateEscalated(e) => gate_escalated::apply(self, e),
            Event::TaskResolvedManually(e) => task_resolved_manually::apply(self, e),
            Event::TaskCompletedManually(e) => task_completed_manually::apply(self, e),
            Event::TaskResetForRetry(e) => task_reset_for_retry::apply(self, e),
            Event::TaskSkipRequested(e) => task_skip_requested::apply(self, e),
            Event::TaskCancelRequested(e) => task_cancel_requested::apply(self, e),
            Event::RunResolvedManually(e) => run_resolved_manually::apply(self, e),
            Event::RunGivenUp(e) => run_given_up::apply(self, e),
            Event::RunRerunRequested(e) => run_rerun_requested::apply(self, e),
            Event::RunFrozen(e) => run_frozen::apply(self, e),
            Event::RunUnfrozen(_) => run_unfrozen::apply(self),
            Event::LinkRequested(e) => link_requested::apply(self, e),
            Event::LinkResolved(e) => link_resolved::apply(self, e),
            Event::Unknown(_) => {}
        }
    }

    /// A task, to change it.
    pub(crate) fn task_mut(&mut self, task: TaskIx) -> &mut Task {
        &mut self.run.tasks[task.0 as usize]
    }

    /// Where a task is.
    pub(crate) fn state(&self, task: TaskIx) -> TaskState {
        self.run.tasks[task.0 as usize].state
    }

    /// Moves a task. The one place where a task's state changes.
    pub(crate) fn step(&mut self, task: TaskIx, by: Move, to: TaskState) {
        let from = self.state(task);
        debug_assert!(from.may(by, to), "{from:?} may not go to {to:?} by {by:?}");
        let leasable = self.run.is_leasable(task);
        let version = self.stamp.id;
        let entry = self.task_mut(task);
        entry.state = to;
        entry.version = version;
        self.run.counts[from as usize] -= 1;
        self.run.counts[to as usize] += 1;
        if leasable {
            self.run.leased -= u32::from(from == TaskState::InProgress);
            self.run.leased += u32::from(to == TaskState::InProgress);
        }
        self.changes.moves.push(TaskMove { task, from, to, by });
    }

    /// A task's row changed without a move.
    pub(crate) fn touch(&mut self, task: TaskIx) {
        let version = self.stamp.id;
        self.task_mut(task).version = version;
        self.changes.touched.push(task);
    }

    /// What a composite begins with is another now. Its row alone says nothing of that.
    pub(crate) fn give(&mut self, task: TaskIx) {
        if self.run.spec_of(task).work.is_composite() {
            self.changes.given.push(task);
        }
    }

    /// Moves the run, if it is not there already.
    pub(crate) fn run_to(&mut self, to: RunState) {
        let from = self.run.state;
        if from != to {
            self.run.state = to;
            self.changes.run_moves.push((from, to));
        }
    }

    /// An operator ends a task that is not done, with all that is below it.
    pub(crate) fn leave_out(&mut self, act: &TaskAct, by: Move, to: TaskState) {
        self.stop_within(act.task);
        let asked = Asked { by: act.by.clone(), why: act.why.clone(), at: self.stamp.at };
        self.because(act.task, Reason::Operator(Box::new(asked)));
        self.finish(act.task, by, to);
    }

    /// Remembers why a task did not succeed.
    pub(crate) fn because(&mut self, task: TaskIx, reason: Reason) {
        self.run.reasons.insert(task, reason);
    }
}

/// The task an operator's act is about, if it exists in the generation they looked at.
pub(crate) fn acted_on<'a>(run: &'a Run, act: &TaskAct) -> Result<&'a Task, Ignored> {
    let task = run.task(act.task).ok_or(Ignored::Unknown)?;
    if task.generation != act.generation {
        return Err(Ignored::Stale);
    }
    if run.cancel.is_some() || run.state == RunState::Cancelled {
        return Err(Ignored::Refused(Refusal::RUN_CANCELLED));
    }
    if task.state == TaskState::Pending && run.in_chain(act.task) {
        return Err(Ignored::Refused(Refusal::NOT_COME_TO));
    }
    match run.sealed(act.task) {
        Some(why) => Err(Ignored::Refused(why)),
        None => Ok(task),
    }
}

/// An act that ends a task is for one that is not done; said again it changes nothing.
pub(crate) fn acted_on_open(run: &Run, act: &TaskAct, already: TaskState) -> Result<(), Ignored> {
    match acted_on(run, act)?.state {
        state if state == already => Err(Ignored::Duplicate),
        state if state.is_done() => Err(Ignored::Refused(Refusal::TASK_DONE)),
        _ => Ok(()),
    }
}
