//! History: a stream refolded, so that every transition stands beside the event that made it.
//!
//! Nothing of this is stored. Where a task is now is in its row; how it came there is in the ledger, and
//! states that were passed within one event are here too.

use crate::error::Result;
use crate::event::{Event, Record, TaskIx, decode};
use crate::fold::{Changes, Stamp, Verdict, fold};
use crate::id::{EventId, PlanHash, RunId};
use crate::name::Name;
use crate::plan::Plan;
use crate::run::Run;
use crate::state::{Move, RunState, TaskState};
use crate::time::Time;
use std::collections::BTreeMap;
use std::sync::Arc;

/// One event in its place.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its place in the stream, from 1.
    pub seq: u64,
    /// Its id and time.
    pub stamp: Stamp,
    /// Who wrote it.
    pub source: Arc<str>,
    /// The event.
    pub event: Event,
}

impl Entry {
    /// The events of a record, each in its place.
    pub fn of(record: &Record) -> Result<Vec<Entry>> {
        let (envelope, events) = decode(record)?;
        let source: Arc<str> = envelope.source.into();
        let place = |(n, event)| Entry {
            seq: record.first.saturating_add(n),
            stamp: Stamp { id: envelope.id.plus(n), at: envelope.at },
            source: Arc::clone(&source),
            event,
        };
        Ok((0..).zip(events).map(place).collect())
    }
}

/// The events of one run from the first on, and the plan they are folded over.
#[derive(Debug, Clone, Copy)]
pub struct Stream<'a> {
    /// Which run.
    pub run: RunId,
    /// The plan's name.
    pub plan_hash: PlanHash,
    /// The plan.
    pub plan: &'a Arc<Plan>,
    /// All events, in order.
    pub entries: &'a [Entry],
}

impl Stream<'_> {
    /// The run after the events up to a seq.
    pub fn refold(&self, seq: u64) -> Run {
        let mut run = Run::new(self.run, self.plan_hash, Arc::clone(self.plan));
        let mut changes = Changes::default();
        for entry in self.entries.iter().take_while(|e| e.seq <= seq) {
            changes.clear();
            fold(&mut run, entry.stamp, &entry.event, &mut changes);
        }
        run
    }

    /// Folds event by event, and shows the run after each, with what that event changed.
    pub fn walk<E>(&self, mut see: impl FnMut(&Run, &Entry, &Changes, Verdict) -> Result<(), E>) -> Result<(), E> {
        let mut run = Run::new(self.run, self.plan_hash, Arc::clone(self.plan));
        let mut changes = Changes::default();
        for entry in self.entries {
            changes.clear();
            let verdict = fold(&mut run, entry.stamp, &entry.event, &mut changes);
            see(&run, entry, &changes, verdict)?;
        }
        Ok(())
    }

    /// Every transition of the run and of its tasks.
    pub fn history(&self) -> History {
        let mut history = History::default();
        let Ok(()) = self.walk(|run, entry, changes, verdict| {
            if verdict == Verdict::Applied {
                history.add(run, entry, changes);
            }
            Ok::<(), std::convert::Infallible>(())
        });
        history
    }
}

/// From one state to another, and the event that did it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transition<S, B> {
    /// From where.
    pub from: S,
    /// To where.
    pub to: S,
    /// By what: a task's move; for a run, the event's name.
    pub by: B,
    /// The event's id.
    pub event: EventId,
    /// The event's place in the stream.
    pub seq: u64,
    /// When it was committed.
    pub at: Time,
    /// Who wrote it.
    pub source: Arc<str>,
    /// Whether nothing came after it.
    pub most_recent: bool,
}

/// What a person did, whether anything moved by it at once or not; or that more people were asked, which time did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Act {
    /// Who; nobody if time did it.
    pub by: Option<Name>,
    /// Who is asked from now on.
    pub asked: Vec<Name>,
    /// Why, or what they said.
    pub why: Option<String>,
    /// The task they did it to; the whole run if there is none.
    pub task: Option<TaskIx>,
    /// The event's type.
    pub kind: Box<str>,
    /// The event's id.
    pub event: EventId,
    /// The event's place in the stream.
    pub seq: u64,
    /// When it was committed.
    pub at: Time,
    /// Who wrote it.
    pub source: Arc<str>,
}

/// How a run and its tasks came to where they are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History {
    /// Of the run itself.
    pub run: Vec<Transition<RunState, Box<str>>>,
    /// Of each task that has moved.
    pub tasks: BTreeMap<TaskIx, Vec<Transition<TaskState, Move>>>,
    /// What people did and were asked, in order.
    pub acts: Vec<Act>,
}

impl History {
    fn add(&mut self, run: &Run, entry: &Entry, changes: &Changes) {
        let act = |by: Option<&Name>, why: Option<&str>, asked: &[Name]| Act {
            by: by.cloned(),
            asked: asked.to_vec(),
            why: why.map(str::to_owned),
            task: entry.event.task(),
            kind: entry.event.name().into(),
            event: entry.stamp.id,
            seq: entry.seq,
            at: entry.stamp.at,
            source: Arc::clone(&entry.source),
        };
        self.acts.extend(entry.event.said().map(|(by, why)| act(Some(by), why, &[])));
        if let Event::GateEscalated(e) = &entry.event {
            self.acts.extend(run.escalation(e.task, e.step).map(|step| act(None, None, &step.to)));
        }
        for (from, to) in &changes.run_moves {
            push(&mut self.run, entry, (*from, *to), entry.event.name().into());
        }
        for m in &changes.moves {
            push(self.tasks.entry(m.task).or_default(), entry, (m.from, m.to), m.by);
        }
    }
}

fn push<S, B>(list: &mut Vec<Transition<S, B>>, entry: &Entry, (from, to): (S, S), by: B) {
    if let Some(last) = list.last_mut() {
        last.most_recent = false;
    }
    let (event, at, source) = (entry.stamp.id, entry.stamp.at, Arc::clone(&entry.source));
    list.push(Transition { from, to, by, event, seq: entry.seq, at, source, most_recent: true });
}
