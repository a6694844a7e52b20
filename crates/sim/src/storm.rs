//! The storm: orchestrators, workers and people over one store, in an order that a seed decides.
//!
//! One thread and virtual time. Each step of a storm throws dice of its own, so a step can be left out and
//! the others stay what they were: that is how a failing seed is made short. The witness looks after
//! every commit and judges every answer at the moment it leaves its engine.

mod acts;
mod calm;
mod clockwork;
mod items;
mod network;
mod operator;
mod people;
mod queues;
mod removals;
mod tellers;
mod troubles;
mod worker;
mod workspace;

use crate::cover::Cover;
use crate::dice::Dice;
use crate::driver::{No, home};
use crate::flows::{self, flow};
use crate::orchestrator::Orchestrator;
use crate::plans::{
    SLOW, SLOW_SLOTS, as_called, as_chosen, as_shared, has_children, has_events, has_programs, has_shares, random_plan,
    with_children,
};
use crate::program::Guest;
use crate::store::{Lag, Store};
use crate::violation::{Held, Violation, ensure};
use crate::weather::{Trouble, Weather};
use crate::witness::{Answerer, Witness};
use edgewise_core::fold::is_refusal;
use edgewise_core::id::{RunId, TokenHash};
use edgewise_core::plan::Plan;
use edgewise_core::time::{Millis, Time};
use edgewise_core::{Error, Result};
use edgewise_engine::command::{Answer, Beat, LeaseRef};
use edgewise_engine::committer::Step;
use edgewise_engine::reader::Reader;
use network::Message;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use worker::{Said, Worker};

/// When every storm begins.
const BEGIN: Time = Time(1_000_000_000);
/// Rows are compared with the ledger at one look in so many.
const COMPARED_ONE_IN: u64 = 8;
/// All rows are looked at with one flush in so many, and else those that were written.
const ALL_ROWS_ONE_IN: u64 = 16;

/// Who asked, and what they will do with the answer.
#[derive(Clone)]
enum Ask {
    Claim(usize),
    Report(usize, Vec<LeaseRef>),
    Beat(usize, Vec<LeaseRef>),
    Back(usize, Vec<LeaseRef>),
    Person,
}

/// A plan, and those of the flows that it starts.
type Whole = (Arc<Plan>, Vec<Arc<Plan>>);

/// Everything there is.
pub(crate) struct Storm {
    seed: u64,
    dice: Dice,
    weather: Weather,
    is_calm: bool,
    /// How far clocks went back, all in all, in milliseconds.
    went_back: u64,
    now: Time,
    store: Store,
    lag: Lag,
    lives: u64,
    orchestrators: Vec<Orchestrator>,
    workers: Vec<Worker>,
    plans: Vec<Whole>,
    /// The programs among them.
    guests: Vec<Guest>,
    /// What attempts of programs come to, whoever says it and how often.
    answers: BTreeMap<TokenHash, Said>,
    net: Vec<Message>,
    asks: BTreeMap<No, Ask>,
    /// Those who wait for the end of a run in calm, and were not told yet.
    vigils: BTreeSet<No>,
    /// Runs that somebody wanted frozen.
    marked: BTreeSet<RunId>,
    next: No,
    flushes: u64,
    pub witness: Witness,
    pub cover: Cover,
    pub steps: u64,
    pub log: Option<Vec<String>>,
    pub hash: u64,
}

fn broken(error: &Error) -> Violation {
    Violation::new("the_ledger_is_readable", error.to_string())
}

fn witness_over(store: &Store) -> std::result::Result<Witness, Violation> {
    let open = || store.plain().map_err(|e| broken(&e));
    let ((ledger, rows), (read, loaded)) = (open()?, open()?);
    Ok(Witness::new(ledger, rows, Reader::over(read, loaded, home())))
}

/// One of the flows that authors wrote, and some that the dice did.
fn plans_of(seed: u64, dice: &mut Dice) -> Vec<Whole> {
    let fixed = flows::ALL[dice.below(flows::ALL.len() as u64) as usize];
    let mut plans = vec![flow(fixed)];
    plans.extend((0..1 + dice.below(3)).map(|_| random_plan(dice, BEGIN)));
    let plans: Vec<Arc<Plan>> = plans.into_iter().map(|plan| as_called(seed, as_shared(seed, plan))).collect();
    let plans: Vec<Arc<Plan>> = plans.into_iter().map(|plan| as_chosen(seed, plan)).collect();
    match has_children(seed) {
        true => plans.iter().zip(seed..).map(|(plan, seed)| with_children(seed, plan, BEGIN)).collect(),
        false => plans.into_iter().map(|plan| (plan, Vec::new())).collect(),
    }
}

