//! The witness: reads the store past all faults, folds what is new once, and checks everything that must be true.
//!
//! It is written from the promises. What was answered must be in the ledger; what is in the ledger must have
//! counted; nothing was given out that may not be; and rows plus tail are the run, whatever happened. Each
//! record is folded when it is first seen; comparisons of the whole are made now and then, and at the end.

mod answers;
mod book;
mod control;
mod in_time;
mod links;
mod queues;
mod removed;
mod shares;
#[cfg(test)]
mod tests;
mod work;
mod works;

pub use answers::Answerer;
pub use book::Book;
pub use work::mark;

use crate::cover::Cover;
use crate::driver::{No, home};
use crate::violation::{Held, Violation, ensure};
use answers::Asked;
use edgewise_core::event::{Event, LinkRef, TaskFinished, TimerKind};
use edgewise_core::history::Entry;
use edgewise_core::id::{RunId, TokenHash};
use edgewise_core::invariant::{self, Rows};
use edgewise_core::rows::{OutboxRow, TimerRow};
use edgewise_core::run::Run;
use edgewise_core::state::TaskState;
use edgewise_core::time::{Millis, Time};
use edgewise_engine::command::LeaseRef;
use edgewise_engine::reader::Reader;
use edgewise_store::{Ledger, Position, Projections, RunFilter, Stream};
use in_time::Granted;
use std::collections::{BTreeMap, BTreeSet};

/// How long every engine gives a lease that another one granted, at least.
const GRACE: Millis = Millis(10_000);

/// What a worker was promised, and by which engine.
#[derive(Debug, Clone)]
pub(crate) struct Promised {
    pub by: Box<str>,
    pub at: Time,
    /// The last deadline it was told; `None` for one within an engine's own process.
    pub until: Option<Time>,
    /// What of this the ledger has: the deadline of the grant.
    pub granted: Option<Time>,
    pub attempt_until: Option<Time>,
    /// Who heard its last heartbeat, and until when they keep it on at least.
    pub kept: Option<(Box<str>, Time)>,
    /// Whether its deadline came while its run was frozen: nobody could end it then, and a clock that goes back does not
    /// bring it back.
    pub passed: bool,
}

/// Reads the store past all faults and checks what must be true.
pub struct Witness {
    ledger: Box<dyn Ledger>,
    rows: Box<dyn Projections>,
    reader: Reader,
    at: Position,
    /// Every run, as the ledger tells it.
    pub books: BTreeMap<RunId, Book>,
    /// What the workspace is set to, as the ledger tells it.
    pub control: control::ControlBook,
    /// The work graph, as the ledger tells it.
    pub work: work::WorkBook,
    /// What the outside world is told.
    pub queues: queues::QueueBook,
    asked: BTreeMap<No, Asked>,
    /// Which run each key has started, and each attempt.
    keys: BTreeMap<String, RunId>,
    children: BTreeMap<(RunId, LinkRef), RunId>,
    promised: BTreeMap<TokenHash, Promised>,
    /// Every lease as it was granted, and the claim that was answered with it.
    granted: BTreeMap<TokenHash, Granted>,
    told: BTreeMap<TokenHash, No>,
    /// The stores fail at times, or several engines are at work.
    pub in_doubt: bool,
    /// The clocks of all engines agree.
    pub clocks_agree: bool,
    /// Since when there are no faults any more, if the clocks agree.
    calm_since: Option<Time>,
    /// There is no trouble at all, so nobody dies.
    pub is_fair: bool,
    /// Nothing is damaged: whoever is marked was frozen by a person.
    pub watches_marks: bool,
    /// Somebody takes runs away.
    pub watches_removals: bool,
    /// Looks at nothing: for what is too large.
    pub rests: bool,
    /// The seq that the rows of each run are at.
    written: BTreeMap<RunId, u64>,
    /// Rows plus tail are compared with the run at one look in so many.
    pub compares_one_in: u64,
    looks: u64,
    /// How many slots queues have by the files of the engines.
    pub slots: BTreeMap<String, u32>,
    /// Queues are set while runs are at work: only what is granted anew keeps to that.
    pub slots_vary: bool,
    /// How many events of each kind there were.
    pub cover: Cover,
    /// A number that comes out the same if and only if the same records were written.
    pub hash: u64,
}

