//! The stage: a program at work in the fold alone, one act after the other, with rows beside it.
//!
//! Acts are chosen among the tasks at which something can happen. In order, the first of them as the text has them is always
//! next, so that arms are done one after the other as the reference does them; by chance, any. Rows are written as an engine writes
//! them, only what changed, and what is over is given back then. A reload is the rows plus the tail after them.

use super::stub::{Effect, answer};
use crate::dice::Dice;
use crate::driver::name;
use crate::violation::{Held, Violation, ensure};
use edgewise_core::event::{
    AttemptRef, DispatchEnqueued, Event, Failure, PlanCreated, RULES, Request, Rerun, RerunFrom, RunAdvanced,
    RunTriggered, TaskAct, TaskCompletedManually, TaskFinished, TaskIx, TimerKey,
};
use edgewise_core::fold::{Changes, Stamp, Verdict, fold};
use edgewise_core::history::{Entry, Stream};
use edgewise_core::id::{EventId, RunId, Token};
use edgewise_core::invariant::{self, Step};
use edgewise_core::plan::{Plan, Work};
use edgewise_core::rows::{GivenRow, RunRow, TaskRow};
use edgewise_core::run::Run;
use edgewise_core::sketch::Sketch;
use edgewise_core::state::{RunState, TaskState};
use edgewise_core::time::Time;
use edgewise_core::why::Why;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// How a program is played. Every number is "once in so many acts", never if 0.
#[derive(Debug, Clone, Copy, Default)]
pub struct Mode {
    /// Whether what is next is left to chance.
    pub by_chance: bool,
    /// How often rows are written.
    pub flush: u64,
    /// How often the run is replaced by what its rows and the tail say.
    pub reload: u64,
    /// How often something is repeated, given back or paused.
    pub noise: u64,
    /// How often an operator interferes, which makes what it comes to another thing.
    pub people: u64,
    /// After how many acts it is cancelled; never if 0.
    pub cancel: u32,
}

/// Acts after which it is not waited for the end: the reference has ended with fewer.
const ACTS: u32 = 2_000;

/// The type of a failure that nothing but [`Stage::breaks`] makes.
pub const BROKEN: &str = "Broken";

/// What the rows have.
struct Rows {
    run: RunRow,
    tasks: BTreeMap<TaskIx, TaskRow>,
    given: BTreeMap<TaskIx, GivenRow>,
    /// How many events were folded into them.
    events: usize,
}

/// A program at work.
pub struct Stage {
    /// The run.
    pub run: Run,
    /// What it did to the world.
    pub effects: Vec<Effect>,
    mode: Mode,
    dice: Dice,
    now: Time,
    ledger: Vec<Entry>,
    changes: Changes,
    rows: Option<Rows>,
    dirty: BTreeSet<TaskIx>,
    given_behind: BTreeSet<TaskIx>,
    /// Reports that were made.
    reports: Vec<TaskFinished>,
    /// Which of all attempts fails for good, whatever the world would have answered.
    pub breaks: Option<usize>,
}

impl Stage {
    /// A run of a plan that has begun.
    pub fn new(plan: Arc<Plan>, mode: Mode, seed: u64) -> Result<Self, Violation> {
        let (hash, _) = plan.encode();
        let mut stage = Self {
            run: Run::new(RunId(7), hash, plan),
            effects: Vec::new(),
            mode,
            dice: Dice::new(seed),
            now: Time(1_000_000),
            ledger: Vec::new(),
            changes: Changes::default(),
            rows: None,
            dirty: BTreeSet::new(),
            given_behind: BTreeSet::new(),
            reports: Vec::new(),
            breaks: None,
        };
        let input = edgewise_core::input::complete(&stage.run.plan.inputs, &serde_json::Map::new())
            .map_err(|e| Violation::new("input", e.to_string()))?;
        stage.must(Event::RunTriggered(RunTriggered {
            flow: name("test"),
            plan: hash,
            rules: RULES,
            input: raw(&input),
            by: name("tester"),
            key: None,
            labels: BTreeMap::new(),
        }))?;
        stage.must(Event::PlanCreated(PlanCreated { plan: hash }))?;
        Ok(stage)
    }

