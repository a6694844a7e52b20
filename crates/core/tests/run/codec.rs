//! The stored form: what was once written is read for ever, byte for byte, and damage is loud.

use crate::driver::{Driver, Sketch, action, approval, graph, name, spread_bearing};
use edgewise_core::Kind;
use edgewise_core::event::{
    Approved, AttemptRef, DispatchEnqueued, Envelope, Event, Failure, GateEscalated, GateSatisfied, PlanCreated,
    Record, Request, Rerun, RerunFrom, RunAdvanced, RunTriggered, TaskAct, TaskCompletedManually, TaskFinished,
    TaskHeartbeat, TaskIx, TimerFired, TimerKey, TimerKind, Unfrozen, decode, encode,
};
use edgewise_core::fold::Verdict;
use edgewise_core::history::{Entry, Stream};
use edgewise_core::id::{EventId, PlanHash, RunId, Token};
use edgewise_core::plan::{Accepts, Join, OnFailure, Plan};
use edgewise_core::run::Run;
use edgewise_core::time::{Millis, Time};
use proptest::prelude::*;
use serde_json::value::RawValue;
use std::fmt::Write;
use std::sync::Arc;

const EVENTS: &str = include_str!("../golden/events.v1.jsonl");
const PLAN: &str = include_str!("../golden/plan.v1.json");
const LEDGER: &str = include_str!("../golden/ledger.v2.jsonl");
/// The same by the rules before.
const LEDGER_V1: &str = include_str!("../golden/ledger.v1.jsonl");
const STATE: &str = include_str!("../golden/ledger.v1.state.txt");

fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.into()).unwrap()
}

fn envelope() -> Envelope {
    Envelope {
        id: EventId(0x0190_0000_0000_0000_0000_0000_0000_0001),
        at: Time(1_800_000_000_123),
        source: "node-1".into(),
    }
}

