//! The workspace's work graph on the desk: staged in the same batch as the events of runs, undone with them.
//!
//! It is as large as a workspace's work, so it is loaded once and then kept: what others wrote is folded in, what was
//! refused halfway is undone, and only what was staged and did not land costs a load. The guard of its stream makes sure that
//! of two engines that give the same item to two people one conflicts, folds what the other wrote, and decides again.

use super::Desk;
use super::answers::Answers;
use super::own::stage;
use crate::load::{fold_work, load_work};
use crate::publish::Noted;
use edgewise_core::domain::Cause;
use edgewise_core::event::{Envelope, LinkRef};
use edgewise_core::fold::Stamp;
use edgewise_core::id::{EventId, RunId};
use edgewise_core::time::Time;
use edgewise_core::work::{Changed, Done, Note, NoteKind, Target, Work, WorkEvent, check, fold};
use edgewise_core::{Error, Kind, Result};
use edgewise_store::{Append, Stream, WorkChange};
use std::collections::{BTreeMap, BTreeSet};

/// Most records of others read at once.
const PAGE: usize = 1_000;

/// The work graph, and what of it is where.
#[derive(Default)]
pub(crate) struct CachedWork {
    /// What its events have come to.
    pub state: Work,
    /// Whether that is what the ledger says, but for what is staged.
    pub loaded: bool,
    /// The seq up to which the ledger has it.
    pub durable: u64,
    /// The seq its rows are at, once what is under way is written.
    pub written: u64,
    /// What the rows do not have yet.
    pub changed: Changed,
    /// Notes that are being written.
    writing: Vec<Note>,
    /// Nothing that time brings is looked for before then: the last look came to nothing.
    pub put_off: Time,
    /// Runs whose end may have to be told to it.
    pub joins: BTreeSet<RunId>,
    /// Up to which event runs were looked at for gates of theirs that are waited for.
    pub looked_at: BTreeMap<RunId, u64>,
    /// What keyed operations that are durable were answered lately.
    answers: Answers,
    /// Events folded but not yet appended, and the id of the first.
    events: Vec<WorkEvent>,
    first_id: EventId,
}

impl CachedWork {
    /// Just as it was loaded.
    pub fn new(state: Work, written: u64, changed: Changed) -> Self {
        let durable = state.seq;
        let joins = state.awaited_runs().collect();
        Self { state, loaded: true, durable, written, changed, joins, ..Self::default() }
    }

    /// Whether something of it is not in the ledger yet.
    pub fn is_staged(&self) -> bool {
        !self.events.is_empty()
    }

    /// A place to come back to.
    pub fn mark(&self) -> Mark {
        Mark { events: self.events.len(), notes: self.changed.notes.len() }
    }

    /// Keeps what a command touches as it was, so that it can be refused halfway. One of a single event need not ask for
    /// it: such a command is refused before anything changes.
    pub fn remember(&mut self) {
        if !self.state.remembers() {
            self.state.remember();
        }
    }

    /// How many events were staged since.
    pub fn since(&self, mark: &Mark) -> usize {
        self.events.len() - mark.events
    }

    /// What history notes of what is staged, for whoever tells of it; nothing if there is nothing.
    pub fn noted(&self, at: Time) -> Option<Noted> {
        // What was staged and did not land may have left its notes behind.
        if !self.is_staged() {
            return None;
        }
        let begin = self.changed.notes.partition_point(|note| note.seq <= self.durable);
        let notes = self.changed.notes[begin..].to_vec();
        let cause = |(seq, event)| Cause::new(seq, event);
        let causes = || (self.durable + 1..).zip(&self.events).map(cause).collect();
        (!notes.is_empty()).then(|| Noted { at, causes: causes(), notes })
    }

    /// Adds what is staged to a batch.
    pub fn stage(&self, stream: &Stream, (at, source): (Time, &str), batch: &mut Append) {
        let envelope = Envelope { id: self.first_id, at, source: source.into() };
        stage(batch, stream, &envelope, &self.events, (self.durable, self.state.last));
    }

    /// What must be written for the rows to catch up.
    pub fn change(&mut self, stream: &Stream) -> Option<WorkChange> {
        if !self.loaded || self.written == self.state.seq {
            return None;
        }
        debug_assert!(self.events.is_empty() && self.durable == self.state.seq, "rows of what is not durable");
        let changed = std::mem::take(&mut self.changed);
        let state = &self.state;
        let (items, items_gone) = rows(changed.items, |id| state.item_row(id.as_str()));
        let (dependencies, dependencies_gone) = rows(changed.dependencies, |key| state.dependency_row(key));
        let (gates, gates_gone) = rows(changed.gates, |id| state.gate_row(id.as_str()));
        let (runs, runs_gone) = rows(changed.runs, |run| state.run_row(*run));
        self.writing.extend(changed.notes.iter().cloned());
        Some(WorkChange {
            stream: stream.clone(),
            from_seq: std::mem::replace(&mut self.written, self.state.seq),
            applied_seq: self.state.seq,
            version: self.state.last,
            due: self.state.due(),
            items,
            items_gone,
            dependencies,
            dependencies_gone,
            gates,
            gates_gone,
            runs,
            runs_gone,
            notes: changed.notes,
        })
    }

