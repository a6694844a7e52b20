//! What if: facts that have not happened are folded into a copy of a run, to see what would come of them.
//!
//! ```text
//! run ──► copy ──► fact, fact, … ──► what changed, and where the run would be
//! ```
//!
//! It is the same fold over the same events that the engine would write, so what is foretold is what would happen. What
//! a task would make is not known: it is null unless the fact says it, and whoever could be misled by that is told.

mod drive;
mod fact;

pub use fact::{Fact, RunFact, TaskFact};

use crate::error::{Error, Result};
use crate::event::{Event, RunAdvanced, TaskIx, TimerKey};
use crate::fold::{Changes, Ignored, Refusal, Stamp, Verdict, fold};
use crate::id::EventId;
use crate::limits;
use crate::name::Name;
use crate::run::Run;
use crate::state::{Move, Phase, RunState, TaskState};
use crate::time::Time;
use crate::why::{Cause, Why};
use serde::Serialize;
use std::collections::BTreeSet;

/// A run in which something is supposed to have happened.
pub struct Supposition {
    run: Run,
    before: Run,
    now: Time,
    by: Name,
    changes: Changes,
    /// Tasks that moved, in the order in which they first did.
    moved: Vec<TaskIx>,
    seen: BTreeSet<TaskIx>,
    /// Tasks that somebody or something could end from now on, as they came.
    begins: Vec<TaskIx>,
    /// Tasks whose output is not known and was taken as null.
    assumed: BTreeSet<TaskIx>,
    /// Whether something failed for what it was given.
    input_failed: bool,
    tokens: u64,
}

/// What would come of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Foretold {
    /// Where the run would be.
    pub state: RunState,
    /// What people would see of that.
    pub phase: Phase,
    /// Whether it would be over.
    pub over: bool,
    /// How much time would have passed.
    #[serde(serialize_with = "crate::why::instant")]
    pub at: Time,
    /// What would be different, in the order in which it would come about.
    pub changes: Vec<Change>,
    /// Tasks whose output was taken as null although something failed for what it was given.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assumed_null: Vec<String>,
    /// Why the run would be where it is.
    pub why: Why,
}

/// A task that would be elsewhere.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// What people see of it now; nothing if it does not exist yet.
    pub from: Option<Phase>,
    /// Where it would be, and why.
    #[serde(flatten)]
    pub to: Cause,
}

impl Supposition {
    /// Nothing supposed yet. `by` is whoever would act where a fact does not say who.
    pub fn of(run: Run, now: Time, by: Name) -> Self {
        Self {
            before: run.clone(),
            // Whoever asks may have a clock that is behind; what is supposed comes after all that was.
            now: now.max(latest(&run)),
            run,
            by,
            changes: Changes::default(),
            moved: Vec::new(),
            seen: BTreeSet::new(),
            begins: Vec::new(),
            assumed: BTreeSet::new(),
            input_failed: false,
            tokens: 0,
        }
    }

    /// The run as it would be.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// What would come of it all.
    pub fn end(self) -> Foretold {
        let Self { run, before, now, moved, assumed, input_failed, .. } = self;
        let changes = moved.into_iter().filter_map(|task| {
            let from = before.task(task).map(|was| (before.phase_of(task), was.state, was.generation, was.attempt));
            let is = run.task(task)?;
            let same = from.is_some_and(|(_, state, generation, attempt)| {
                // Left out before and after: that it is so for another reason is no news.
                (state == is.state && state == TaskState::Skipped)
                    || (state, generation, attempt) == (is.state, is.generation, is.attempt)
            });
            // A program that never comes to a statement has changed nothing about it.
            let news = !same && !run.was_not_reached(task);
            news.then(|| Change { from: from.map(|(phase, ..)| phase), to: Cause::of(&run, task) })
        });
        let misled = input_failed || run.failure().is_some_and(|failure| failure.is_a("EvalError"));
        let assumed = assumed.into_iter().filter(|_| misled);
        Foretold {
            state: run.state,
            phase: run.state.phase(),
            over: run.state.is_done(),
            at: now,
            changes: changes.collect(),
            assumed_null: assumed.map(|task| run.path(task)).collect(),
            why: Why::of_run(&run),
        }
    }

    /// Folds an event, and goes on where the fold stopped at its bound on inline work.
    fn tell(&mut self, event: &Event) -> Result<(), Ignored> {
        self.fold(event)?;
        let mut left = limits::WHAT_IF_STEPS;
        while self.run.is_advancing() && left > 0 {
            left -= 1;
            self.fold(&Event::RunAdvanced(RunAdvanced {}))?;
        }
        Ok(())
    }

    fn fold(&mut self, event: &Event) -> Result<(), Ignored> {
        let stamp = Stamp { id: EventId::mint(self.now, 0, self.run.last), at: self.now };
        self.changes.clear();
        let verdict = fold(&mut self.run, stamp, event, &mut self.changes);
        for step in &self.changes.moves {
            self.input_failed |= step.by == Move::InputFailed;
            if matches!(step.to, TaskState::Enqueued | TaskState::InProgress) {
                self.begins.push(step.task);
            }
            if self.seen.insert(step.task) {
                self.moved.push(step.task);
            }
        }
        match verdict {
            Verdict::Applied => Ok(()),
            Verdict::Ignored(ignored) => Err(ignored),
            Verdict::Overflow(_) => Err(Ignored::Refused(Refusal::FAULT)),
        }
    }

    /// A timer that is due, or would be by then.
    fn fire(&mut self, timer: TimerKey, due: Time) -> Result<(), Ignored> {
        self.now = self.now.max(due);
        let event = self.run.fired(timer, due);
        self.tell(&event)
    }

    /// The timer that is due first.
    fn next_timer(&self) -> Option<(TimerKey, Time)> {
        self.run.timers.iter().min_by_key(|(_, due)| **due).map(|(key, due)| (*key, *due))
    }

    /// Time passes, and everything falls due that does until then.
    fn pass_until(&mut self, until: Time) -> Result<()> {
        let mut left = limits::WHAT_IF_STEPS;
        while let Some((timer, due)) = self.next_timer().filter(|(_, due)| *due <= until) {
            self.fire(timer, due).map_err(|ignored| refused("time cannot pass", ignored))?;
            left = left.checked_sub(1).ok_or_else(too_long)?;
        }
        self.now = self.now.max(until);
        Ok(())
    }
}

/// The latest instant that a run knows of.
fn latest(run: &Run) -> Time {
    let tasks = run.present().map(|task| &run.tasks[task.0 as usize]);
    let of_tasks = tasks.flat_map(|task| [task.ready_at, task.started_at, task.completed_at]);
    let asked = run.about.as_ref().map(|about| about.at);
    let approved = run.approvals.values().flatten().map(|given| given.at);
    let escalated = run.escalated.values().flatten().copied();
    of_tasks.chain(asked).chain(approved).chain(escalated).chain([run.completed_at]).max().unwrap_or_default()
}

/// Something that cannot be supposed because it could not happen.
fn refused(what: &str, ignored: Ignored) -> Error {
    let why = match ignored {
        Ignored::Duplicate => "that is so already",
        Ignored::Stale => "what it speaks of is over",
        Ignored::Unknown => "there is no such thing",
        Ignored::Early => "it is too early for that",
        Ignored::Denied => "this person may not",
        Ignored::Refused(refusal) => refusal.why,
    };
    Error::conflict("what_if_refused", format!("{what}: {why}"))
}

fn too_long() -> Error {
    let message = format!("it would go on for more than {} steps: suppose less of it", limits::WHAT_IF_STEPS);
    Error::limit("what_if_too_long", message)
}