/// One of every type, and both forms where a field may be absent.
fn one_of_each() -> Vec<Event> {
    let token = Token(7).hash();
    let lease = AttemptRef { task: TaskIx(3), generation: 1, attempt: 2, token };
    let act = |generation| TaskAct { task: TaskIx(1), generation, by: name("op"), why: Some("it was fixed".into()) };
    let request = Request { by: name("op"), why: None };
    let plan = PlanHash(0x1234_5678_9abc_def0);
    let said = Approved { task: TaskIx(4), generation: 1, by: name("ann"), comment: Some("fine".into()) };
    let labels = [("team".to_owned(), "blue".to_owned())].into();
    let (flow, by, input) = (name("nightly"), name("ann"), raw(r#"{"n":1.5,"list":[1,2]}"#));
    let failure = Failure { retryable: false, retry_after: Some(Millis(250)), ..Failure::new("exit_1", "it broke") };
    let finished = TaskFinished { task: TaskIx(3), generation: 2, attempt: 1, token, output: None, error: None };
    let timer = TimerKey { task: TaskIx(3), kind: TimerKind::Retry, generation: 1, attempt: 1 };
    let granted =
        DispatchEnqueued { task: TaskIx(3), generation: 1, attempt: 1, token, worker: "w-1".into(), lease: None };
    let rerun = |from, generation| Rerun { by: name("op"), why: Some("it was fixed".into()), from, generation };
    vec![
        Event::RunTriggered(RunTriggered { flow, plan, rules: 1, input, by, key: Some("k1".into()), labels }),
        Event::PlanCreated(PlanCreated { plan }),
        Event::RunCancelRequested(Request { why: Some("no longer wanted".into()), ..request.clone() }),
        Event::RunPauseRequested(request.clone()),
        Event::RunResumeRequested(request.clone()),
        Event::RunAdvanced(RunAdvanced {}),
        Event::DispatchEnqueued(granted.clone()),
        Event::DispatchReturned(lease),
        Event::TaskHeartbeat(TaskHeartbeat { attempt: lease, progress: raw(r#"{"at":0.5}"#) }),
        Event::TaskFinished(TaskFinished { output: Some(raw(r#"{"sha":"abc"}"#)), ..finished.clone() }),
        Event::TaskFinished(TaskFinished { error: Some(failure), ..finished }),
        Event::TimerFired(TimerFired { timer, due: Time(1_800_000_001_000) }),
        Event::ApprovalGiven(said.clone()),
        Event::ApprovalWithdrawn(Approved { comment: None, generation: 3, ..said.clone() }),
        Event::GateRejected(said),
        Event::TaskResolvedManually(act(1)),
        Event::TaskCompletedManually(TaskCompletedManually { act: act(2), output: raw("[1,null]") }),
        Event::TaskResetForRetry(act(1)),
        Event::TaskSkipRequested(act(1)),
        Event::TaskCancelRequested(TaskAct { why: None, ..act(1) }),
        Event::RunResolvedManually(request.clone()),
        Event::RunGivenUp(request.clone()),
        Event::RunRerunRequested(rerun(RerunFrom::Failure, 1)),
        Event::RunRerunRequested(rerun(RerunFrom::Start, 2)),
        Event::RunRerunRequested(rerun(RerunFrom::Task { task: TaskIx(3), generation: 2 }, 3)),
        Event::DispatchEnqueued(DispatchEnqueued { lease: Some(Millis(30_000)), ..granted }),
        Event::GateSatisfied(GateSatisfied {
            task: TaskIx(4),
            generation: 2,
            by: name("webhook"),
            comment: None,
            delivery: Some("msg_1".into()),
            output: Some(raw(r#"{"ok":true}"#)),
        }),
        Event::GateEscalated(GateEscalated { task: TaskIx(4), generation: 2, step: 1 }),
        Event::RunFrozen(Request { why: Some("evidence".into()), ..request }),
        Event::RunUnfrozen(Unfrozen { by: name("op"), why: None, mark: None }),
        Event::RunUnfrozen(Unfrozen { by: name("op"), why: Some("a new disk".into()), mark: Some("damaged".into()) }),
    ]
}

fn record(bytes: Vec<u8>, count: u32) -> Record {
    Record::new("local/default/run/0000000000000007", 1, count, bytes)
}

#[test]
fn every_event_type_is_written_as_it_always_was_and_reads_back() {
    let lines: Vec<&str> = EVENTS.lines().collect();
    assert_eq!(lines.len(), one_of_each().len());
    for (line, event) in lines.into_iter().zip(one_of_each()) {
        let bytes = encode(&envelope(), std::slice::from_ref(&event));
        assert_eq!(std::str::from_utf8(&bytes).unwrap(), line);
        let (read, events) = decode(&record(bytes.clone(), 1)).unwrap();
        assert_eq!(read, envelope());
        assert_eq!(events[0].name(), event.name());
        assert_eq!(encode(&read, &events), bytes, "{line}");
    }
    let named: std::collections::BTreeSet<String> = one_of_each().iter().map(|e| e.name().to_owned()).collect();
    assert_eq!(named.len(), 26, "every type is here");
}

#[test]
fn an_event_type_of_a_newer_program_is_kept_by_name_and_counted() {
    let newer = EVENTS.lines().nth(5).unwrap().replace("RunAdvanced", "RunTeleported");
    let (envelope, events) = decode(&record(newer.into_bytes(), 1)).unwrap();
    assert_eq!(envelope.source.as_ref(), "node-1");
    assert!(matches!(&events[0], Event::Unknown(name) if &**name == "RunTeleported"));
    let mut d = Driver::planned(graph(&[("a", Join::All)], &[], OnFailure::Continue));
    assert!(matches!(d.say(events[0].clone()), Verdict::Ignored(_)));
    assert_eq!(d.run.unknown, 1);
    d.ok("a");
    assert_eq!(crate::load::reload(&d.run).unknown, 1);
}

#[test]
fn what_is_ours_and_broken_is_refused() {
    let line = EVENTS.lines().nth(6).unwrap();
    for (from, to) in [
        (r#""t":3"#, r#""t":-3"#),
        (r#""a":1"#, r#""a":70000"#),
        (r#""v":1"#, r#""v":2"#),
        (r#""k":""#, r#""k":"u"#),
        (r#"}}]"#, r#"}]"#),
    ] {
        let broken = line.replacen(from, to, 1);
        assert_ne!(broken, line, "{from}");
        let error = decode(&record(broken.into_bytes(), 1)).unwrap_err();
        assert_eq!((error.kind, error.code), (Kind::Corrupt, "bad_record"), "{to}");
    }
    for count in [0, 2, u32::MAX] {
        assert_eq!(decode(&record(line.into(), count)).unwrap_err().code, "bad_record", "{count} events");
    }
}

#[test]
fn a_record_that_was_damaged_or_moved_does_not_pass() {
    let stream = "local/default/run/0000000000000007";
    let whole = record(EVENTS.lines().next().unwrap().into(), 1);
    assert!(whole.verify(stream).is_ok());
    assert_eq!(whole.verify("local/default/run/0000000000000008").unwrap_err().code, "checksum_mismatch");
    for at in 0..whole.bytes.len() {
        let mut damaged = whole.clone();
        damaged.bytes[at] ^= 1;
        assert_eq!(damaged.verify(stream).unwrap_err().kind, Kind::Corrupt, "byte {at}");
    }
    for damaged in [
        Record { first: 2, ..whole.clone() },
        Record { count: 2, ..whole.clone() },
        Record { checksum: 0, ..whole.clone() },
        Record { first: u64::MAX, count: u32::MAX, ..whole.clone() },
        Record { first: 0, count: 0, ..whole.clone() },
    ] {
        assert!(damaged.verify(stream).is_err());
        assert!(damaged.last() >= damaged.first, "a damaged place is no reason to fall over");
    }
}

/// What a run has come to, for people to compare.
fn printed(run: &Run) -> String {
    let mut text = format!("run {:?} seq {} unknown {} counts {:?}\n", run.state, run.seq, run.unknown, run.counts);
    for ix in (0..run.total()).map(TaskIx) {
        let t = &run.tasks[ix.0 as usize];
        let (path, state, output) = (run.path(ix), t.state, run.output(ix));
        let edges = format!("{}+{}", t.accepted, t.refused);
        let times = format!("{}..{}..{}", t.ready_at.0, t.started_at.0, t.completed_at.0);
        writeln!(text, "{path} {state:?} g{} a{} {edges} {times} {output}", t.generation, t.attempt).unwrap();
    }
    writeln!(text, "edges {:?}", run.edges).unwrap();
    for (key, due) in &run.timers {
        writeln!(text, "timer {key:?} {}", due.0).unwrap();
    }
    for (task, reason) in &run.reasons {
        writeln!(text, "reason {} {}", task.0, serde_json::to_string(reason).unwrap()).unwrap();
    }
    text
}

#[test]
fn a_ledger_of_an_earlier_day_folds_to_what_it_folded_to_then() {
    [LEDGER_V1, LEDGER].into_iter().for_each(folds_as_then);
}

fn folds_as_then(ledger: &str) {
    let plan = Plan::decode(PLAN.trim_end().as_bytes()).unwrap();
    let (plan_hash, bytes) = plan.encode();
    assert_eq!(bytes, PLAN.trim_end().as_bytes(), "a plan is written as it always was");
    let mut entries = Vec::new();
    for (first, line) in (1..).zip(ledger.lines()) {
        entries.extend(Entry::of(&Record::new("golden", first, 1, line.into())).unwrap());
    }
    assert_eq!(entries.len(), recorded().ledger.len());
    let stream = Stream { run: RunId(7), plan_hash, plan: &Arc::new(plan), entries: &entries };
    edgewise_core::invariant::check_stream(&stream).unwrap();
    let run = stream.refold(u64::MAX);
    edgewise_core::invariant::check_state(&run).unwrap();
    assert_eq!(printed(&run), STATE);
}

#[test]
fn an_event_of_a_chain_costs_less_than_120_bytes_with_its_share_of_the_envelope() {
    const N: u32 = 50;
    let names: Vec<String> = (0..N).map(|n| format!("step_{n}")).collect();
    let nodes: Vec<_> = names.iter().map(|n| (n.as_str(), Join::All)).collect();
    let edges: Vec<_> = (1..N).map(|n| (n - 1, n, Accepts::SUCCESS)).collect();
    let mut d = Driver::planned(graph(&nodes, &edges, OnFailure::Continue));
    for step in &names {
        d.ok_with(step, r#"{"ok":true}"#);
    }
    let events: Vec<Event> = d.ledger[2..].iter().map(|e| e.event.clone()).collect();
    // The first lease stands alone; then a finish and the next lease share a record.
    let records = events[1..].chunks(2).map(|pair| encode(&envelope(), pair).len()).sum::<usize>();
    let average = records / (events.len() - 1);
    println!("{average} bytes an event");
    assert!(average < 120, "{average}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_never_make_the_decoder_fall_over(bytes in proptest::collection::vec(any::<u8>(), 0..200), count in 0u32..4) {
        let _ = decode(&record(bytes, count));
    }

    #[test]
    fn damaged_records_never_make_the_decoder_or_the_fold_fall_over(
        line in 0usize..21, at in 0usize..400, byte in any::<u8>(),
    ) {
        let mut bytes = EVENTS.lines().nth(line).unwrap().as_bytes().to_vec();
        let at = at % bytes.len();
        bytes[at] = byte;
        if let Ok(entries) = Entry::of(&record(bytes, 1)) {
            let mut d = Driver::planned(graph(&[("a", Join::All), ("b", Join::All)], &[], OnFailure::Continue));
            for entry in entries {
                d.say(entry.event);
            }
        }
    }
}

/// The run that was recorded: a retry, approvals, a spread with a failure, resets, a pause, an event from the future.
fn recorded() -> Driver {
    let mut sketch = Sketch::new(OnFailure::Continue);
    let inner = sketch.region();
    let fetch = sketch.node(0, "fetch", action(2), &[]);
    let ask = sketch.node(0, "ask", approval(&["ann", "bob"], 2), &[fetch]);
    let each = sketch.node(0, "each", spread_bearing(inner, 3, 1, false), &[ask]);
    sketch.node(0, "join", action(1), &[each]);
    sketch.node(0, "late", action(1), &[each]);
    sketch.node(inner, "one", action(1), &[]);
    let mut d = Driver::planned(sketch.build());
    d.fail("fetch");
    d.fire_next();
    d.ok_with("fetch", r#"{"n":[1,2]}"#);
    for person in ["ann", "ann", "bob"] {
        d.approve("ask", person);
    }
    d.ok_with("each[0]", "1");
    d.fail("each[1]");
    d.ok_with("each[2]", "3");
    d.fail("join");
    d.reset("join");
    d.reset("each[1]");
    d.say(Event::RunPauseRequested(Request { by: name("op"), why: None }));
    d.say(Event::RunResumeRequested(Request { by: name("op"), why: None }));
    d.say(Event::Unknown("RunTeleported".into()));
    d.ok_with("each[1]", "2");
    d.ok_with("join", r#""joined""#);
    d.skip("late");
    d
}

fn written(entry: &Entry) -> String {
    let envelope = Envelope { id: entry.stamp.id, at: entry.stamp.at, source: "node-1".into() };
    let event = match &entry.event {
        // We cannot write what we do not know: a newer program did.
        Event::Unknown(_) => Event::RunAdvanced(RunAdvanced {}),
        known => known.clone(),
    };
    let line = String::from_utf8(encode(&envelope, &[event])).unwrap() + "\n";
    if matches!(entry.event, Event::Unknown(_)) { line.replace("RunAdvanced", "RunTeleported") } else { line }
}

/// A golden file that has to change means that old ledgers would be read differently: then it is a new version, and
/// `UPDATE_GOLDEN=1` writes its files.
#[test]
fn what_is_recorded_today_is_what_was_recorded_then() {
    let one = |e: &Event| String::from_utf8(encode(&envelope(), std::slice::from_ref(e))).unwrap() + "\n";
    let d = recorded();
    for (file, golden, text) in [
        ("events.v1.jsonl", EVENTS, one_of_each().iter().map(one).collect::<String>()),
        ("plan.v1.json", PLAN, String::from_utf8(d.run.plan.encode().1).unwrap() + "\n"),
        ("ledger.v2.jsonl", LEDGER, d.ledger.iter().map(written).collect()),
        ("ledger.v1.state.txt", STATE, printed(&d.run)),
    ] {
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(format!("tests/golden/{file}"), text).unwrap();
        } else {
            assert!(text == golden, "{file} would be written differently now:\n{text}");
        }
    }
}