    /// The rows that were under way are written.
    pub fn rows_written(&mut self) {
        self.writing.clear();
    }

    /// What happened to an item and may not be in the rows yet.
    fn notes_of<'a>(&'a self, item: &'a str) -> impl Iterator<Item = &'a Note> {
        self.writing.iter().chain(&self.changed.notes).filter(move |note| note.item.as_str() == item)
    }
}

/// How much was staged, and told.
pub(crate) struct Mark {
    events: usize,
    notes: usize,
}

/// Tasks of runs whose items and gates are over since then; those of items that are open again have gone on.
fn waiters(work: &CachedWork, before: usize) -> impl Iterator<Item = (RunId, LinkRef)> {
    let ended = |note: &&Note| matches!(note.what, NoteKind::Satisfied { .. } | NoteKind::Rejected { .. });
    let gates = work.changed.notes[before..].iter().filter(ended);
    let gates = gates.filter_map(|note| work.state.gate(note.item.as_str())).flat_map(|gate| &gate.tasks);
    let gates = gates.map(|waiter| (waiter.run, waiter.link));
    let over = |note: &&Note| {
        matches!(note.what, NoteKind::Closed { .. } | NoteKind::AutoCompleted { .. } | NoteKind::Deleted { .. })
    };
    let over = work.changed.notes[before..].iter().filter(over);
    let items = over.filter_map(|note| work.state.item(note.item.as_str())?.waiter.as_deref());
    items.map(|waiter| (waiter.run, waiter.link)).chain(gates)
}

/// What is waited for from now on.
fn target_of(event: &WorkEvent) -> Option<&Target> {
    match event {
        WorkEvent::DependencyAdded(added) => Some(&added.target),
        WorkEvent::DependencyImported(dependency) => Some(&dependency.target),
        _ => None,
    }
}

/// The rows of what changed, and the keys of what has none any more.
fn rows<K, R>(changed: BTreeSet<K>, row: impl Fn(&K) -> Option<R>) -> (Vec<R>, Vec<K>) {
    let (mut there, mut gone) = (Vec::new(), Vec::new());
    for key in changed {
        match row(&key) {
            Some(row) => there.push(row),
            None => gone.push(key),
        }
    }
    (there, gone)
}

impl Desk {
    /// The work graph, loaded if it is not here. Refused if it is frozen.
    pub fn work(&mut self) -> Result<&Work> {
        if let Some(reason) = self.frozen.get(&RunId::WORK) {
            let message = format!("the work graph is frozen: {reason}. Look with `edgewise doctor --verify`");
            return Err(Error::conflict("work_frozen", message));
        }
        if !self.work.loaded {
            self.load_work()?;
        }
        Ok(&self.work.state)
    }

    fn load_work(&mut self) -> Result<()> {
        let stream = self.home.stream(RunId::WORK);
        let loaded = load_work(&mut *self.ledger, &mut *self.projections, &stream);
        let loaded = self.or_freeze_work(loaded)?;
        let writing = std::mem::take(&mut self.work.writing);
        let answers = std::mem::take(&mut self.work.answers);
        let cached = CachedWork::new(loaded.state, loaded.written, loaded.changed);
        // What was being written and is not in the rows that were read is among what changed.
        let writing = writing.into_iter().filter(|note| note.seq <= cached.written).collect();
        self.work = CachedWork { writing, answers, ..cached };
        if self.work.written < self.work.state.seq {
            self.dirty.insert(RunId::WORK);
        }
        self.hint_waiting();
        Ok(())
    }

    /// What tasks of runs wait for may have ended while the graph was not here, and nothing of it tells.
    fn hint_waiting(&mut self) {
        for cached in self.runs.values() {
            let (id, run) = (cached.run.id, &cached.run);
            let waiting = run.waiting_for_children().filter(|task| run.sub_run(*task).is_none());
            self.links.due.extend(waiting.map(|task| (id, task)));
        }
    }

    fn or_freeze_work<T>(&mut self, result: Result<T>) -> Result<T> {
        if let Err(error) = &result
            && error.kind == Kind::Corrupt
        {
            let message = error.message.clone();
            self.freeze(RunId::WORK, &message)?;
        }
        result
    }

    /// Forgets the work graph, so that it is loaded anew.
    pub(super) fn forget_work(&mut self) {
        self.work.loaded = false;
        self.work.events.clear();
        self.dirty.remove(&RunId::WORK);
    }

