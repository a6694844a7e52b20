//! Facts become the events that an engine would write for them.

use super::{Fact, RunFact, Supposition, TaskFact, refused, too_long};
use crate::error::{Error, Result};
use crate::event::{
    Approved, DispatchEnqueued, Event, Failure, GateSatisfied, LinkResolved, Request, Rerun, RerunFrom, TaskAct,
    TaskCompletedManually, TaskFinished, TaskIx, TimerKind,
};
use crate::gate::{Opens, Wait};
use crate::id::TokenHash;
use crate::limits;
use crate::name::Name;
use crate::plan::Work;
use crate::state::{RunState, TaskState};
use crate::suggest::{nearest, shown};
use crate::why::Cause;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::VecDeque;

/// Most names that are compared with one that was mistyped.
const NAMES_COMPARED: usize = 100_000;

/// How everything that is not done is supposed to end.
enum Rest<'a> {
    Well,
    Badly(&'a str),
}

impl Supposition {
    /// Supposes that a fact has happened, after those supposed before it. A fact that could not happen is refused.
    pub fn suppose(&mut self, fact: &Fact) -> Result<()> {
        match fact {
            Fact::Passes(span) => self.pass_until(self.now.plus(*span)),
            Fact::Until(time) => self.pass_until(*time),
            Fact::Run(act) => {
                let request = Request { by: self.by.clone(), why: None };
                let event = match act {
                    RunFact::Cancel => Event::RunCancelRequested(request),
                    RunFact::Pause => Event::RunPauseRequested(request),
                    RunFact::Resume => Event::RunResumeRequested(request),
                    RunFact::GiveUp => Event::RunGivenUp(request),
                    RunFact::Resolve => Event::RunResolvedManually(request),
                    RunFact::Rerun => self.again(RerunFrom::Start),
                };
                self.tell(&event).map_err(|ignored| refused(&format!("it cannot be that {fact}"), ignored))
            }
            Fact::Task(path, what) => {
                let task = self.find(path)?;
                self.happens(task, what)
            }
        }
    }

    /// Supposes that everything else goes well, until the run ends or only an operator could move it.
    pub fn rest_goes_well(&mut self) -> Result<()> {
        if self.run.paused {
            self.suppose(&Fact::Run(RunFact::Resume))?;
        }
        let mut left = limits::WHAT_IF_STEPS;
        loop {
            self.drive(None, &Rest::Well)?;
            let Some((timer, due)) = self.next_timer().filter(|_| !self.run.state.is_done()) else { return Ok(()) };
            self.fire(timer, due).map_err(|ignored| refused("time cannot pass", ignored))?;
            left = left.checked_sub(1).ok_or_else(too_long)?;
        }
    }

    /// The task of a path, as the run would be by now.
    fn find(&self, path: &str) -> Result<TaskIx> {
        self.run.find(path).ok_or_else(|| {
            let paths: Vec<String> = self.run.present().take(NAMES_COMPARED).map(|task| self.run.path(task)).collect();
            let hint = match nearest(path, paths.iter().map(String::as_str)) {
                Some(near) => format!("did you mean {}?", shown(near)),
                None => "what is inside of a composite exists once it has begun".to_owned(),
            };
            Error::not_found("task_not_found", format!("there would be no task {}: {hint}", shown(path)))
        })
    }

