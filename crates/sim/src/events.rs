//! The storm of events: one run over a plan by chance, and every event straight into the fold.
//!
//! The ledger may hold more than the engine's commands write: work that an operator opened again, a cancel before
//! the plan, what an older or newer program wrote. Here all of it comes in any order, early, late, twice and with
//! old names, and after every event everything that must hold is looked at.

mod acts;
mod generation;

use crate::cover::Cover;
use crate::dice::Dice;
use crate::plans::{PEOPLE, as_called, has_children, random_plan, with_children};
use crate::violation::{self, Held, ensure};
use crate::{Options, Summary, Violation};
use edgewise_core::event::{
    Approved, Event, GateSatisfied, PlanCreated, RULES, Request, RunAdvanced, RunTriggered, TaskAct, TaskIx, Unfrozen,
};
use edgewise_core::fold::{Changes, Stamp, Verdict, check, fold};
use edgewise_core::gate::Wait;
use edgewise_core::history::{Entry, Stream};
use edgewise_core::id::{EventId, RunId};
use edgewise_core::invariant::{self, Step};
use edgewise_core::name::Name;
use edgewise_core::plan::{OnFailure, Work};
use edgewise_core::run::Run;
use edgewise_core::state::TaskState;
use edgewise_core::time::Time;
use serde_json::value::RawValue;

/// When every run begins.
const BEGIN: Time = Time(1_000_000);
/// More acts than this in one storm find nothing new, only later.
const ACTS: u64 = 160;
/// A run that is not over after so much calm will never be.
const CALM: u64 = 2_000;

/// Plays a seed: acts by chance, then calm in which whatever can be done is done, well.
pub(crate) fn play(seed: u64, options: &Options) -> Result<Summary, Violation> {
    let mut lone = Lone::new(seed, options.trace);
    let acts = Dice::new(!seed).below(ACTS);
    let kept = |step: &u64| options.only.as_ref().is_none_or(|only| only.contains(step));
    let held = violation::catch(|| {
        for step in (0..acts).filter(kept) {
            lone.act(&mut Dice::of_step(seed, step))?;
        }
        lone.calm()?;
        lone.close()
    });
    let Lone { ledger, cover, log, hash, .. } = lone;
    let schedule = log.unwrap_or_default();
    match held {
        Ok(()) => Ok(Summary { steps: ledger.len() as u64, hash, cover, schedule }),
        Err(violation) => Err(Violation { schedule, ..violation }),
    }
}

/// A run alone: no engine, only a clock and every event it was given.
struct Lone {
    run: Run,
    now: Time,
    ledger: Vec<Entry>,
    cover: Cover,
    hash: u64,
    log: Option<Vec<String>>,
}

impl Lone {
    fn new(seed: u64, trace: bool) -> Self {
        let mut plan = random_plan(&mut Dice::new(seed), BEGIN);
        if has_children(seed) {
            plan = with_children(seed, &plan, BEGIN).0;
        }
        plan = as_called(seed, plan);
        let run = Run::new(RunId(u128::from(seed) + 1), plan.encode().0, plan);
        Self { run, now: BEGIN, ledger: Vec::new(), cover: Cover::default(), hash: seed, log: trace.then(Vec::new) }
    }

