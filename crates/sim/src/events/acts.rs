//! Acts by chance: whatever an engine, a worker, a person or a bad network could write. Many are refused: that is the
//! point.

use super::{Lone, name, opened, raw};
use crate::dice::Dice;
use crate::plans::PEOPLE;
use crate::violation::Held;
use edgewise_core::event::{
    Approved, AttemptRef, DispatchEnqueued, Event, Failure, LinkRef, LinkRequested, LinkResolved, Request, Rerun,
    RerunFrom, RunAdvanced, TaskAct, TaskCompletedManually, TaskFinished, TaskHeartbeat, TaskIx, Unfrozen,
};
use edgewise_core::id::{RunId, Token};
use edgewise_core::plan::Work;
use edgewise_core::state::{RunState, TaskState};
use edgewise_core::time::{Millis, Time};

impl Lone {
    /// One act.
    pub(super) fn act(&mut self, dice: &mut Dice) -> Held {
        let (back, on) = (dice.below(3_000), dice.below(2_000));
        self.now = Time(if dice.one_in(20) { self.now.0.saturating_sub(back) } else { self.now.0 + on });
        match self.chance(dice) {
            Some(event) => self.say(event),
            None => Ok(()),
        }
    }

    fn chance(&mut self, dice: &mut Dice) -> Option<Event> {
        if !self.run.planned && !dice.one_in(4) {
            return Some(self.begin(dice));
        }
        // Only where there are children, so that the dice of other storms fall as they did.
        if !self.run.plan.children().is_empty() && dice.one_in(5) {
            return Some(self.link(dice));
        }
        match dice.below(30) {
            0..=5 => self.some(dice, TaskState::Enqueued).map(|task| self.lease(task)),
            6..=11 => self.finish(dice),
            12..=14 => self.fire(dice),
            15 | 16 => Some(self.speak(dice)),
            17..=19 => Some(self.operate(dice)),
            20 | 21 => self.repeat(dice),
            22 => Some(Event::RunAdvanced(RunAdvanced {})),
            23 | 24 => self.strange(dice),
            25 | 26 => self.late_lease(dice),
            27 | 28 => Some(self.rerun(dice)),
            _ => Some(request(dice)),
        }
    }

    /// What is told of children, mostly of one that is waited for; or that somebody waits for this run.
    fn link(&self, dice: &mut Dice) -> Event {
        if dice.one_in(8) {
            let (task, generation) = self.any_task(dice);
            return waited_for(dice, LinkRef { task, generation, attempt: 1 });
        }
        let known = self.run.waiting_for_children().filter_map(|task| self.run.awaited(task));
        let known: Vec<LinkRef> = known.chain(self.run.disowned.keys().copied()).collect();
        let mut link = match dice.index(known.len()) {
            Some(at) => known[at],
            None => {
                let (task, generation) = self.any_task(dice);
                LinkRef { task, generation, attempt: 1 }
            }
        };
        match dice.below(8) {
            0 => link.attempt = link.attempt.wrapping_sub(1),
            1 => link.generation = older(link.generation),
            _ => {}
        }
        let failure = Failure { retryable: !dice.one_in(3), ..Failure::new("SubRunFailed", "it broke") };
        self.told(link, dice.one_in(2).then_some(failure))
    }

    /// How the child of an attempt ended.
    pub(super) fn told(&self, link: LinkRef, error: Option<Failure>) -> Event {
        let state = if error.is_some() { RunState::Error } else { RunState::Complete };
        let output = error.is_none().then(|| raw("[1,2]"));
        Event::LinkResolved(LinkResolved { link, run: RunId(1), state, output, error })
    }

    /// A run begins with its trigger and its plan, but what is asked of it may come in between.
    fn begin(&self, dice: &mut Dice) -> Event {
        match self.run.about {
            None => self.trigger(),
            Some(_) if !self.run.plan.children().is_empty() && dice.one_in(3) => {
                waited_for(dice, LinkRef { task: TaskIx(0), generation: 1, attempt: 1 })
            }
            Some(_) if dice.one_in(3) => request(dice),
            Some(_) => self.plan(),
        }
    }