    fn happens(&mut self, task: TaskIx, what: &TaskFact) -> Result<()> {
        let composite = self.run.spec_of(task).work.is_composite();
        match what {
            TaskFact::Ok(Some(_)) if composite => {
                Err(self.cannot(task, "what it makes is made by what is inside of it"))
            }
            TaskFact::Ok(None) if composite => self.all_inside(task, &Rest::Well),
            TaskFact::Fail(kind) if composite => self.all_inside(task, &Rest::Badly(kind)),
            TaskFact::FailOnce(_) if composite => Err(self.cannot(task, "say which task inside of it fails once")),
            TaskFact::Ok(output) => self.ends_well(task, output.as_ref()),
            TaskFact::Fail(kind) => self.ends_badly(task, Failure::permanent(kind.clone(), "supposed")),
            TaskFact::FailOnce(kind) => self.ends_badly(task, Failure::new(kind.clone(), "supposed")),
            TaskFact::Approve(Some(by)) => self.answered(task, by.clone(), Event::ApprovalGiven),
            TaskFact::Approve(None) => self.opened(task),
            TaskFact::Reject(by) => {
                let by =
                    by.clone().or_else(|| self.missing(task).into_iter().next()).unwrap_or_else(|| self.by.clone());
                self.answered(task, by, Event::GateRejected)
            }
            TaskFact::Skip => self.acted(task, Event::TaskSkipRequested),
            TaskFact::Cancel => self.acted(task, Event::TaskCancelRequested),
            TaskFact::Resolve => self.acted(task, Event::TaskResolvedManually),
            TaskFact::Reset => self.acted(task, Event::TaskResetForRetry),
            TaskFact::Complete(output) => self.completed(task, output),
            TaskFact::Rerun => {
                let generation = self.run.tasks[task.0 as usize].generation;
                let again = self.again(RerunFrom::Task { task, generation });
                self.tell(&again).map_err(|ignored| self.refuses(task, ignored))
            }
        }
    }

    /// Everything inside of a composite ends so, in the order in which it becomes ready.
    fn all_inside(&mut self, task: TaskIx, rest: &Rest<'_>) -> Result<()> {
        match self.run.tasks[task.0 as usize].state {
            TaskState::Pending => return Err(self.not_ready(task)),
            state if state.is_done() => return Err(self.cannot(task, "it is done")),
            _ => {}
        }
        self.drive(Some(task), rest)?;
        if self.run.tasks[task.0 as usize].state.is_done() {
            return Ok(());
        }
        let waits: Vec<String> =
            Cause::of(&self.run, task).needs.iter().take(3).map(|need| need.path.clone()).collect();
        Err(self.cannot(task, &format!("it still waits for {}; suppose that first", waits.join(", "))))
    }

    /// Ends what is begun, and what begins because of that; within a composite if one is named.
    fn drive(&mut self, inside: Option<TaskIx>, rest: &Rest<'_>) -> Result<()> {
        let mut queue: VecDeque<TaskIx> = self.run.present().collect();
        let mut left = limits::WHAT_IF_STEPS;
        while let Some(task) = queue.pop_front() {
            let state = self.run.tasks[task.0 as usize].state;
            if state.is_done() || state == TaskState::Pending || inside.is_some_and(|outer| !self.is_below(task, outer))
            {
                continue;
            }
            self.begins.clear();
            self.end_one(task, rest)?;
            queue.extend(self.begins.drain(..));
            left = left.checked_sub(1).ok_or_else(too_long)?;
        }
        Ok(())
    }

    /// Ends a task that somebody has to do something for. Composites end by themselves, and waits with time.
    fn end_one(&mut self, task: TaskIx, rest: &Rest<'_>) -> Result<()> {
        match (&self.run.spec_of(task).work, rest) {
            (work, Rest::Well) if work.is_leased() || work.is_linked() => self.ends_well(task, None),
            (work, Rest::Badly(kind)) if work.is_leased() || work.is_linked() => {
                self.ends_badly(task, Failure::permanent((*kind).to_owned(), "supposed"))
            }
            (Work::Gate(gate), Rest::Well) => match gate.wait.opens() {
                Opens::Itself => Ok(()),
                Opens::People => self.opened(task),
                Opens::Outside => self.satisfied(task, None),
                Opens::Shared => self.ends_well(task, None),
            },
            _ => Ok(()),
        }
    }

    fn is_below(&self, mut task: TaskIx, outer: TaskIx) -> bool {
        while self.run.tasks[task.0 as usize].scope != 0 {
            task = self.run.scope_of(task).parent;
            if task == outer {
                return true;
            }
        }
        false
    }