impl Witness {
    /// A witness over handles that never fail.
    pub fn new(ledger: Box<dyn Ledger>, rows: Box<dyn Projections>, reader: Reader) -> Self {
        Self {
            ledger,
            rows,
            reader,
            at: Position(0),
            books: BTreeMap::new(),
            control: control::ControlBook::default(),
            work: work::WorkBook::default(),
            queues: queues::QueueBook::default(),
            asked: BTreeMap::new(),
            keys: BTreeMap::new(),
            children: BTreeMap::new(),
            written: BTreeMap::new(),
            promised: BTreeMap::new(),
            granted: BTreeMap::new(),
            told: BTreeMap::new(),
            in_doubt: false,
            clocks_agree: false,
            calm_since: None,
            is_fair: false,
            watches_marks: false,
            watches_removals: false,
            rests: false,
            compares_one_in: 1,
            looks: 0,
            slots: BTreeMap::new(),
            slots_vary: false,
            cover: Cover::default(),
            hash: 0,
        }
    }

    /// A run as the ledger has it.
    pub fn run(&self, run: RunId) -> &Run {
        &self.books[&run].run
    }

    /// Whether every run is over.
    pub fn all_over(&self) -> bool {
        let ended = self.control.state.schedules.is_empty() && self.books.values().all(|b| b.run.state.is_done());
        ended && self.work.is_settled(&self.books)
    }

    /// Whether a lease was given to a worker within an engine's own process.
    pub fn is_local(&self, lease: &LeaseRef) -> bool {
        self.worker(lease).is_some_and(|w| w.starts_with("local/"))
    }

    /// Whose a lease is or was.
    pub fn worker(&self, lease: &LeaseRef) -> Option<&str> {
        self.books.get(&lease.run)?.workers.get(&lease.token.hash()).map(|w| &**w)
    }

    /// The runs that are marked frozen, as the ledger has it.
    pub(crate) fn marks(&mut self) -> Result<BTreeSet<RunId>, Violation> {
        let marks = self.ledger.frozen().map_err(|e| unreadable(&e))?;
        Ok(marks.into_iter().map(|(stream, _)| stream.run).collect())
    }

