//! What is kept, what goes, and what a start is the same as: the committer alone, its time and its faults told.

use edgewise_core::id::RunId;
use edgewise_core::name::Name;
use edgewise_core::state::RunState;
use edgewise_core::time::{Millis, Time};
use edgewise_core::work::{Add, Op};
use edgewise_core::{Error, Result};
use edgewise_engine::Home;
use edgewise_engine::command::{Answer, Command, RunAct, Start};
use edgewise_engine::committer::{Committer, Request};
use edgewise_engine::doctor::{self, Told};
use edgewise_engine::entropy::Entropy;
use edgewise_engine::reader::{Peek, Reader};
use edgewise_engine::retention::{Removing, Retention};
use edgewise_engine::work::Ops;
use edgewise_store::faulty::{Fault, Faults, FaultyLedger, FaultyProjections};
use edgewise_store::memory::{MemoryLedger, MemoryProjections};
use edgewise_store::{Flush, Ledger, Projections, RunChange, RunFilter, Term};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::sync::Arc;

const DAY: u64 = 86_400_000;
const START: u64 = 1_800_000_000_000;
/// Ends in the commit that starts it.
const QUICK: &str = "flow quick(n = 0):\n    return n\n";
const WAITS: &str = "flow waits():\n    wait approval(count=1)\n";

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

fn start(text: &str, input: &str) -> Start {
    let mut flows = edgewise_core::flow::compile_file(text, "test.flow").unwrap_or_else(|p| panic!("{p:?}"));
    let input = RawValue::from_string(input.into()).unwrap();
    Start {
        plan: Arc::new(flows.remove(0).plan),
        input,
        by: name("ann"),
        key: None,
        labels: BTreeMap::new(),
        children: Vec::new(),
    }
}

/// A store that outlives its engines, and the engine of the moment.
struct World {
    ledger: MemoryLedger,
    rows: MemoryProjections,
    faults: Faults,
    now: u64,
    lives: u64,
    engine: Committer<()>,
}

impl World {
    fn new(faults: Faults) -> Self {
        let (ledger, rows) = (MemoryLedger::default(), MemoryProjections::default());
        let engine = Self::engine(&ledger, &rows, &faults, 0);
        Self { ledger, rows, faults, now: START, lives: 0, engine }
    }

    fn engine(ledger: &MemoryLedger, rows: &MemoryProjections, faults: &Faults, life: u64) -> Committer<()> {
        let ledger = FaultyLedger::new(ledger.clone(), faults.clone());
        let source = Arc::from(format!("e{life}"));
        Committer::new(
            Box::new(ledger),
            Box::new(rows.clone()),
            Home::local(),
            source,
            Entropy::from_seed([life as u8; 32]),
        )
    }

    /// The engine dies, and another one takes over.
    fn restart(&mut self) {
        self.lives += 1;
        self.faults.restart();
        self.engine = Self::engine(&self.ledger, &self.rows, &self.faults, self.lives);
        self.engine.recover(Time(self.now)).unwrap();
    }

    fn ask(&mut self, command: Command) -> Result<Answer> {
        self.now += 1;
        let mut step = self.engine.step(Time(self.now), vec![Request { command, reply: () }])?;
        step.answers.pop().map_or_else(|| Err(Error::bug("unanswered", "")), |(_, answer)| answer)
    }

    fn start(&mut self, start: Start) -> RunId {
        match self.ask(Command::Start(start)) {
            Ok(Answer::Started { run, .. }) => run,
            other => panic!("{other:?}"),
        }
    }

    /// Rows catch up; what fails is tried again.
    fn flush(&mut self) {
        let mut writer = FaultyProjections::new(self.rows.clone(), self.faults.clone());
        for _ in 0..3 {
            let Ok(flush) = self.engine.flush_all() else { continue };
            let written = writer.flush(&flush);
            self.engine.flushed(Time(self.now), &written);
        }
    }