    /// Folds an event as the ledger would, which keeps it whatever its verdict, and looks at everything.
    fn say(&mut self, event: Event) -> Held {
        let stamp = Stamp { id: EventId::mint(self.now, 0, self.run.last), at: self.now };
        let before = self.run.clone();
        if let Some(log) = &mut self.log {
            log.push(format!("{:>4}  {:>8}  {event:?}", self.ledger.len() + 1, self.now.0));
        }
        let mut changes = Changes::default();
        let verdict = fold(&mut self.run, stamp, &event, &mut changes);
        if let Some(line) = self.log.as_mut().and_then(|log| log.last_mut()) {
            *line += &format!(": {verdict:?}");
        }
        let kind = if verdict == Verdict::Applied { "applied" } else { "ignored" };
        self.cover.count(kind, event.name());
        self.hash = (self.hash.rotate_left(7) ^ changes.moves.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let step = Step { before: &before, stamp, event: &event, changes: &changes, verdict, after: &self.run };
        look(&step)?;
        let seq = self.ledger.len() as u64 + 1;
        self.ledger.push(Entry { seq, stamp, source: "chance".into(), event });
        Ok(())
    }

    /// What can only be said of the whole stream, and that the run is over.
    fn close(&self) -> Held {
        ensure(self.run.state.is_done(), "nothing_is_stuck", || {
            format!("nothing is left to be done, and the run is {:?}", self.run.state)
        })?;
        let (run, plan_hash, plan) = (self.run.id, self.run.plan_hash, &self.run.plan);
        let stream = Stream { run, plan_hash, plan, entries: &self.ledger };
        invariant::check_stream(&stream)?;
        let same = stream.refold(u64::MAX) == self.run;
        ensure(same, "refold_equals_projection", || "the same events gave another run the second time".into())
    }

    fn calm(&mut self) -> Held {
        if let Some(log) = &mut self.log {
            log.push("calm".into());
        }
        for _ in 0..CALM {
            match self.next_good() {
                Some(event) => self.say(event)?,
                None => return Ok(()),
            }
        }
        ensure(false, "nothing_is_stuck", || format!("the run is {:?} after {CALM} good acts", self.run.state))
    }

    /// What helps the run on; nothing if nothing can.
    fn next_good(&mut self) -> Option<Event> {
        let op = || Request { by: name("op"), why: None };
        if self.run.about.is_none() {
            return Some(self.trigger());
        }
        if self.run.frozen.is_some() {
            return Some(Event::RunUnfrozen(Unfrozen { by: name("op"), why: None, mark: None }));
        }
        if !self.run.planned {
            return Some(self.plan());
        }
        if self.run.paused {
            return Some(Event::RunResumeRequested(op()));
        }
        if self.run.is_advancing() {
            return Some(Event::RunAdvanced(RunAdvanced {}));
        }
        let works = self.leased().first().map(|task| Event::TaskFinished(self.report(*task, None, "[1]")));
        works
            .or_else(|| self.tasks_in(TaskState::Enqueued).first().map(|task| self.lease(*task)))
            .or_else(|| {
                let (timer, due) = self.run.timers.iter().min_by_key(|(_, due)| **due).map(|(k, due)| (*k, *due))?;
                self.now = self.now.max(due);
                Some(self.run.fired(timer, due))
            })
            .or_else(|| self.run.waiting_for_children().find_map(|task| Some(self.told(self.run.awaited(task)?, None))))
            .or_else(|| self.yes())
            .or_else(|| self.dealt_with())
    }

    /// The next person who was not heard says yes to a gate that waits, or something outside opens it.
    fn yes(&self) -> Option<Event> {
        let waiting = self.tasks_in(TaskState::InProgress);
        let task = waiting.into_iter().find(|t| matches!(self.run.spec_of(*t).work, Work::Gate(_)))?;
        let generation = self.generation(task);
        if self.opens_from_outside(task) {
            return Some(opened(task, generation));
        }
        let heard = self.run.approvals.get(&task);
        let by = PEOPLE.iter().find(|p| !heard.is_some_and(|list| list.iter().any(|a| a.by.as_str() == **p)))?;
        Some(Event::ApprovalGiven(Approved { task, generation, by: name(by), comment: None }))
    }

    /// Whether a gate waits for a call, or for another system.
    fn opens_from_outside(&self, task: TaskIx) -> bool {
        let Work::Gate(gate) = &self.run.spec_of(task).work else { return false };
        matches!(gate.wait, Wait::Webhook | Wait::External { .. })
    }

    /// An operator deals with a failure that holds the run. Innermost first: a spread whose items are held is not
    /// itself the failure. What was done anew since holds nothing.
    fn dealt_with(&self) -> Option<Event> {
        let held = !self.run.state.is_done() && self.run.plan.on_failure == OnFailure::Hold;
        let failed = self.tasks_in(TaskState::Error).into_iter().filter(|_| held).rev();
        let acts = failed.map(|task| {
            let generation = self.generation(task);
            Event::TaskResolvedManually(TaskAct { task, generation, by: name("op"), why: None })
        });
        acts.into_iter().find(|act| check(&self.run, self.now, act).is_ok())
    }

    fn trigger(&self) -> Event {
        Event::RunTriggered(RunTriggered {
            flow: name("chance"),
            plan: self.run.plan_hash,
            rules: RULES,
            input: raw(r#"{"list":[1,2,3]}"#),
            by: name("ann"),
            key: None,
            labels: Default::default(),
        })
    }

    fn plan(&self) -> Event {
        Event::PlanCreated(PlanCreated { plan: self.run.plan_hash })
    }

    fn tasks_in(&self, state: TaskState) -> Vec<TaskIx> {
        self.run.present().filter(|t| self.run.tasks[t.0 as usize].state == state).collect()
    }

    fn leased(&self) -> Vec<TaskIx> {
        self.tasks_in(TaskState::InProgress).into_iter().filter(|t| self.run.is_leasable(*t)).collect()
    }

    /// The generation of a task, or that of the first if there is no such task.
    fn generation(&self, task: TaskIx) -> u16 {
        self.run.task(task).map_or(1, |t| t.generation)
    }
}

/// Everything that must hold of a step and of the state after it.
fn look(step: &Step<'_>) -> Held {
    ensure(!matches!(step.verdict, Verdict::Overflow(_)), "counter_matches_edges", || format!("{:?}", step.verdict))?;
    invariant::check_step(step)?;
    invariant::check_state(step.after)?;
    generation::check(step)
}

/// Something outside opens a gate.
fn opened(task: TaskIx, generation: u16) -> Event {
    let output = Some(raw(r#"{"ok":true}"#));
    Event::GateSatisfied(GateSatisfied { task, generation, by: name("outside"), comment: None, delivery: None, output })
}

fn name(text: &str) -> Name {
    Name::parse(text).unwrap_or_else(|_| unreachable!("a good name"))
}

fn raw(json: &str) -> Box<RawValue> {
    RawValue::from_string(json.into()).unwrap_or_else(|_| unreachable!("good JSON"))
}