    /// The runs that people want nothing but reads to work on, as the events have it.
    pub(crate) fn frozen(&self) -> impl Iterator<Item = RunId> + '_ {
        self.books.values().filter(|book| book.frozen).map(|book| book.run.id)
    }

    /// A run is marked exactly if its last freeze says so: mark and event are one append.
    fn marks_agree_with_events(&mut self) -> Held {
        if !self.watches_marks {
            return Ok(());
        }
        let marked = self.marks()?;
        let said: BTreeSet<RunId> = self.frozen().collect();
        let differ = || format!("{marked:?} are marked, events say {said:?}");
        ensure(marked == said, "marks_agree_with_events", differ)
    }

    /// Its handles on the rows.
    pub(crate) fn into_rows(self) -> (Box<dyn Projections>, Reader) {
        (self.rows, self.reader)
    }

    /// The ledger is elsewhere, with everything that was seen of it.
    pub(crate) fn ledger_is_now(&mut self, ledger: Box<dyn Ledger>) {
        self.ledger = ledger;
    }

    /// The rows were lost with every engine, and are made anew elsewhere. What heartbeats were answered with is lost with
    /// them: who comes up gives everybody as long as they were given first, by its own clock.
    pub fn rows_are_now(&mut self, rows: Box<dyn Projections>, reader: Reader) {
        (self.rows, self.reader) = (rows, reader);
        self.written.clear();
        self.books.values_mut().for_each(|book| book.compared = None);
        for promised in self.promised.values_mut().filter(|p| p.until.is_some() && !self.clocks_agree) {
            promised.until = promised.granted;
        }
    }

    /// An engine comes up. Where there are no rows it knows of no heartbeat, and counts from now on.
    pub(crate) fn comes_up(&mut self) {
        if self.rows.watermark().is_ok_and(|mark| mark == Position::default()) {
            self.granted.values_mut().for_each(|granted| granted.beaten = true);
        }
    }

    /// Reads what was appended since the last look, which an engine did at an instant of its own clock.
    pub fn look(&mut self, now: Time) -> Held {
        if self.rests {
            return Ok(());
        }
        let new = self.ledger.read_all(self.at, usize::MAX).map_err(|e| unreadable(&e))?;
        self.books.values_mut().for_each(|book| book.just_ended.clear());
        let (mut changed, free) = (BTreeSet::new(), self.free());
        for stored in new {
            self.at = stored.position;
            stored.record.verify(&stored.stream.label()).map_err(|e| unreadable(&e))?;
            self.hash = self.hash.rotate_left(5)
                ^ stored
                    .record
                    .bytes
                    .iter()
                    .fold(stored.position.0, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
            let run = stored.stream.run;
            ensure(stored.stream == home().stream(run), "tenant_is_constant", || stored.stream.label())?;
            if run == RunId::CONTROL {
                self.control.record(now, &stored, (&self.books, &mut self.cover))?;
                self.compare_control()?;
                continue;
            }
            if run == RunId::WORK {
                self.work.record(now, &stored, &mut self.cover)?;
                self.queues.tell(stored.position, std::mem::take(&mut self.work.told));
                continue;
            }
            for entry in Entry::of(&stored.record).map_err(|e| unreadable(&e))? {
                self.record(run, now, entry)?;
            }
            self.books.get_mut(&run).into_iter().for_each(|b| b.places.push((stored.position, stored.record.last())));
            let told = self.books.get_mut(&run).map(|book| std::mem::take(&mut book.told));
            self.queues.tell(stored.position, told.unwrap_or_default());
            changed.insert(run);
        }
        self.see_removed()?;
        self.work.check()?;
        self.marks_agree_with_events()?;
        self.pass_deadlines(now);
        if !changed.is_empty() {
            self.shares(&changed, &free)?;
        }
        self.links_agree(&changed)?;
        for run in changed {
            self.books[&run].check()?;
            self.looks += 1;
            if self.looks.is_multiple_of(self.compares_one_in) {
                self.compare(run)?;
            }
        }
        Ok(())
    }

    fn record(&mut self, run: RunId, now: Time, entry: Entry) -> Held {
        let late = || format!("an event of {} was written at {now}", entry.stamp.at);
        ensure(entry.stamp.at == now, "events_have_their_time", late)?;
        self.cover.count("event", entry.event.name());
        match &entry.event {
            Event::TaskFinished(e) => self.cover.count("attempt", e.error.as_ref().map_or("success", |f| &f.kind)),
            Event::TimerFired(e) => self.cover.count("timer", crate::cover::timer(e.timer.kind)),
            Event::GateEscalated(_) => self.cover.count("timer", crate::cover::timer(TimerKind::Escalation)),
            _ => {}
        }
        if let Event::RunTriggered(triggered) = &entry.event {
            if let Some(key) = &triggered.key {
                let other = self.keys.insert(key.clone(), run);
                ensure(other.is_none(), "one_run_per_key", || format!("{key} started {other:?} and {run}"))?;
            }
            let plan = self.reader.plan(triggered.plan).map_err(|e| unreadable(&e))?;
            self.books.insert(run, Book::new(Run::new(run, triggered.plan, plan)));
        }
        if !self.books.contains_key(&run) {
            return Err(Violation::new("seq_is_dense", format!("{run} does not begin with its trigger")));
        }
        if let Event::DispatchEnqueued(e) = &entry.event {
            let (by, at, span) = (entry.source.as_ref().into(), entry.stamp.at, e.lease);
            self.granted.insert(e.token, Granted { by, at, span, beaten: false });
            self.cancel_has_come_down(run, now)?;
        }
        if let Event::TaskFinished(e) = &entry.event
            && e.error.as_ref().is_some_and(|f| f.kind == "worker_lost")
        {
            self.may_be_lost(now, &entry.source, run, e)?;
        }
        let Some(book) = self.books.get_mut(&run) else { return Ok(()) };
        book.fold(entry)
    }

    /// An engine's clock shows a time: leases of frozen runs that hold until then are over, though nobody may say so.
    fn pass_deadlines(&mut self, now: Time) {
        for token in self.books.values().filter(|book| book.frozen).flat_map(|book| &book.rested) {
            if let Some(promised) = self.promised.get_mut(token) {
                promised.passed |= promised.until.is_some_and(|until| until <= now);
            }
        }
    }

    /// A lease is ended for want of its worker: not before the time that was promised, and only if there was a worker.
    fn may_be_lost(&self, now: Time, by: &str, run: RunId, e: &TaskFinished) -> Held {
        // Whoever granted it and lives knows that nobody was told: the attempt comes back unspent.
        let own = self.granted.get(&e.token).is_some_and(|granted| *granted.by == *by);
        let lost = || format!("an attempt of task {} was spent and nobody had it", e.task.0);
        ensure(!own || self.told.contains_key(&e.token), "undelivered_grants_come_back", lost)?;
        let Some(promised) = self.promised.get(&e.token) else { return Ok(()) };
        let early = |until: Option<Time>| format!("a lease good until {until:?} was ended at {} by {by}", now.0);
        if let Some((engine, until)) = &promised.kept
            && **engine == *by
        {
            ensure(*until <= now, "heartbeats_keep_leases", || early(Some(*until)))?;
        }
        if promised.until.is_some() {
            // Whoever ends it: what a worker was told is stored where every engine looks.
            let over = promised.passed || promised.until <= Some(now);
            return ensure(over, "leases_hold_as_told", || early(promised.until));
        }
        if self.books[&run].rested.contains(&e.token) {
            // Who was at work when its run was frozen was told to stop or not heard, and has no deadline to say it again.
            return Ok(());
        }
        // A worker within a process ends with it. Who cannot know whether it has gives it some time.
        ensure(*promised.by != *by, "leases_hold_until_their_deadline", || early(None))?;
        let until = promised.at.plus(GRACE);
        ensure(!self.is_fair || until <= now, "leases_hold_until_their_deadline", || early(Some(until)))
    }

    /// Rows plus tail are the run that all its events make, and the rows are those of their seq.
    fn compare(&mut self, run: RunId) -> Held {
        let book = &self.books[&run];
        if book.removed {
            return Ok(());
        }
        let loaded = self.reader.run(run).map_err(|e| unreadable(&e))?;
        // What loops are past may have been given back in one of them.
        let same = match book.run.over.is_empty() {
            true => without_past(loaded) == book.run,
            false => without_past(loaded) == without_past(book.run.clone()),
        };
        ensure(same, "load_equals_fold", || format!("rows plus tail of {run} are not the run"))?;
        let stream = home().stream(run);
        let Some(stored) = self.rows.load(&stream).map_err(|e| unreadable(&e))? else { return Ok(()) };
        let mut timers: Vec<TimerRow> = of(&stream, self.rows.timers().map_err(|e| unreadable(&e))?);
        timers.sort();
        let mut outbox: Vec<OutboxRow> = of(&stream, self.rows.outbox().map_err(|e| unreadable(&e))?);
        outbox.sort();
        let rows =
            Rows { run: &stored.run, tasks: &stored.tasks, given: &stored.given, timers: &timers, outbox: &outbox };
        let at = stored.run.applied_seq;
        let leases = of(&stream, self.rows.leases().map_err(|e| unreadable(&e))?);
        let Some(book) = self.books.get_mut(&run) else { return Ok(()) };
        book.compared = Some((book.entries.len(), at));
        let at_rows = book.run_at(at);
        invariant::rows_are_of(at_rows, &rows)?;
        for row in leases {
            let live = at_rows.task(row.task).is_some_and(|task| {
                let leased = task.state == TaskState::InProgress && at_rows.is_leasable(row.task);
                leased && (task.generation, task.attempt) == (row.generation, row.attempt)
            });
            ensure(live, "refold_equals_projection", || format!("a lease row too many: {row:?}"))?;
        }
        Ok(())
    }

    /// Compares the rows of every run that is not as it was when it was last compared, or of some of them.
    pub fn look_at_rows(&mut self) -> Held {
        let all = RunFilter { limit: usize::MAX, ..RunFilter::default() };
        let rows = self.rows.runs(&all).map_err(|e| unreadable(&e))?;
        self.written = rows.into_iter().map(|(_, row)| (row.id, row.applied_seq)).collect();
        self.compare_rows()
    }

    /// The same, where only the rows of some runs were written.
    pub(crate) fn look_at_rows_of(&mut self, some: &BTreeSet<RunId>) -> Held {
        for run in some {
            match self.rows.run(&home().stream(*run)).map_err(|e| unreadable(&e))? {
                Some(row) => drop(self.written.insert(*run, row.applied_seq)),
                None => drop(self.written.remove(run)),
            }
        }
        self.compare_rows()
    }

    fn compare_rows(&mut self) -> Held {
        let at = |run: &RunId| self.written.get(run).copied().unwrap_or(0);
        let changed = |(run, book): &(&RunId, &Book)| book.compared != Some((book.entries.len(), at(run)));
        for run in self.books.iter().filter(changed).map(|(run, _)| *run).collect::<Vec<_>>() {
            self.looks += 1;
            if self.looks.is_multiple_of(self.compares_one_in) {
                self.compare(run)?;
            }
        }
        let (rows, ledger) = (self.rows.watermark(), self.ledger.tail());
        ensure(rows.ok() <= ledger.ok(), "watermark_is_in_the_ledger", || "a watermark beyond the ledger".into())?;
        self.rows_reach_their_watermark()
    }

    /// Whoever recovers reads the ledger from the watermark on: what is before it must be in the rows.
    fn rows_reach_their_watermark(&mut self) -> Held {
        let watermark = self.rows.watermark().map_err(|e| unreadable(&e))?;
        self.control_reaches(watermark)?;
        self.work_reaches(watermark)?;
        // The rows of what is damaged stay as they are; who is frozen by a person is in the rows like anybody.
        let marks = self.marks()?;
        let damaged = |run: &RunId, book: &Book| marks.contains(run) && !book.frozen;
        for (run, book) in self.books.iter().filter(|(run, book)| !book.removed && !damaged(run, book)) {
            let before = book.places.iter().rev().find(|(at, _)| *at <= watermark).map_or(0, |(_, seq)| *seq);
            let has = self.written.get(run).copied().unwrap_or(0);
            let said = || format!("rows of {run} are at {has}, the watermark says {before}");
            ensure(has >= before, "rows_reach_their_watermark", said)?;
        }
        Ok(())
    }

    /// What can only be said of whole streams, read once more from the beginning.
    pub fn close(&mut self) -> Held {
        self.compare_control()?;
        self.links_are_answered()?;
        self.compare_work()?;
        self.work.close(&self.books)?;
        self.queues_are_whole()?;
        for run in self.books.keys().copied().collect::<Vec<_>>() {
            self.compare(run)?;
            let book = &self.books[&run];
            invariant::check_stream(&book.stream())?;
            ensure(book.stream().refold(u64::MAX) == book.run, "refold_is_the_same", || format!("{run}"))?;
            if book.removed {
                continue;
            }
            let stored = self.ledger.read(&home().stream(run), 0, usize::MAX).map_err(|e| unreadable(&e))?;
            let events: u64 = stored.iter().map(|s| u64::from(s.record.count)).sum();
            let said = || format!("{run} had {} events and has {events}", book.entries.len());
            ensure(events == book.entries.len() as u64, "acked_is_kept", said)?;
        }
        Ok(())
    }
}

fn unreadable(error: &edgewise_core::Error) -> Violation {
    Violation::new("the_ledger_is_readable", error.to_string())
}

fn of<T>(stream: &Stream, rows: Vec<(Stream, T)>) -> Vec<T> {
    rows.into_iter().filter(|(s, _)| s == stream).map(|(_, row)| row).collect()
}

/// A run without the iterations that are over.
fn without_past(mut run: Run) -> Run {
    let over = std::mem::take(&mut run.over);
    run.release(over);
    run
}