/// Programs that are played beside them, if there are such.
fn guests_of(seed: u64) -> impl Iterator<Item = Guest> {
    let count = if has_programs(seed) { 2 } else { 0 };
    (0..count).map(move |n| Guest::of(seed.wrapping_mul(2) + n))
}

impl Storm {
    /// The world of a seed before its first step.
    pub fn new(seed: u64, store: Store, trace: bool) -> std::result::Result<Self, Violation> {
        let mut dice = Dice::new(seed);
        let weather = Weather::new(&mut dice);
        let count = *dice.pick(&[1, 1, 1, 2, 2, 2, 3, 3]);
        let mut witness = witness_over(&store)?;
        witness.compares_one_in = COMPARED_ONE_IN;
        witness.slots.extend(has_shares(seed).then(|| (SLOW.into(), SLOW_SLOTS)));
        witness.in_doubt = count > 1 || Trouble::ALL.iter().any(|t| weather.has(*t));
        let skewed = [Trouble::Skew, Trouble::JumpForward, Trouble::JumpBack];
        witness.clocks_agree = skewed.iter().all(|t| !weather.has(*t));
        witness.is_fair = Trouble::ALL.iter().all(|t| !weather.has(*t));
        let mut plans = plans_of(seed, &mut dice);
        let guests: Vec<Guest> = guests_of(seed).collect();
        plans.extend(guests.iter().map(|guest| (Arc::clone(&guest.plan), Vec::new())));
        let workers = (0..1 + dice.below(8)).map(|n| Worker::new(n, count, &mut dice)).collect();
        let mut storm = Self {
            seed,
            dice,
            weather,
            is_calm: false,
            went_back: 0,
            now: BEGIN,
            store,
            lag: Lag::default(),
            lives: 0,
            orchestrators: (0..count).map(|_| Orchestrator::new()).collect(),
            workers,
            plans,
            guests,
            answers: BTreeMap::new(),
            net: Vec::new(),
            asks: BTreeMap::new(),
            vigils: BTreeSet::new(),
            marked: BTreeSet::new(),
            next: 1,
            flushes: 0,
            witness,
            cover: Cover::default(),
            steps: 0,
            log: trace.then(Vec::new),
            hash: seed,
        };
        storm.witness.watches_marks = true;
        storm.witness.watches_removals = storm.removes();
        storm.witness.slots_vary = storm.sets_queues();
        if has_events(seed) {
            storm.witness.queues.domain = Some(storm.store.domain().map_err(|e| broken(&e))?);
        }
        storm.introduce();
        storm.set_clocks();
        (0..count).for_each(|o| storm.rise(o));
        Ok(storm)
    }

    /// What of the weather is there from the beginning.
    fn set_clocks(&mut self) {
        if self.weather.has(Trouble::StaleRows) {
            self.lag.keep();
        }
        if self.weather.has(Trouble::Skew) {
            for orchestrator in &mut self.orchestrators {
                orchestrator.skew = self.dice.below(40_000) as i64 - 20_000;
                self.cover.add("trouble", Trouble::Skew.word(), u64::from(orchestrator.skew != 0));
            }
        }
    }

    fn introduce(&mut self) {
        let (o, w) = (self.orchestrators.len(), self.workers.len());
        self.note(|| format!("{o} orchestrators, {w} workers"));
        let troubles: Vec<&str> = Trouble::ALL.iter().filter(|t| self.weather.has(**t)).map(|t| t.word()).collect();
        self.note(|| format!("weather: {}", if troubles.is_empty() { "fair".into() } else { troubles.join(", ") }));
    }

    /// So many steps, of which only those that are kept happen.
    pub fn rage(&mut self, kept: impl Fn(u64) -> bool) -> Held {
        let steps = 60 + self.dice.below(200);
        for step in (0..steps).filter(|step| kept(*step)) {
            self.dice = Dice::of_step(self.seed, step);
            self.steps += 1;
            self.act(step)?;
        }
        Ok(())
    }

