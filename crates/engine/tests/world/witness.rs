//! The witness: reads the store past all faults, folds what is new, and checks everything that must be true.
//!
//! It is written from the promises. What was answered must be in the ledger; what is in the ledger must have
//! counted; nothing was given out that may not be; and rows plus tail are the run, whatever happened.

use crate::driver::{No, home};
use edgewise_core::Result;
use edgewise_core::event::{Event, TaskIx};
use edgewise_core::fold::{Changes, Verdict, fold};
use edgewise_core::history::{Entry, Stream};
use edgewise_core::id::{RunId, TokenHash};
use edgewise_core::invariant::{self, Rows, Step};
use edgewise_core::rows::{OutboxRow, TimerRow};
use edgewise_core::run::Run;
use edgewise_core::state::TaskState;
use edgewise_core::time::Time;
use edgewise_engine::command::{Answer, Beat, Command, LeaseRef};
use edgewise_engine::reader::Reader;
use edgewise_store::memory::{MemoryLedger, MemoryProjections};
use edgewise_store::{Ledger, Position, Projections};
use std::collections::{BTreeMap, BTreeSet};

/// One run as the ledger tells it.
pub struct Book {
    pub run: Run,
    pub entries: Vec<Entry>,
    /// Who has or had which lease.
    workers: BTreeMap<TokenHash, Box<str>>,
    /// How each lease ended, by its token: well or not.
    ended: BTreeMap<TokenHash, bool>,
    /// Attempts begun and not given back, by task and generation.
    begun: BTreeMap<(TaskIx, u16), u32>,
}

/// What a message asked, as far as its answer can be checked.
enum Asked {
    Finishes(Vec<(RunId, TokenHash, bool)>),
    Beats(Vec<LeaseRef>),
    Cancel(RunId),
    Other,
}

pub struct Witness {
    ledger: MemoryLedger,
    rows: MemoryProjections,
    at: Position,
    pub books: BTreeMap<RunId, Book>,
    asked: BTreeMap<No, Asked>,
    reader: Reader,
    /// The stores fail at times.
    pub in_doubt: bool,
    /// The seq at which the rows of a run were last compared.
    compared: BTreeMap<RunId, u64>,
    /// Looks at nothing: for what is too large.
    pub rests: bool,
}

impl Witness {
    pub fn new(ledger: MemoryLedger, rows: MemoryProjections) -> Self {
        let reader = Reader::over(Box::new(ledger.clone()), Box::new(rows.clone()), home());
        Self {
            ledger,
            rows,
            at: Position(0),
            books: BTreeMap::new(),
            asked: BTreeMap::new(),
            reader,
            compared: BTreeMap::new(),
            in_doubt: false,
            rests: false,
        }
    }

    pub fn run(&self, run: RunId) -> &Run {
        &self.books[&run].run
    }

    /// Whether a lease was given to a worker within an engine's own process.
    pub fn is_local(&self, lease: &LeaseRef) -> bool {
        self.worker(lease).is_some_and(|w| w.starts_with("local/"))
    }

    /// Whose a lease is or was.
    pub fn worker(&self, lease: &LeaseRef) -> Option<&str> {
        self.books.get(&lease.run)?.workers.get(&lease.token.hash()).map(|w| &**w)
    }

    /// Reads what was appended since the last look.
    pub fn look(&mut self, now: Time) {
        if self.rests {
            return;
        }
        let mut changed = BTreeSet::new();
        for stored in self.ledger.read_all(self.at, usize::MAX).unwrap() {
            self.at = stored.position;
            stored.record.verify(&stored.stream.label()).unwrap();
            for entry in Entry::of(&stored.record).unwrap() {
                assert_eq!(entry.stamp.at, now, "an event of another instant");
                self.book(stored.stream.run, &entry).fold(entry);
            }
            changed.insert(stored.stream.run);
        }
        for run in changed {
            self.books[&run].check();
            self.compare(run);
        }
    }

    fn book(&mut self, run: RunId, entry: &Entry) -> &mut Book {
        let reader = &mut self.reader;
        self.books.entry(run).or_insert_with(|| {
            let Event::RunTriggered(triggered) = &entry.event else { panic!("{run} does not begin with its trigger") };
            // Sharing the reader's plan keeps it from decoding it at every look.
            Book::new(Run::new(run, triggered.plan, reader.run(run).unwrap().plan))
        })
    }

    /// Rows plus tail are the run that all its events make, and the rows are those of their seq.
    fn compare(&mut self, run: RunId) {
        let book = &self.books[&run];
        assert_eq!(self.reader.run(run).unwrap(), book.run, "rows plus tail of {run} are not the run");
        let stream = home().stream(run);
        let Some(stored) = self.rows.load(&stream).unwrap() else { return };
        if self.compared.insert(run, stored.run.applied_seq) == Some(stored.run.applied_seq) {
            return;
        }
        let mut timers: Vec<TimerRow> = of(&stream, self.rows.timers().unwrap());
        timers.sort();
        let mut outbox: Vec<OutboxRow> = of(&stream, self.rows.outbox().unwrap());
        outbox.sort();
        let rows = Rows { run: &stored.run, tasks: &stored.tasks, timers: &timers, outbox: &outbox };
        invariant::refold_equals_projection(&book.stream(), &rows).unwrap_or_else(|v| panic!("{v}"));
        let at_rows = book.stream().refold(stored.run.applied_seq);
        for row in of(&stream, self.rows.leases().unwrap()) {
            let task = at_rows.task(row.task).expect("a lease of a task that exists");
            let live = task.state == TaskState::InProgress && at_rows.is_leasable(row.task);
            assert!(live && (task.generation, task.attempt) == (row.generation, row.attempt), "a lease row too many");
        }
    }