    fn pass(&mut self) -> Result<()> {
        for _ in 0..4 {
            self.now += 61_000;
            self.engine.retain(Time(self.now))?;
        }
        Ok(())
    }

    fn is_there(&mut self, run: RunId) -> (bool, bool) {
        let stream = Home::local().stream(run);
        (self.ledger.head(&stream).unwrap().seq > 0, self.rows.load(&stream).unwrap().is_some())
    }

    fn findings(&mut self) -> Vec<&'static str> {
        let mut found = Vec::new();
        let (mut ledger, mut rows) = (self.ledger.clone(), self.rows.clone());
        doctor::verify(&mut ledger, Some(&mut rows), &mut |told| {
            if let Told::Found(finding) = told {
                found.push(finding.code);
            }
            Ok(())
        })
        .unwrap();
        found
    }
}

fn after(span: Millis) -> Retention {
    let states = vec![RunState::Complete, RunState::Error, RunState::Cancelled];
    let filter = RunFilter { states, not: vec![Term::Label("keep".into(), "yes".into())], ..RunFilter::default() };
    Retention { older_than: span, filter, keep_keys: Millis(30 * DAY) }
}

#[test]
fn runs_that_are_long_over_go_whole_and_all_others_stay() {
    let mut world = World::new(Faults::none());
    let old = world.start(Start { key: Some("k".into()), ..start(QUICK, "{}") });
    let labels = BTreeMap::from([("keep".to_owned(), "yes".to_owned())]);
    let kept = world.start(Start { labels, ..start(QUICK, "{}") });
    let (open, frozen, awaited) =
        (world.start(start(WAITS, "{}")), world.start(start(QUICK, "{}")), { world.start(start(QUICK, "{}")) });
    world.flush();
    world.ask(Command::Freeze(RunAct { run: frozen, by: name("ann"), why: None })).unwrap();
    world.flush();
    wait_for(&mut world, awaited, open);
    world.now += 2 * DAY;
    let young = world.start(start(QUICK, "{}"));
    world.restart();
    world.engine.keep_to(after(Millis(DAY)), Time(world.now));
    world.pass().unwrap();
    world.flush();
    assert_eq!(world.is_there(old), (false, false));
    for (what, run) in [("kept", kept), ("open", open), ("frozen", frozen), ("awaited", awaited), ("young", young)] {
        assert_eq!(world.is_there(run), (true, true), "{what}");
    }
    // Once nobody waits for it any more, it goes too.
    world.ask(Command::Cancel(RunAct { run: open, by: name("ann"), why: None })).unwrap();
    world.flush();
    world.pass().unwrap();
    world.flush();
    assert_eq!((world.is_there(awaited), world.is_there(open)), ((false, false), (true, true)));
    assert_eq!(world.findings(), Vec::<&str>::new());
}

/// Says in a run's rows that another run started it and waits for it.
fn wait_for(world: &mut World, run: RunId, parent: RunId) {
    let stream = Home::local().stream(run);
    let mut row = world.rows.load(&stream).unwrap().unwrap().run;
    row.marks.parent = Some(parent);
    let (given, given_gone) = Default::default();
    let (tasks, timers, timers_gone, outbox, outbox_gone, leases, leases_gone) = Default::default();
    let (from_seq, plan) = (row.applied_seq, None);
    let change = RunChange {
        stream,
        from_seq,
        run: row,
        plan,
        tasks,
        given,
        given_gone,
        timers,
        timers_gone,
        outbox,
        outbox_gone,
        leases,
        leases_gone,
    };
    world.rows.flush(&Flush { runs: vec![change], ..Flush::default() }).unwrap();
}