    /// Plays it to its end.
    pub fn play(&mut self) -> Held {
        for acts in 1..=ACTS {
            let mode = self.mode;
            if acts == mode.cancel && !self.run.state.is_done() {
                return self.cancel();
            }
            if self.dice.one_in(mode.flush) {
                self.flush();
            }
            if self.dice.one_in(mode.reload) {
                self.reload()?;
            }
            if self.dice.one_in(mode.noise) {
                self.make_noise()?;
            }
            if self.dice.one_in(mode.people) {
                self.interfere()?;
            }
            if !self.act()? {
                let done = self.run.state.is_done();
                return ensure(done, "it_ends", || format!("nothing can happen and it is {:?}", self.run.state));
            }
        }
        // Where people decide, loops may go on for ever.
        ensure(self.mode.people > 0, "it_ends", || format!("{ACTS} acts and no end"))
    }

    /// What can only be said of the whole stream. A run that gave nothing back is what its stream says.
    pub fn close(&self) -> Held {
        let (run, plan_hash, plan) = (self.run.id, self.run.plan_hash, &self.run.plan);
        let stream = Stream { run, plan_hash, plan, entries: &self.ledger };
        invariant::check_stream(&stream)?;
        if self.mode.flush == 0 {
            return same("refold_equals_run", &stream.refold(u64::MAX), &self.run);
        }
        let refolded = stream.refold(u64::MAX);
        ensure(refolded.end == self.run.end && refolded.counts == self.run.counts, "refold_equals_run", || {
            format!("{:?} {:?} and {:?} {:?}", refolded.end, refolded.counts, self.run.end, self.run.counts)
        })
    }

    /// Somebody cancels the run: it is over at once, whatever was at work in it.
    fn cancel(&mut self) -> Held {
        self.must(Event::RunCancelRequested(Request { by: name("op"), why: None }))?;
        let over = self.run.state == RunState::Cancelled && self.leaves().is_empty() && !self.run.is_advancing();
        ensure(over, "a_cancel_ends_it", || format!("it is {:?} after a cancel", self.run.state))?;
        self.flush();
        self.reload()
    }

    /// One act; false if nothing can happen.
    fn act(&mut self) -> Result<bool, Violation> {
        let advance = self.run.is_advancing() && (!self.mode.by_chance || self.dice.one_in(2));
        let mut leaves = if advance { Vec::new() } else { self.leaves() };
        if leaves.is_empty() {
            if self.run.is_advancing() {
                self.must(Event::RunAdvanced(RunAdvanced {}))?;
                return Ok(true);
            }
            return Ok(false);
        }
        let at = if self.mode.by_chance { self.dice.index(leaves.len()).unwrap_or(0) } else { 0 };
        let (_, task) = leaves.swap_remove(at);
        self.touch(task)?;
        Ok(true)
    }

    /// Tasks at which something can happen, in the order of the text.
    fn leaves(&self) -> Vec<(Vec<u32>, TaskIx)> {
        let is_leaf = |task: &TaskIx| match self.run.tasks[task.0 as usize].state {
            TaskState::Enqueued | TaskState::WaitingForRetry => true,
            TaskState::InProgress => matches!(self.run.spec_of(*task).work, Work::Gate(_) | Work::Sleep(_)),
            _ => false,
        };
        let mut leaves: Vec<_> = self.run.present().filter(is_leaf).map(|t| (place(&self.run, t), t)).collect();
        leaves.sort();
        leaves
    }

    fn touch(&mut self, task: TaskIx) -> Held {
        if self.run.tasks[task.0 as usize].state == TaskState::Enqueued {
            return self.perform(task);
        }
        let timers = self.run.timers.range(TimerKey::all_of(task));
        let Some((timer, due)) = timers.min_by_key(|(_, due)| **due).map(|(k, d)| (*k, *d)) else {
            return Err(Violation::new("it_ends", format!("{} waits for nothing", self.run.path(task))));
        };
        self.now = self.now.max(due);
        self.must(self.run.fired(timer, due))
    }