    fn some(&self, dice: &mut Dice, state: TaskState) -> Option<TaskIx> {
        let tasks = self.tasks_in(state);
        dice.index(tasks.len()).map(|at| tasks[at])
    }

    /// The next attempt of a task becomes a worker's, with a token that no other has had.
    pub(super) fn lease(&self, task: TaskIx) -> Event {
        let entry = &self.run.tasks[task.0 as usize];
        let token = Token(1 + self.ledger.len() as u128).hash();
        let (generation, attempt) = (entry.generation, entry.attempt + 1);
        Event::DispatchEnqueued(DispatchEnqueued { task, generation, attempt, token, worker: "w".into(), lease: None })
    }

    /// A grant that was on its way while the task was opened again.
    fn late_lease(&self, dice: &mut Dice) -> Option<Event> {
        let mut event = self.lease(self.some(dice, TaskState::Enqueued)?);
        if let Event::DispatchEnqueued(e) = &mut event {
            e.generation = older(e.generation);
        }
        Some(event)
    }

    /// What the worker of the current attempt would report.
    pub(super) fn report(&self, task: TaskIx, error: Option<Failure>, output: &str) -> TaskFinished {
        let AttemptRef { generation, attempt, token, .. } = self.held(task);
        let output = error.is_none().then(|| raw(output));
        TaskFinished { task, generation, attempt, token, output, error }
    }

    /// The lease that a task has, or had last.
    fn held(&self, task: TaskIx) -> AttemptRef {
        let entry = &self.run.tasks[task.0 as usize];
        AttemptRef { task, generation: entry.generation, attempt: entry.attempt, token: entry.token }
    }