    pub fn look_at_rows(&mut self) {
        for run in self.books.keys().copied().collect::<Vec<_>>() {
            self.compare(run);
        }
        assert!(self.rows.watermark().unwrap() <= self.ledger.tail().unwrap(), "a watermark beyond the ledger");
    }

    pub fn asked(&mut self, no: No, command: &Command) {
        let asked = match command {
            Command::Complete(each) => {
                Asked::Finishes(each.iter().map(|f| (f.lease.run, f.lease.token.hash(), f.outcome.is_ok())).collect())
            }
            Command::Heartbeat(leases) => Asked::Beats(leases.clone()),
            Command::Cancel(act) => Asked::Cancel(act.run),
            _ => Asked::Other,
        };
        self.asked.insert(no, asked);
    }

    /// What was answered well is in the ledger: accepted means durable.
    pub fn heard(&self, no: No, answer: &Result<Answer>) {
        let (Ok(answer), false) = (answer, self.rests) else { return };
        match (answer, &self.asked[&no]) {
            (Answer::Started { run, .. }, _) => {
                assert!(self.books.contains_key(run), "{run} was accepted and is not kept");
            }
            (Answer::Granted { grants, .. }, _) => {
                assert!(!grants.is_empty(), "a grant of nothing");
                for grant in grants {
                    let token = grant.lease.token.hash();
                    let book = &self.books[&grant.lease.run];
                    assert!(book.workers.contains_key(&token), "a lease was given out and is not kept");
                    assert!(!book.ended.contains_key(&token), "a lease was given out that is over");
                    let task = book.run.task(grant.lease.task).unwrap();
                    assert_eq!((task.token, task.state), (token, TaskState::InProgress), "a second live lease");
                }
            }
            (Answer::Completed(each), Asked::Finishes(reports)) => {
                for ((run, token, well), _) in reports.iter().zip(each).filter(|(_, a)| a.is_ok()) {
                    assert_eq!(self.books[run].ended.get(token), Some(well), "a report was accepted and is not kept");
                }
            }
            (Answer::Beats(beats), Asked::Beats(leases)) => {
                // An engine that cannot read how a commit ended does not know yet that a lease is over.
                let sure = |b: &Beat| matches!(b, Beat::Continue(_)) && !self.in_doubt;
                for (lease, _) in leases.iter().zip(beats).filter(|(_, b)| sure(b)) {
                    let ended = self.books[&lease.run].ended.contains_key(&lease.token.hash());
                    assert!(!ended, "a worker was told to go on with what is over");
                }
            }
            (Answer::Done | Answer::Already, Asked::Cancel(run)) => {
                assert!(self.books[run].run.cancel.is_some(), "a cancel was accepted and is not kept");
            }
            (Answer::Ended(state), _) => assert!(state.is_done()),
            _ => {}
        }
    }

    /// What can only be said of whole streams.
    pub fn close(&self) {
        for book in self.books.values() {
            invariant::check_stream(&book.stream()).unwrap_or_else(|v| panic!("{v}"));
        }
    }
}

fn of<T>(stream: &edgewise_store::Stream, rows: Vec<(edgewise_store::Stream, T)>) -> Vec<T> {
    rows.into_iter().filter(|(s, _)| s == stream).map(|(_, row)| row).collect()
}

impl Book {
    fn new(run: Run) -> Self {
        let (workers, ended, begun) = Default::default();
        Self { run, entries: Vec::new(), workers, ended, begun }
    }

    pub fn stream(&self) -> Stream<'_> {
        Stream { run: self.run.id, plan_hash: self.run.plan_hash, plan: &self.run.plan, entries: &self.entries }
    }

    /// One event: everything that is written has counted, and was allowed.
    fn fold(&mut self, entry: Entry) {
        let before = self.run.clone();
        let mut changes = Changes::default();
        let verdict = fold(&mut self.run, entry.stamp, &entry.event, &mut changes);
        assert_eq!(verdict, Verdict::Applied, "{:?} was written and does not count", entry.event);
        let step = Step {
            before: &before,
            stamp: entry.stamp,
            event: &entry.event,
            changes: &changes,
            verdict,
            after: &self.run,
        };
        invariant::check_step(&step).unwrap_or_else(|v| panic!("{v} at {:?}", entry.event));
        self.allowed(&before, &entry);
        self.entries.push(entry);
    }

    fn allowed(&mut self, before: &Run, entry: &Entry) {
        match &entry.event {
            Event::DispatchEnqueued(e) => {
                assert!(!before.paused && before.cancel.is_none(), "a lease of a paused or cancelled run");
                let live = self.workers.keys().filter(|t| before.tasks[e.task.0 as usize].token == **t);
                assert!(live.clone().all(|t| self.ended.contains_key(t)), "two live leases of one task");
                self.workers.insert(e.token, e.worker.clone());
                let begun = self.begun.entry((e.task, e.generation)).or_default();
                *begun += 1;
                assert!(*begun <= u32::from(before.spec_of(e.task).retry.max_attempts), "too many attempts");
            }
            Event::DispatchReturned(e) => {
                self.ended.insert(e.token, false);
                *self.begun.entry((e.task, e.generation)).or_default() -= 1;
            }
            Event::TaskFinished(e) => {
                let first = self.ended.insert(e.token, e.error.is_none()).is_none();
                assert!(first, "an attempt ended twice");
            }
            Event::TimerFired(e) => assert!(e.due <= entry.stamp.at, "a timer fired early"),
            _ => {}
        }
    }

    fn check(&self) {
        invariant::check_state(&self.run).unwrap_or_else(|v| panic!("{v}"));
    }
}