    /// An attempt is granted, made and reported.
    fn perform(&mut self, task: TaskIx) -> Held {
        let lease = self.lease(task)?;
        let Work::Action { action, with } = &self.run.spec_of(task).work else {
            return Err(Violation::new("only_actions", "a lease of something else"));
        };
        let with = self.run.evaluate(task, with).map_err(|f| Violation::new("input_is_known", format!("{f:?}")))?;
        let (action, with) = (action.to_string(), with.into_owned());
        let broken = self.breaks == Some(self.effects.len());
        let answered = answer(&action, &with, lease.attempt);
        let outcome = if broken { Err(Failure::permanent(BROKEN, "it was broken")) } else { answered };
        self.effects.push(Effect { action, with: with.to_string(), attempt: lease.attempt });
        if self.dice.one_in(self.mode.reload) {
            self.reload()?;
        }
        let AttemptRef { task, generation, attempt, token } = lease;
        let (output, error) = match outcome {
            Ok(output) => (Some(raw(&output.to_string())), None),
            Err(failure) => (None, Some(failure)),
        };
        let report = TaskFinished { task, generation, attempt, token, output, error };
        self.reports.push(report.clone());
        self.must(Event::TaskFinished(report))
    }

    fn lease(&mut self, task: TaskIx) -> Result<AttemptRef, Violation> {
        let entry = self.run.tasks[task.0 as usize];
        let (generation, attempt) = (entry.generation, entry.attempt + 1);
        let token = Token(1 + self.ledger.len() as u128).hash();
        let granted = DispatchEnqueued { task, generation, attempt, token, worker: "w".into(), lease: None };
        self.must(Event::DispatchEnqueued(granted))?;
        Ok(AttemptRef { task, generation, attempt, token })
    }

    /// What may happen at any time and changes nothing of what the program comes to.
    fn make_noise(&mut self) -> Held {
        let request = Request { by: name("op"), why: None };
        match self.dice.below(3) {
            0 => {
                let Some(at) = self.dice.index(self.reports.len()) else { return Ok(()) };
                let again = self.reports[at].clone();
                let verdict = self.say(Event::TaskFinished(again))?;
                ensure(matches!(verdict, Verdict::Ignored(_)), "reports_count_once", || format!("{verdict:?}"))
            }
            1 => {
                self.say(Event::RunPauseRequested(request.clone()))?;
                self.say(Event::RunResumeRequested(request)).map(drop)
            }
            _ => {
                let Some((_, task)) = self.leaves().pop() else { return Ok(()) };
                if self.run.tasks[task.0 as usize].state != TaskState::Enqueued {
                    return Ok(());
                }
                let lease = self.lease(task)?;
                self.must(Event::DispatchReturned(lease))
            }
        }
    }

    /// An operator does something to a task or to the run, done or not.
    fn interfere(&mut self) -> Held {
        let Some(at) = self.dice.index(self.run.total() as usize) else { return Ok(()) };
        let task = TaskIx(at as u32);
        let generation = self.run.task(task).map_or(1, |task| task.generation);
        let act = TaskAct { task, generation, by: name("op"), why: None };
        let was = self.run.task(task).map(|task| task.state);
        let opens = self.dice.below(4);
        let event = match self.dice.below(9) {
            0 => Event::TaskSkipRequested(act),
            1 => Event::TaskCancelRequested(act),
            2 => Event::TaskResolvedManually(act),
            3 => Event::TaskCompletedManually(TaskCompletedManually { act, output: raw("[7, 8]") }),
            4 => Event::TaskResetForRetry(act),
            5 => Event::RunResolvedManually(Request { by: name("op"), why: None }),
            6 | 7 => self.rerun(match opens {
                0 => RerunFrom::Start,
                1 => RerunFrom::Failure,
                _ => RerunFrom::Task { task, generation },
            }),
            _ if self.dice.one_in(4) => Event::RunCancelRequested(Request { by: name("op"), why: None }),
            _ => return Ok(()),
        };
        let about_run = event.task().is_none();
        let ends = matches!(event, Event::TaskSkipRequested(_) | Event::TaskCancelRequested(_));
        let verdict = self.say(event)?;
        let over = was.is_none() || (ends && was.is_some_and(TaskState::is_done));
        ensure(about_run || !over || verdict != Verdict::Applied, "done_in_a_program_is_final", || {
            format!("task {at} was {was:?}")
        })
    }

    /// Finished work is to be done again.
    pub fn rerun(&self, from: RerunFrom) -> Event {
        Event::RunRerunRequested(Rerun { by: name("op"), why: None, from, generation: self.run.generation })
    }

