//! A run that a newer program began: nobody here can fold it, so it rests, and everything else goes on.

use edgewise_core::Kind;
use edgewise_core::event::{Event, NEWER_RULES, RULES, Record, decode, encode};
use edgewise_core::flow::compile;
use edgewise_core::id::RunId;
use edgewise_core::name::Name;
use edgewise_engine::Home;
use edgewise_engine::command::{Answer, Command, RunAct, Start};
use edgewise_engine::committer::{Committer, Request};
use edgewise_engine::doctor::{Finding, Told, verify};
use edgewise_engine::entropy::Entropy;
use edgewise_engine::reader::Reader;
use edgewise_store::memory::{MemoryLedger, MemoryProjections};
use edgewise_store::{Append, Guard, Ledger};
use serde_json::value::RawValue;
use std::sync::Arc;

type Engine = Committer<u64>;

const NOW: edgewise_core::time::Time = edgewise_core::time::Time(1_500);

fn engine(ledger: &MemoryLedger, rows: &MemoryProjections) -> Engine {
    let (ledger, rows) = (Box::new(ledger.clone()), Box::new(rows.clone()));
    let mut engine = Committer::new(ledger, rows, Home::local(), "e".into(), Entropy::from_seed([1; 32]));
    engine.recover(NOW).unwrap();
    engine
}

fn ask(engine: &mut Engine, command: Command) -> edgewise_core::Result<Answer> {
    let step = engine.step(NOW, vec![Request { command, reply: 1 }]).unwrap();
    step.answers.into_iter().next().unwrap().1
}

fn start(engine: &mut Engine) -> RunId {
    let plan = Arc::new(compile("{ flow: f, tasks: { a: { action: work } } }", "f.yaml").unwrap().plan);
    let (input, by) = (RawValue::from_string("{}".into()).unwrap(), Name::parse("ada").unwrap());
    let start = Start { plan, children: vec![], input, by, key: None, labels: Default::default() };
    match ask(engine, Command::Start(start)).unwrap() {
        Answer::Started { run, .. } => run,
        other => panic!("{other:?}"),
    }
}

/// A ledger with one run, begun by a program whose rules are the next ones.
fn of_a_newer_program() -> (MemoryLedger, RunId) {
    let (mut here, mut there) = (MemoryLedger::default(), MemoryLedger::default());
    let run = start(&mut engine(&here, &MemoryProjections::default()));
    let stream = Home::local().stream(run);
    let stored = here.read(&stream, 0, 10).unwrap().remove(0);
    let (envelope, mut events) = decode(&stored.record).unwrap();
    let Event::RunTriggered(begun) = &mut events[0] else { panic!("{:?}", events[0]) };
    begun.rules = RULES + 1;
    let plan = (begun.plan, here.plan(begun.plan).unwrap().unwrap());
    let record = Record::new(&stream.label(), 1, events.len() as u32, encode(&envelope, &events));
    let guards = vec![Guard { stream: stream.clone(), seq: 0 }];
    let last = envelope.id.plus(events.len() as u64 - 1);
    let batch = Append { guards, plans: vec![plan], records: vec![(stream, record, last)], ..Append::default() };
    there.append(&batch).unwrap();
    (there, run)
}

fn findings(ledger: &MemoryLedger) -> Vec<Finding> {
    let mut found = Vec::new();
    let tell = &mut |told: Told| {
        found.extend(if let Told::Found(finding) = told { Some(finding) } else { None });
        Ok(())
    };
    verify(&mut ledger.clone(), None, tell).unwrap();
    found
}

#[test]
fn a_run_of_newer_rules_is_not_touched_and_the_others_go_on() {
    let (mut ledger, run) = of_a_newer_program();
    let rows = MemoryProjections::default();
    let mut engine = engine(&ledger, &rows);
    let act = RunAct { run, by: Name::parse("ada").unwrap(), why: None };
    let refused = ask(&mut engine, Command::Cancel(act.clone())).unwrap_err();
    assert!(refused.message.contains("newer program"), "{refused}");
    let kept = ask(&mut engine, Command::Unfreeze(act)).unwrap_err();
    assert!(kept.message.contains("newer program"), "{kept}");
    let other = start(&mut engine);
    assert_eq!(ledger.head(&Home::local().stream(run)).unwrap().seq, 2, "nothing was written to it");
    let mut reader = Reader::over(Box::new(ledger.clone()), Box::new(rows), Home::local());
    assert!(reader.run(other).is_ok());
    let unread = reader.run(run).unwrap_err();
    assert_eq!((unread.kind, unread.code), (Kind::Corrupt, NEWER_RULES));
}

#[test]
fn the_doctor_sends_whoever_has_such_a_run_to_the_newer_program_and_not_to_a_backup() {
    let (ledger, run) = of_a_newer_program();
    let found = findings(&ledger);
    let [finding] = &found[..] else { panic!("{found:?}") };
    assert_eq!((finding.run, finding.code), (Some(run), NEWER_RULES));
    assert!(finding.next.contains("newer program"), "{}", finding.next);
}