    fn ends_well(&mut self, task: TaskIx, output: Option<&Value>) -> Result<()> {
        match &self.run.spec_of(task).work {
            Work::Gate(gate) => match gate.wait.opens() {
                Opens::Itself => return self.falls_due(task),
                Opens::People => return self.opened(task),
                Opens::Outside => return self.satisfied(task, output),
                Opens::Shared => {}
            },
            Work::Sleep(_) => return self.falls_due(task),
            _ => {}
        }
        if output.is_none() {
            self.assumed.insert(task);
        }
        let output = output.and_then(|value| RawValue::from_string(value.to_string()).ok());
        if self.run.spec_of(task).work.is_linked() {
            return self.told(task, output, None);
        }
        self.finished(task, output, None)
    }

    fn ends_badly(&mut self, task: TaskIx, failure: Failure) -> Result<()> {
        if self.run.spec_of(task).work.is_linked() {
            return self.told(task, None, Some(failure));
        }
        if !self.run.is_leasable(task) {
            return Err(self.cannot(task, "nobody works on it; a gate is rejected, with `=reject`"));
        }
        self.finished(task, None, Some(failure))
    }

    /// What does the work of a task elsewhere, a run or an item, ends.
    fn told(&mut self, task: TaskIx, output: Option<Box<RawValue>>, error: Option<Failure>) -> Result<()> {
        match self.run.tasks[task.0 as usize].state {
            TaskState::Pending => return Err(self.not_ready(task)),
            state if state.is_done() => return Err(self.cannot(task, "it is done; `=rerun` opens it again")),
            TaskState::WaitingForRetry => self.falls_due(task)?,
            _ => {}
        }
        let Some(link) = self.run.awaited(task) else { return Err(self.not_ready(task)) };
        let state = if error.is_some() { RunState::Error } else { RunState::Complete };
        let resolved = LinkResolved { link, run: self.run.child(link), state, output, error };
        self.tell(&Event::LinkResolved(resolved)).map_err(|ignored| self.refuses(task, ignored))
    }

    /// An attempt ends; it is begun first if it is not yet.
    fn finished(&mut self, task: TaskIx, output: Option<Box<RawValue>>, error: Option<Failure>) -> Result<()> {
        match self.run.tasks[task.0 as usize].state {
            TaskState::Pending => return Err(self.not_ready(task)),
            state if state.is_done() => return Err(self.cannot(task, "it is done; `=reset` opens failed work again")),
            _ if self.run.paused && self.run.tasks[task.0 as usize].state != TaskState::InProgress => {
                return Err(self.cannot(task, "the run is paused; suppose `resume` first"));
            }
            TaskState::WaitingForRetry => self.falls_due(task)?,
            _ => {}
        }
        self.begun(task)?;
        let entry = self.run.tasks[task.0 as usize];
        let (generation, attempt, token) = (entry.generation, entry.attempt, entry.token);
        let finished = TaskFinished { task, generation, attempt, token, output, error };
        self.tell(&Event::TaskFinished(finished)).map_err(|ignored| self.refuses(task, ignored))
    }

    fn begun(&mut self, task: TaskIx) -> Result<()> {
        let entry = self.run.tasks[task.0 as usize];
        if entry.state != TaskState::Enqueued {
            return Ok(());
        }
        // No other token is like it: real ones are hashes of chance.
        self.tokens += 1;
        let (generation, attempt, token) = (entry.generation, entry.attempt + 1, TokenHash(self.tokens));
        let lease = DispatchEnqueued { task, generation, attempt, token, worker: "what-if".into(), lease: None };
        self.tell(&Event::DispatchEnqueued(lease)).map_err(|ignored| self.refuses(task, ignored))
    }

    /// The instant comes that a task waits for.
    fn falls_due(&mut self, task: TaskIx) -> Result<()> {
        let waits = |kind: TimerKind| matches!(kind, TimerKind::Retry | TimerKind::Gate);
        let found = self.run.timers.range(crate::event::TimerKey::all_of(task)).find(|(key, _)| waits(key.kind));
        let Some((timer, due)) = found.map(|(key, due)| (*key, *due)) else { return Err(self.not_ready(task)) };
        self.fire(timer, due).map_err(|ignored| self.refuses(task, ignored))
    }