    fn must(&mut self, event: Event) -> Held {
        let told = format!("{event:?}");
        let verdict = self.say(event)?;
        ensure(verdict == Verdict::Applied, "applied", || format!("{verdict:?} for {told}"))
    }

    /// Folds an event, whatever becomes of it, and looks at everything that must hold.
    pub fn say(&mut self, event: Event) -> Result<Verdict, Violation> {
        let stamp = Stamp { id: EventId::mint(self.now, 0, self.run.last), at: self.now };
        let before = self.run.clone();
        self.changes.clear();
        let verdict = fold(&mut self.run, stamp, &event, &mut self.changes);
        let (changes, after) = (&self.changes, &self.run);
        let step = Step { before: &before, stamp, event: &event, changes, verdict, after };
        invariant::check_step(&step).and_then(|()| invariant::check_state(after))?;
        self.dirty.extend(changes.moves.iter().map(|step| step.task).chain(changes.touched.iter().copied()));
        self.given_behind.extend(&changes.given);
        let seq = self.ledger.len() as u64 + 1;
        self.ledger.push(Entry { seq, stamp, source: "test".into(), event });
        Ok(verdict)
    }

    /// Writes the rows that are behind, and gives back what is over.
    pub fn flush(&mut self) {
        let Some(row) = self.run.row() else { return };
        let (mut tasks, mut given) = self.rows.take().map(|rows| (rows.tasks, rows.given)).unwrap_or_default();
        for task in std::mem::take(&mut self.dirty) {
            tasks.insert(task, self.run.task_row(task));
        }
        for task in std::mem::take(&mut self.given_behind) {
            match self.run.given_row(task) {
                Some(row) => drop(given.insert(task, row)),
                None => drop(given.remove(&task)),
            }
        }
        self.rows = Some(Rows { run: row, tasks, given, events: self.ledger.len() });
        let over = std::mem::take(&mut self.run.over);
        self.run.release(over);
        self.tell();
    }

    /// Everything that is told of a run can be told, whatever was given back.
    fn tell(&self) {
        let _ = (Why::of_run(&self.run), Sketch::of_run(&self.run));
        for task in self.run.present() {
            let (why, path) = (Why::of_task(&self.run, task), self.run.path(task));
            assert_eq!(self.run.find(&path), Some(task), "{path} after {} causes", why.causes.len());
        }
    }

    /// The run is lost, and loaded again.
    pub fn reload(&mut self) -> Held {
        let Some(rows) = &self.rows else { return Ok(()) };
        let tasks = rows.tasks.values().cloned().collect();
        let given = rows.given.values().cloned().collect();
        let loaded = Run::from_rows(&rows.run, tasks, given, Arc::clone(&self.run.plan));
        let mut loaded = loaded.map_err(|e| Violation::new("rows_can_be_loaded", e.to_string()))?;
        for entry in &self.ledger[rows.events..] {
            fold(&mut loaded, entry.stamp, &entry.event, &mut Changes::default());
        }
        same("rows_and_tail_are_the_run", &loaded, &self.run)?;
        self.run = loaded;
        Ok(())
    }
}

/// Where a task stands in the text and in the arms around it.
fn place(run: &Run, mut task: TaskIx) -> Vec<u32> {
    let mut place = Vec::new();
    loop {
        let number = run.tasks[task.0 as usize].scope;
        let scope = &run.scopes[number as usize];
        place.extend([task.0 - scope.task, scope.index]);
        if number == 0 {
            place.reverse();
            return place;
        }
        task = scope.parent;
    }
}

/// Two runs are the same, or the violation says in what they differ.
fn same(invariant: &str, found: &Run, expected: &Run) -> Held {
    ensure(found == expected, invariant, || {
        let (found, expected) = (format!("{found:#?}"), format!("{expected:#?}"));
        let differ = found.lines().zip(expected.lines()).enumerate().filter(|(_, (a, b))| a != b).take(6);
        let lines: Vec<String> = differ.map(|(n, (a, b))| format!("{n}: {} != {}", a.trim(), b.trim())).collect();
        lines.join("; ")
    })
}

fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap_or_else(|e| panic!("{e}"))
}