    /// The work graph at the ledger's tail: for whoever may be refused, which no guard would notice. Where something is
    /// staged already, the guard of that tells.
    pub fn newest_work(&mut self) -> Result<&Work> {
        self.work()?;
        let stream = self.home.stream(RunId::WORK);
        if !self.work.is_staged() && self.ledger.head(&stream)?.seq != self.work.durable {
            self.fold_work_tail(&stream)?;
        }
        self.work()
    }

    /// Folds in what others wrote. Nothing may be staged.
    fn fold_work_tail(&mut self, stream: &Stream) -> Result<()> {
        loop {
            let page = self.ledger.read(stream, self.work.state.seq, PAGE)?;
            if page.is_empty() {
                return Ok(());
            }
            // Before the next read, which may fail: what was folded is to be written, and looked at.
            self.dirty.insert(RunId::WORK);
            let before = self.work.changed.notes.len();
            for stored in page {
                let folded = fold_work(&mut self.work.state, &stored, &mut self.work.changed);
                self.or_freeze_work(folded)?;
            }
            // Whoever closed an item may be gone before the task that waits for it was told.
            waiters(&self.work, before).for_each(|(run, link)| self.links.ended(run, link));
            // Whoever let a task go on without its gate wrote to its run, too: the copy of it here is old.
            self.links.over.extend(std::mem::take(&mut self.work.changed.left));
            self.work.durable = self.work.state.seq;
            self.work.joins.extend(self.work.state.awaited_runs());
        }
    }

    /// Decides an event of the work graph, folds it, and keeps it for the append.
    pub fn record_work(&mut self, event: WorkEvent) -> Result<()> {
        let work = &mut self.work;
        if !work.loaded || self.frozen.contains_key(&RunId::WORK) {
            return Err(Error::conflict("work_not_loaded", "the work graph is not at hand: try again in a moment"));
        }
        check(&work.state, self.now, &event)?;
        if work.events.is_empty() {
            work.first_id = EventId::mint(self.now, self.entropy.bits(), work.state.last);
        }
        let stamp = Stamp { id: work.first_id.plus(work.events.len() as u64), at: self.now };
        let before = work.changed.notes.len();
        let folded = fold(&mut work.state, stamp, &event, &mut work.changed);
        // A run that is waited for from now on may have ended long ago.
        let run = target_of(&event).and_then(Target::of_run);
        if let Some(run) = run {
            // What of it is waited for now was not looked for before.
            work.looked_at.remove(&run);
        }
        work.joins.extend(run);
        work.events.push(event);
        work.changed.left.clear();
        waiters(work, before).for_each(|(run, link)| self.links.ended(run, link));
        folded
    }

    /// What was staged after a mark stays: the command was not refused.
    pub fn leave_work(&mut self) {
        self.work.state.stay();
    }

    /// Takes back what was staged after a mark: operations of one commit are all done, or none.
    pub fn take_work_back(&mut self, mark: &Mark) {
        // Where nobody remembers the way back, one event was checked and refused: there is nothing to take back.
        if self.work.state.undo() {
            // What is said to have changed and did not is written as it stands: no harm.
            self.work.events.truncate(mark.events);
            self.work.changed.notes.truncate(mark.notes);
        }
    }

    /// When something of the work graph happens by itself, or is to be looked at.
    pub fn work_due(&self) -> Option<Time> {
        let join = !self.work.joins.is_empty() && self.work.loaded && !self.frozen.contains_key(&RunId::WORK);
        join.then_some(self.now.max(self.work.put_off)).into_iter().chain(self.overdue_at()).min()
    }

    /// When time brings something to it: a gate that opens, a claim that runs out.
    pub fn overdue_at(&self) -> Option<Time> {
        let work = &self.work;
        let due = work.state.due().filter(|_| work.loaded && !self.frozen.contains_key(&RunId::WORK));
        due.map(|due| due.max(work.put_off))
    }

    /// What operations with this key were answered, or are to be once this very batch lands; if it is still known.
    pub fn answered(&self, key: &str) -> Option<&Vec<Done>> {
        self.batch.answers.get(key).or_else(|| self.work.answers.get(key))
    }

    /// What was staged of the work graph is durable.
    pub fn work_durable(&mut self) {
        for (key, done) in std::mem::take(&mut self.batch.answers) {
            self.work.answers.keep(&key, done);
        }
        if self.work.is_staged() {
            self.work.durable = self.work.state.seq;
            self.work.events.clear();
            self.dirty.insert(RunId::WORK);
        }
    }

    /// What happened to an item, in order.
    pub fn work_history(&mut self, item: &str) -> Result<Vec<Note>> {
        let stream = self.home.stream(RunId::WORK);
        let mut notes = self.projections.work_notes(&stream, item)?;
        // The notes of an item are written in order, so what is after the last of them is not written yet.
        let last = notes.last().map_or(0, |note| note.seq);
        notes.extend(self.work.notes_of(item).filter(|note| note.seq > last).cloned());
        Ok(notes)
    }
}
