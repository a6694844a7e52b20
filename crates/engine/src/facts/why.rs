//! Why something is where it is, with all that stands outside of it: slots that other runs hold, runs within the run,
//! items of the work graph, and the runs that items wait for.
//!
//! ```text
//! run ──► task ──► slot held by a task of another run
//!              ──► run within it ──► …
//!              ──► item ──► item ──► run that it awaits ──► …
//! ```
//!
//! The command line, agents and the server all answer with this, so that they say the same. Each run and each item is
//! told once.

mod join;

use crate::facts::spelled::spelled;
use crate::queues::{Queues, all_set_by};
use crate::reader::Reader;
use crate::shares::Held;
use edgewise_core::event::TaskIx;
use edgewise_core::id::RunId;
use edgewise_core::run::Run;
use edgewise_core::time::Time;
use edgewise_core::why::{Because, Cause, Why};
use edgewise_core::work::{Reason, Standing, Target};
use edgewise_core::{Error, Result};
use serde::{Serialize, Serializer};
use std::collections::{BTreeSet, VecDeque};

/// Most runs within a run that are explained.
const RUNS: usize = 10;
/// Most items that tasks wait for that are looked up.
const ITEMS: usize = 20;

/// A run or one of its tasks, and all that is known of why it is where it is.
#[derive(Serialize)]
pub struct Explained {
    /// The run.
    #[serde(skip)]
    pub run: Run,
    /// Its reasons.
    #[serde(flatten)]
    pub why: Why,
    /// The runs that it comes down to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inner: Vec<Inner>,
    /// How many runs more there are behind these, at least.
    #[serde(skip_serializing_if = "is_zero")]
    pub more_runs: usize,
    /// The items that it comes down to, each with what is in its way.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "as_spelled")]
    pub items: Vec<Reason>,
    /// How many tasks more wait for items of their own.
    #[serde(skip_serializing_if = "is_zero")]
    pub more_items: usize,
}

/// A run within a run.
#[derive(Serialize)]
pub struct Inner {
    /// The run.
    #[serde(skip)]
    pub run: Run,
    /// Its reasons.
    #[serde(flatten)]
    pub why: Why,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

fn as_spelled<S: Serializer>(items: &[Reason], to: S) -> std::result::Result<S::Ok, S::Error> {
    let mut value = serde_json::to_value(items).map_err(serde::ser::Error::custom)?;
    spelled(&mut value);
    value.serialize(to)
}

impl Reader {
    /// Why a run, or a task of it, is where it is now. `set` is what whoever runs the engine has set queues to; what the
    /// workspace says of them goes before that.
    pub fn explain(&mut self, run: Run, task: Option<TaskIx>, set: &Queues, now: Time) -> Result<Explained> {
        let mut asking = Asking::new(self, set, now)?;
        asking.runs.insert(run.id);
        let why = match task {
            Some(task) => Why::of_task(&run, task),
            None => Why::of_run(&run),
        };
        let mut why = asking.learned(&run, why)?;
        let (mut inner, more_runs) = asking.within(&run, &why)?;
        let mut items = asking.items(&run, &mut why)?;
        for Inner { run, why } in &mut inner {
            items.extend(asking.items(run, why)?);
        }
        let more_items = asking.unlooked;
        Ok(Explained { run, why, inner, more_runs, items, more_items })
    }

    /// Reasons of the work graph, followed into the runs that they come down to.
    pub fn follow(&mut self, mut reason: Reason, set: &Queues, now: Time) -> Result<Reason> {
        Asking::new(self, set, now)?.follow(&mut reason, 0)?;
        Ok(reason)
    }