    /// Writes a line into the schedule, if anybody reads it.
    fn note(&mut self, line: impl FnOnce() -> String) {
        if let Some(log) = &mut self.log {
            log.push(format!("{:>9} ms  {}", self.now.0 - BEGIN.0, line()));
        }
    }

    /// Another engine comes up where one was; it may fail, and is tried again later.
    fn rise(&mut self, o: usize) {
        self.lives += 1;
        let (now, life) = (self.now, (self.seed, self.lives));
        self.witness.comes_up();
        let risen = self.orchestrators[o].rise(&self.store, &self.lag, now, life);
        let source = self.orchestrators[o].source.clone();
        self.note(|| match risen {
            Ok(()) => format!("orchestrator {o} comes up as {source}"),
            Err(error) => format!("orchestrator {o} does not come up: {error}"),
        });
    }

    /// An orchestrator dies, and its local workers with it. Rows on their way may still arrive.
    fn kill(&mut self, o: usize) {
        if self.orchestrators[o].writing.is_some() && self.dice.one_in(2) {
            self.orchestrators[o].write(self.now, false);
        }
        self.orchestrators[o].die();
        for worker in self.workers.iter_mut().filter(|w| w.home == Some(o)) {
            worker.die();
        }
        self.note(|| format!("orchestrator {o} is dead"));
    }

    /// An orchestrator takes what it was asked, and commits.
    fn serve(&mut self, o: usize) -> Held {
        if !self.orchestrators[o].acts() {
            return Ok(());
        }
        if self.strikes(Trouble::CrashBefore) {
            self.felt(Trouble::CrashBefore);
            self.kill(o);
            return Ok(());
        }
        self.arm(o);
        if !self.is_calm && self.weather.strikes(Trouble::StaleRows, &mut self.dice) {
            self.lag.arm();
        }
        let crowded = self.orchestrators[o].inbox.len() > 1;
        for (_, command) in &self.orchestrators[o].inbox {
            self.cover.count("command", network::kind(command));
        }
        self.steps += u64::from(self.is_calm);
        let (now, clock) = (self.now, self.orchestrators[o].clock(self.now));
        let step = self.orchestrators[o].step(now);
        if self.lag.disarm() {
            self.felt(Trouble::StaleRows);
            self.note(|| "! old rows were loaded".into());
        }
        let forgot = || "the sweep found what no hint was made of".into();
        ensure(!self.orchestrators[o].forgot, "hints_are_where_facts_are", forgot)?;
        match step {
            Ok(step) => {
                self.look(clock)?;
                self.compare_work(o)?;
                self.answer(o, step, crowded)
            }
            Err(error) => {
                let said = || format!("only a failed sync may end the engine: {error}");
                ensure(error.code == "sync_failed", "only_a_failed_sync_ends_an_engine", said)?;
                self.look(clock)?;
                self.kill(o);
                Ok(())
            }
        }
    }

    fn look(&mut self, clock: Time) -> Held {
        let known = self.log.is_some().then(|| self.ledger_lines());
        let held = self.witness.look(clock);
        if let Some(known) = known {
            self.tell_new(&known);
        }
        held?;
        self.hash = (self.hash.rotate_left(7) ^ self.witness.hash).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Ok(())
    }

    fn answer(&mut self, o: usize, step: Step<No>, crowded: bool) -> Held {
        if self.strikes(Trouble::CrashAfter) {
            self.felt_if(!step.answers.is_empty(), Trouble::CrashAfter);
            self.kill(o);
            return Ok(());
        }
        for (run, attempt) in step.revoked {
            self.tell_revoked(o, run, attempt);
        }
        let many = step.answers.len() > 1;
        for (n, (no, answer)) in step.answers.into_iter().enumerate() {
            if many && self.strikes(Trouble::CrashBetween) {
                self.felt(if n == 0 { Trouble::CrashAfter } else { Trouble::CrashBetween });
                self.kill(o);
                return Ok(());
            }
            let source = self.orchestrators[o].source.clone();
            let by = Answerer { source: &source, now: self.orchestrators[o].clock(self.now), crowded };
            let said = self.log.is_some().then(|| network::told(&answer));
            self.note(|| format!("  {source} answers #{no}: {}", said.unwrap_or_default()));
            self.witness.heard(no, &answer, by)?;
            self.vigils.remove(&no);
            self.count_answer(&answer);
            self.hash = self.hash.rotate_left(3) ^ no ^ u64::from(answer.is_ok());
            self.send_answer(o, no, answer);
        }
        self.write_rows(o)
    }