    /// Everybody says yes who is still needed.
    fn opened(&mut self, task: TaskIx) -> Result<()> {
        for by in self.missing(task) {
            self.answered(task, by, Event::ApprovalGiven)?;
            if self.run.tasks[task.0 as usize].state.is_done() {
                return Ok(());
            }
        }
        self.answered(task, self.by.clone(), Event::ApprovalGiven)
    }

    /// What a gate waits for outside comes, with what it sends.
    fn satisfied(&mut self, task: TaskIx, output: Option<&Value>) -> Result<()> {
        if output.is_none() {
            self.assumed.insert(task);
        }
        let generation = self.run.tasks[task.0 as usize].generation;
        let output = output.and_then(|value| RawValue::from_string(value.to_string()).ok());
        let said = GateSatisfied { task, generation, by: self.by.clone(), comment: None, delivery: None, output };
        self.tell(&Event::GateSatisfied(said)).map_err(|ignored| self.refuses(task, ignored))
    }

    /// Who may still say yes to a gate; people without a name of ours where anybody may.
    fn missing(&self, task: TaskIx) -> Vec<Name> {
        let Work::Gate(gate) = &self.run.spec_of(task).work else { return Vec::new() };
        let Wait::Approval { from, count } = &gate.wait else { return Vec::new() };
        let have = self.run.approvals.get(&task).into_iter().flatten().map(|given| &given.by);
        let have: Vec<&Name> = have.collect();
        let anybody = || (1..=*count + have.len() as u32).filter_map(|n| Name::parse(&format!("somebody-{n}")).ok());
        let may: Vec<Name> = if from.is_empty() { anybody().collect() } else { from.clone() };
        may.into_iter().filter(|name| !have.contains(&name)).collect()
    }

    fn answered(&mut self, task: TaskIx, by: Name, event: fn(Approved) -> Event) -> Result<()> {
        let generation = self.run.tasks[task.0 as usize].generation;
        let said = Approved { task, generation, by, comment: None };
        self.tell(&event(said)).map_err(|ignored| self.refuses(task, ignored))
    }

    fn acted(&mut self, task: TaskIx, event: fn(TaskAct) -> Event) -> Result<()> {
        let generation = self.run.tasks[task.0 as usize].generation;
        let act = TaskAct { task, generation, by: self.by.clone(), why: None };
        self.tell(&event(act)).map_err(|ignored| self.refuses(task, ignored))
    }

    /// An operator supplies what a task would have made.
    fn completed(&mut self, task: TaskIx, output: &Value) -> Result<()> {
        let generation = self.run.tasks[task.0 as usize].generation;
        let act = TaskAct { task, generation, by: self.by.clone(), why: None };
        let output = RawValue::from_string(output.to_string())
            .map_err(|error| Error::bug("unprintable", "an output has no JSON form").with_source(error))?;
        let event = Event::TaskCompletedManually(TaskCompletedManually { act, output });
        self.tell(&event).map_err(|ignored| self.refuses(task, ignored))
    }

    /// An operator has work that is done opened again.
    fn again(&self, from: RerunFrom) -> Event {
        Event::RunRerunRequested(Rerun { by: self.by.clone(), why: None, from, generation: self.run.generation })
    }

    fn refuses(&self, task: TaskIx, ignored: crate::fold::Ignored) -> Error {
        refused(&format!("this cannot happen to `{}`", self.run.path(task)), ignored)
    }

    fn cannot(&self, task: TaskIx, why: &str) -> Error {
        Error::conflict("what_if_refused", format!("this cannot happen to `{}`: {why}", self.run.path(task)))
    }

    fn not_ready(&self, task: TaskIx) -> Error {
        let needs: Vec<String> =
            Cause::of(&self.run, task).needs.iter().take(3).map(|need| need.path.clone()).collect();
        let needs = if needs.is_empty() { "something else".to_owned() } else { needs.join(", ") };
        self.cannot(task, &format!("it is not ready, and waits for {needs}; suppose first what becomes of that"))
    }
}