    /// The task of a run that a path names; in a round that is over too.
    pub fn with_task(&mut self, run: Run, path: &str) -> Result<(Run, TaskIx)> {
        let run = if run.find(path).is_some() { run } else { self.whole(run)? };
        let missing = || {
            let message = format!("run {} has no task {path:?}; GET /api/v1/runs/{} lists them", run.id, run.id);
            Error::not_found("task_not_found", message)
        };
        let task = run.find(path).ok_or_else(missing)?;
        Ok((run, task))
    }
}

/// One question, with what was told of it already.
struct Asking<'r> {
    reader: &'r mut Reader,
    set: Queues,
    now: Time,
    held: Held,
    /// Runs that are told.
    runs: BTreeSet<RunId>,
    /// Items and gates that are told.
    told: BTreeSet<Target>,
    /// Tasks whose items were not looked up, because there are so many.
    unlooked: usize,
}

impl<'r> Asking<'r> {
    fn new(reader: &'r mut Reader, set: &Queues, now: Time) -> Result<Self> {
        let mut set = set.clone();
        set.extend(all_set_by(&reader.control()?.settings).map(|(queue, set, _)| (queue, set)));
        let (runs, told) = (BTreeSet::new(), BTreeSet::new());
        Ok(Self { reader, set, now, held: Held::default(), runs, told, unlooked: 0 })
    }

    /// What neither the run nor its reasons know: who it was, and what holds its tasks.
    fn learned(&mut self, run: &Run, mut why: Why) -> Result<Why> {
        for task in why.unclaimed() {
            let holds = self.reader.holds((run, task), &mut self.held, &self.set, self.now)?;
            why.learn_holds(run, task, holds);
        }
        let mut after = 0;
        while why.could_learn() {
            let page = self.reader.some_records(run.id, after)?;
            let Some(last) = page.last() else { break };
            after = last.first + last.events.len() as u64 - 1;
            page.into_iter().flat_map(crate::reader::Committed::entries).for_each(|entry| why.learn(&entry));
        }
        Ok(why)
    }

    /// The runs that tasks wait for or failed because of, and those that these wait for, down to whoever can move them;
    /// and how many there are behind them.
    fn within(&mut self, run: &Run, why: &Why) -> Result<(Vec<Inner>, usize)> {
        let mut next: VecDeque<RunId> = children(run, why).into();
        let mut found: Vec<Inner> = Vec::new();
        while found.len() < RUNS
            && let Some(child) = next.pop_front()
        {
            if !self.runs.insert(child) || self.reader.row(child)?.is_none() {
                continue;
            }
            let run = self.reader.run(child)?;
            let why = self.learned(&run, Why::of_run(&run))?;
            next.extend(children(&run, &why));
            found.push(Inner { run, why });
        }
        next.retain(|run| !self.runs.contains(run));
        Ok((found, next.len()))
    }

    /// The items that tasks wait for, each with what is in its way, once.
    fn items(&mut self, run: &Run, why: &mut Why) -> Result<Vec<Reason>> {
        let mut found = Vec::new();
        let waiting = why.items();
        self.unlooked += waiting.len().saturating_sub(ITEMS);
        for (task, id) in waiting.into_iter().take(ITEMS) {
            let Some(mut reason) = self.item(id.as_str())? else { continue };
            why.learn_item(run, task, reason.standing == Some(Standing::Blocked));
            if self.told.contains(&reason.id) {
                continue;
            }
            self.follow(&mut reason, 0)?;
            found.push(reason);
        }
        Ok(found)
    }

    /// Why an item stands as it does; `None` if the work graph does not know it.
    fn item(&mut self, id: &str) -> Result<Option<Reason>> {
        match self.reader.work_about(self.now, id, edgewise_core::work::part::Extent::Reasons) {
            Ok((id, work)) => Ok(Some(work.why(id.as_str(), self.now))),
            Err(error) if error.kind == edgewise_core::Kind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// The runs that the reasons of a run speak of.
fn children(run: &Run, why: &Why) -> Vec<RunId> {
    let told = |cause: &&Cause| matches!(cause.because, Because::Child { .. } | Because::Failed { .. });
    why.causes.iter().filter(told).filter_map(|cause| run.last_child(cause.task)).collect()
}