    /// Rows that are due are written, unless the weather is against it.
    fn write_rows(&mut self, o: usize) -> Held {
        if self.orchestrators[o].writing.is_none() {
            return Ok(());
        }
        if self.strikes(Trouble::LateFlush) {
            self.felt(Trouble::LateFlush);
            return Ok(());
        }
        let lost = self.strikes(Trouble::LostFlush);
        self.felt_if(lost, Trouble::LostFlush);
        let now = self.now;
        self.orchestrators[o].write(now, lost);
        self.look_at_rows()
    }

    /// The witness looks at the rows that were written since it last did; now and then at all.
    fn look_at_rows(&mut self) -> Held {
        let wrote = self.orchestrators.iter_mut().flat_map(|o| std::mem::take(&mut o.wrote)).collect();
        self.flushes += 1;
        match self.flushes.is_multiple_of(ALL_ROWS_ONE_IN) {
            true => self.witness.look_at_rows(),
            false => self.witness.look_at_rows_of(&wrote),
        }
    }

    /// Everybody who is due and awake takes a step.
    fn wake_the_due(&mut self) -> Held {
        for o in 0..self.orchestrators.len() {
            let orchestrator = &mut self.orchestrators[o];
            if orchestrator.frozen.is_some_and(|until| until <= self.now) {
                orchestrator.frozen = None;
                self.note(|| format!("orchestrator {o} returns"));
            }
            let orchestrator = &self.orchestrators[o];
            if !orchestrator.acts() || orchestrator.due().is_none_or(|due| due > self.now) {
                continue;
            }
            if self.strikes(Trouble::LostWakeUp) {
                self.felt(Trouble::LostWakeUp);
                let now = self.now;
                self.orchestrators[o].sleep_on(now);
            } else {
                self.serve(o)?;
            }
        }
        Ok(())
    }

    fn pass(&mut self, span: Millis) -> Held {
        self.now = self.now.plus(span);
        self.wake_the_due()
    }

    fn count_answer(&mut self, answer: &Result<Answer>) {
        let cover = &mut self.cover;
        let mut say = |kind: &str| cover.count("answer", kind);
        match answer {
            Ok(Answer::Started { new, .. }) => say(if *new { "Started" } else { "Started again" }),
            Ok(Answer::Done) => say("Done"),
            Ok(Answer::Already) => say("Already"),
            Ok(Answer::Granted { .. }) => say("Granted"),
            Ok(Answer::Completed(each)) => {
                say("Completed");
                for error in each.iter().filter_map(|one| one.as_ref().err()) {
                    say("Report refused");
                    say(error.code);
                }
            }
            Ok(Answer::Beats(beats)) => {
                for beat in beats {
                    say(if matches!(beat, Beat::Continue(_)) { "Continue" } else { "Stop" });
                }
            }
            Ok(Answer::Ended(_)) => say("Ended"),
            Ok(Answer::Removed { .. }) => say("Removed"),
            Ok(Answer::Reopened(_)) => say("Reopened"),
            Ok(Answer::Worked(_)) => say("Worked"),
            Err(error) if is_refusal(error.code) && error.code != "run_frozen" => say("refused"),
            Err(error) => say(error.code),
        }
    }

    /// Where every stream ended before a step.
    fn ledger_lines(&self) -> Vec<(RunId, usize)> {
        self.witness.books.iter().map(|(run, book)| (*run, book.entries.len())).collect()
    }

    /// What a step has written.
    fn tell_new(&mut self, known: &[(RunId, usize)]) {
        let mut lines = Vec::new();
        for (run, book) in &self.witness.books {
            let from = known.iter().find(|(r, _)| r == run).map_or(0, |(_, n)| *n);
            for entry in &book.entries[from..] {
                let task = entry.event.task().map_or_else(String::new, |t| format!(" {}", book.run.path(t)));
                let short = run.short();
                lines.push(format!("  {} wrote {short}/{} {}{task}", entry.source, entry.seq, entry.event.name()));
            }
        }
        for line in lines {
            self.note(|| line);
        }
    }
}