    fn finish(&self, dice: &mut Dice) -> Option<Event> {
        let live = self.leased();
        let task = live[dice.index(live.len())?];
        if dice.one_in(10) {
            return Some(Event::DispatchReturned(self.held(task)));
        }
        if dice.one_in(20) {
            return Some(Event::TaskHeartbeat(TaskHeartbeat { attempt: self.held(task), progress: raw("0.5") }));
        }
        let output = *dice.pick(&["null", "[1,2]", r#"{"k":[7]}"#]);
        let error = dice.one_in(2).then(|| Failure {
            retryable: !dice.one_in(3),
            retry_after: dice.one_in(4).then(|| Millis(dice.below(90_000))),
            ..Failure::new("boom", "it broke")
        });
        Some(Event::TaskFinished(self.report(task, error, output)))
    }

    /// A timer fires: mostly when it is due, sometimes early, sometimes under the name of an old generation.
    fn fire(&mut self, dice: &mut Dice) -> Option<Event> {
        let at = dice.index(self.run.timers.len())?;
        let (mut timer, due) = self.run.timers.iter().nth(at).map(|(key, due)| (*key, *due))?;
        if !dice.one_in(4) {
            self.now = self.now.max(due);
        }
        if dice.one_in(6) {
            timer.generation = older(timer.generation);
        }
        Some(self.run.fired(timer, due))
    }

    /// Any task, in its generation or now and then in the one before it.
    fn any_task(&self, dice: &mut Dice) -> (TaskIx, u16) {
        // One past the end, now and then: nobody knows that task.
        let task = TaskIx(dice.below(u64::from(self.run.total()) + 1) as u32);
        (task, self.old_or_new(dice, task))
    }

    /// The generation of a task, or now and then the one before.
    fn old_or_new(&self, dice: &mut Dice, task: TaskIx) -> u16 {
        let generation = self.generation(task);
        if dice.one_in(4) { older(generation) } else { generation }
    }

    /// A person speaks to a gate, mostly to one that waits for somebody.
    fn speak(&self, dice: &mut Dice) -> Event {
        let is_gate = |t: &TaskIx| matches!(self.run.spec_of(*t).work, Work::Gate(_));
        let waiting = self.tasks_in(TaskState::InProgress).into_iter().filter(is_gate);
        let mut gates: Vec<TaskIx> = waiting.filter(|_| !dice.one_in(4)).collect();
        if gates.is_empty() {
            gates = self.run.present().filter(is_gate).collect();
        }
        let (task, generation) = match dice.index(gates.len()) {
            Some(at) => (gates[at], self.old_or_new(dice, gates[at])),
            None => self.any_task(dice),
        };
        // Also a gate that asks people, and is not opened by that.
        if self.run.task(task).is_some() && self.opens_from_outside(task) != dice.one_in(8) {
            return opened(task, generation);
        }
        let said = Approved { task, generation, by: name(PEOPLE[dice.below(3) as usize]), comment: None };
        match dice.below(5) {
            0 => Event::ApprovalWithdrawn(said),
            1 => Event::GateRejected(said),
            _ => Event::ApprovalGiven(said),
        }
    }

    fn operate(&self, dice: &mut Dice) -> Event {
        let failed = self.some(dice, TaskState::Error).filter(|_| !dice.one_in(3));
        let (task, generation) = match failed {
            Some(task) => (task, self.old_or_new(dice, task)),
            None => self.any_task(dice),
        };
        let act = TaskAct { task, generation, by: name("op"), why: None };
        match dice.below(8) {
            0 => Event::TaskSkipRequested(act),
            1 => Event::TaskCancelRequested(act),
            2 => Event::TaskResolvedManually(act),
            3 => {
                let output = raw(["null", "[3]", "5"][dice.below(3) as usize]);
                Event::TaskCompletedManually(TaskCompletedManually { act, output })
            }
            _ => Event::TaskResetForRetry(act),
        }
    }

    /// Finished work is to be done again: all of it, what failed, or any task; now and then by somebody who looked
    /// too early.
    fn rerun(&self, dice: &mut Dice) -> Event {
        let (task, generation) = self.any_task(dice);
        let from = match dice.below(6) {
            0 => RerunFrom::Start,
            1 | 2 => RerunFrom::Failure,
            _ => RerunFrom::Task { task, generation },
        };
        let generation = if dice.one_in(8) { older(self.run.generation) } else { self.run.generation };
        Event::RunRerunRequested(Rerun { by: name("op"), why: None, from, generation })
    }

    /// Something is said again, mostly something of late.
    fn repeat(&self, dice: &mut Dice) -> Option<Event> {
        let from = if dice.one_in(3) { 0 } else { self.ledger.len().saturating_sub(12) };
        let at = dice.index(self.ledger.len() - from)?;
        Some(self.ledger[from + at].event.clone())
    }

    /// A report with one wrong name in it, a second plan, an event of a program to come.
    fn strange(&self, dice: &mut Dice) -> Option<Event> {
        let kind = dice.below(5);
        match kind {
            0 => return Some(Event::Unknown("FromTheFuture".into())),
            1 => return Some(self.plan()),
            _ => {}
        }
        let live = self.leased();
        let mut report = self.report(live[dice.index(live.len())?], None, "null");
        match kind {
            2 => report.attempt = report.attempt.wrapping_sub(1),
            3 => report.token.0 ^= 1,
            _ => report.generation = older(report.generation),
        }
        Some(Event::TaskFinished(report))
    }
}

/// The generation before; there is none before the first.
fn older(generation: u16) -> u16 {
    (generation - 1).max(1)
}

/// A task of another run waits for this one.
fn waited_for(dice: &mut Dice, link: LinkRef) -> Event {
    let (run, depth) = (RunId(u128::from(dice.below(2))), 1 + dice.below(16) as u16);
    Event::LinkRequested(LinkRequested { run, link, path: "n0".into(), depth })
}

fn request(dice: &mut Dice) -> Event {
    let request = Request { by: name("op"), why: Some("because".into()) };
    match dice.below(16) {
        0 => Event::RunCancelRequested(request),
        1 => Event::RunResolvedManually(request),
        2 | 3 => Event::RunGivenUp(request),
        4..=5 => Event::RunPauseRequested(request),
        6 => Event::RunFrozen(request),
        // More often: until then nothing else happens.
        7..=9 => {
            Event::RunUnfrozen(Unfrozen { by: request.by, why: None, mark: dice.one_in(4).then(|| "damaged".into()) })
        }
        _ => Event::RunResumeRequested(request),
    }
}