#[test]
fn what_may_not_go_is_said_with_its_reason() {
    let mut world = World::new(Faults::none());
    let (over, open) = (world.start(start(QUICK, "{}")), world.start(start(WAITS, "{}")));
    let nobody = RunId(5);
    let removed = |world: &mut World, runs: &[RunId]| {
        let removing = Removing { runs: runs.to_vec(), keep_keys: Millis(DAY) };
        match world.ask(Command::Remove(removing)) {
            Ok(Answer::Removed { kept, .. }) => kept.into_iter().map(|kept| (kept.run, kept.code)).collect::<Vec<_>>(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(removed(&mut world, &[over]), [(over, "run_busy".to_owned())], "its rows are not written yet");
    world.flush();
    let (not_over, missing) = ((open, "run_not_over".to_owned()), (nobody, "run_not_found".to_owned()));
    assert_eq!(removed(&mut world, &[open, over, nobody]), [not_over, missing]);
    world.flush();
    assert_eq!((world.is_there(over), world.is_there(open)), ((false, false), (true, true)));
    assert!(matches!(world.ask(Command::Wait(over)), Ok(Answer::Ended(RunState::Complete))), "how it ended is known");
}

#[test]
fn the_key_of_a_run_that_is_gone_starts_nothing_until_its_time_is_over() {
    let mut world = World::new(Faults::none());
    let keyed = || Start { key: Some("order-7".into()), ..start(QUICK, "{}") };
    let first = world.start(keyed());
    world.flush();
    world.engine.keep_to(after(Millis(0)), Time(world.now));
    world.pass().unwrap();
    world.flush();
    assert_eq!(world.is_there(first), (false, false));
    assert!(matches!(world.ask(Command::Start(keyed())), Ok(Answer::Started { run, new: false }) if run == first));
    let other = Start { key: Some("order-7".into()), ..start(QUICK, "{\"n\":1}") };
    assert_eq!(world.ask(Command::Start(other)).unwrap_err().code, "key_taken");
    world.now += 31 * DAY;
    world.pass().unwrap();
    assert!(matches!(world.ask(Command::Start(keyed())), Ok(Answer::Started { new: true, .. })));
}

#[test]
fn the_key_of_operations_on_items_is_kept_as_long_as_other_keys_and_then_free() {
    let mut world = World::new(Faults::none());
    let already = |world: &mut World| {
        let ops = vec![Op::Add(Box::new(Add { title: "once".into(), ..Add::default() }))];
        let asked = Ops { ops, by: Name::parse("ada").unwrap(), key: Some("k1".into()) };
        match world.ask(Command::Work(asked)) {
            Ok(Answer::Worked(done)) => done[0].already,
            other => panic!("{other:?}"),
        }
    };
    assert!(!already(&mut world));
    for (days, known) in [(29, true), (2, false), (29, true)] {
        world.now += days * DAY;
        world.restart();
        world.engine.keep_to(after(Millis(0)), Time(world.now));
        world.pass().unwrap();
        assert_eq!(already(&mut world), known, "{days} days later");
    }
}

/// Between two passes of the engine's own retention, and somewhat more.
const PASS: u64 = 61_000;

/// A world in which one more run is old enough at each pass.
struct Aging {
    world: World,
    old: Vec<RunId>,
    open: RunId,
    young: RunId,
}

impl Aging {
    fn new() -> Self {
        let mut world = World::new(Faults::none());
        let mut old = Vec::new();
        for n in 0..4 {
            world.now = START + n * PASS;
            old.push(world.start(start(QUICK, "{}")));
        }
        let open = world.start(start(WAITS, "{}"));
        world.flush();
        world.now = START + DAY;
        let young = world.start(start(QUICK, "{}"));
        world.flush();
        world.now = START + DAY + 100 - PASS;
        world.engine.keep_to(after(Millis(DAY)), Time(world.now));
        Self { world, old, open, young }
    }

    /// One pass, and one write of the rows behind it. An error is fatal.
    fn pass(&mut self, seen: &mut impl FnMut(&mut Self)) -> Result<()> {
        self.world.now += PASS;
        self.world.engine.retain(Time(self.world.now))?;
        seen(self);
        let mut writer = FaultyProjections::new(self.world.rows.clone(), self.world.faults.clone());
        if let Ok(flush) = self.world.engine.flush_all() {
            let written = writer.flush(&flush);
            self.world.engine.flushed(Time(self.world.now), &written);
        }
        seen(self);
        Ok(())
    }

    fn there(&mut self) -> Vec<(bool, bool)> {
        self.old.clone().into_iter().map(|run| self.world.is_there(run)).collect()
    }
}

/// How many writes it takes until all that is old is gone: each takes something away.
fn writes_that_take_away() -> u64 {
    let mut aging = Aging::new();
    let before = aging.world.faults.writes();
    let mut left = aging.there();
    assert_eq!(left, [(true, true); 4]);
    for _ in 0..4 {
        let pass = aging.pass(&mut |aging| {
            let now = aging.there();
            assert_ne!(now, left, "a write took nothing away");
            left = now;
        });
        pass.unwrap();
    }
    assert_eq!(left, [(false, false); 4]);
    aging.world.faults.writes() - before
}

#[test]
fn whatever_fails_at_whatever_write_what_is_old_goes_and_nothing_else() {
    let faults = [
        Fault::Refused,
        Fault::DiskFull,
        Fault::AnswerLost { landed: true },
        Fault::AnswerLost { landed: false },
        Fault::SyncFailed { landed: true },
        Fault::SyncFailed { landed: false },
    ];
    let writes = writes_that_take_away();
    assert_eq!(writes, 8, "the ledger and the rows are written to at each pass");
    let plays =
        faults.iter().flat_map(|fault| (1..=writes).flat_map(|nth| [(*fault, nth, false), (*fault, nth, true)]));
    for (fault, nth, dies) in plays {
        let said = format!("{fault:?} at write {nth}, the engine dies of it: {dies}");
        let mut aging = Aging::new();
        let faults = aging.world.faults.clone();
        aging.world.faults = faults.clone().fail_nth_write(faults.writes() + nth, fault);
        let mut fired = 0;
        for _ in 0..4 {
            // Fatal or not: the engine dies here, with the rows as far as they are.
            let fatal = aging.pass(&mut |_| ()).is_err();
            fired += faults.take_fired().values().sum::<u64>();
            if fatal || (dies && fired > 0) {
                break;
            }
        }
        assert_eq!(fired, 1, "{said}: it came about");
        let Aging { mut world, old, open, young } = aging;
        world.restart();
        world.engine.keep_to(after(Millis(DAY)), Time(world.now));
        world.faults.calm();
        world.pass().unwrap();
        world.flush();
        for run in &old {
            assert_eq!(world.is_there(*run), (false, false), "{said}");
        }
        assert_eq!((world.is_there(open), world.is_there(young)), ((true, true), (true, true)), "{said}");
        assert_eq!(world.findings(), Vec::<&str>::new(), "{said}");
    }
}

#[test]
fn rows_that_are_left_over_are_told_by_the_doctor_and_go_at_the_next_pass() {
    let mut world = World::new(Faults::none());
    let run = world.start(start(QUICK, "{}"));
    world.flush();
    world.engine.keep_to(after(Millis(0)), Time(world.now));
    world.pass().unwrap();
    world.restart();
    assert_eq!(world.is_there(run), (false, true));
    assert_eq!(world.findings(), ["rows_left_over"]);
    world.engine.keep_to(after(Millis(0)), Time(world.now));
    world.pass().unwrap();
    world.flush();
    assert_eq!(world.is_there(run), (false, false));
    assert_eq!(world.findings(), Vec::<&str>::new());
}

#[test]
fn a_strict_identity_makes_the_same_start_the_same_run() {
    let strict =
        "flow quick(a = 0, b = 0) [identity: strict, labels: {\"team\": \"core\", \"tier\": \"1\"}]:\n    return a\n";
    let mut world = World::new(Faults::none());
    let first = world.start(start(strict, "{\"a\":1,\"b\":2}"));
    assert_eq!(world.start(start(strict, "{ \"b\": 2, \"a\": 1 }")), first, "however the input is written");
    assert_ne!(world.start(start(strict, "{\"a\":1,\"b\":3}")), first);
    assert_ne!(world.start(start(QUICK, "{\"a\":1,\"b\":2}")), first);
    let keyed = Start { key: Some("mine".into()), ..start(strict, "{\"a\":1,\"b\":2}") };
    assert_ne!(world.start(keyed), first, "the caller's key goes before it");
    assert_ne!(world.start(start(QUICK, "{}")), world.start(start(QUICK, "{}")), "each start is a run of its own");
    let forged = Start { key: Some("identity:1".into()), ..start(QUICK, "{}") };
    assert_eq!(world.ask(Command::Start(forged)).unwrap_err().code, "bad_key");
}

#[test]
fn a_run_is_found_by_the_labels_of_its_flow_and_those_of_its_caller() {
    let labelled = "flow quick() [namespace: ops, labels: {\"team\": \"core\", \"tier\": \"1\"}]:\n    return 1\n";
    let mut world = World::new(Faults::none());
    let labels = BTreeMap::from([("team".to_owned(), "web".to_owned())]);
    let run = world.start(Start { labels, ..start(labelled, "{}") });
    world.flush();
    let row = world.rows.load(&Home::local().stream(run)).unwrap().unwrap().run;
    let pairs: Vec<(&str, &str)> = row.marks.labels.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    assert_eq!(pairs, [("team", "web"), ("tier", "1")]);
    assert_eq!((row.namespace().as_str(), row.marks.by.as_ref().map(Name::as_str)), ("ops", Some("ann")));
    let many = (0..100).map(|n| (format!("k{n}"), String::new())).collect();
    let refused = world.ask(Command::Start(Start { labels: many, ..start(labelled, "{}") })).unwrap_err();
    assert_eq!(refused.code, "too_many_labels");
}

#[test]
fn whoever_looks_from_elsewhere_gets_all_runs_though_each_answer_is_bounded() {
    let mut world = World::new(Faults::default());
    let runs: Vec<RunId> = (0..1_050).map(|n| world.start(start(QUICK, &format!("{{\"n\":{n}}}")))).collect();
    let (ledger, rows) = (world.ledger.clone(), world.rows.clone());
    let reader = || Reader::over(Box::new(ledger.clone()), Box::new(rows.clone()), Home::local());
    let (near, answers) = (std::sync::Mutex::new(reader()), Arc::new(std::sync::Mutex::new(Vec::new())));
    let told = Arc::clone(&answers);
    let ask = move |peek: &Peek| {
        let text = near.lock().unwrap().peek(peek, &|_, _| true)?;
        if let (Peek::Runs(_), Ok(serde_json::Value::Array(rows))) = (peek, serde_json::from_str(&text)) {
            told.lock().unwrap().push(rows.len());
        }
        Ok(text)
    };
    let mut far = Reader::elsewhere(Arc::new(ask), Home::local());
    for (limit, expected, pages) in
        [(usize::MAX, 1_050, vec![1_000, 50]), (1_020, 1_020, vec![1_000, 20]), (7, 7, vec![7])]
    {
        answers.lock().unwrap().clear();
        let found = far.runs(&RunFilter { limit, ..RunFilter::default() }).unwrap();
        assert_eq!(found, reader().runs(&RunFilter { limit, ..RunFilter::default() }).unwrap());
        assert_eq!((found.len(), &*answers.lock().unwrap()), (expected, &pages));
    }
    // Also of somebody who asks for more at once than any client of ours does.
    let all = Peek::Runs(Box::new(RunFilter { limit: usize::MAX, ..RunFilter::default() }));
    let text = reader().peek(&all, &|_, _| true).unwrap();
    let sent: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
    assert_eq!((sent.len(), runs.len()), (1_000, 1_050));
}
