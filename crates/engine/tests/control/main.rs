//! A workspace's control in the engine: one commit with the events of runs, undone with them, the same for all engines.

mod gates;
mod ground;
mod queues;
mod schedules;

use edgewise_core::Kind;
use edgewise_core::control::{Control, HOOK_SECRET, SettingChanged};
use edgewise_core::id::RunId;
use edgewise_core::time::{Millis, Time};
use edgewise_engine::Home;
use edgewise_engine::command::{Answer, Claim, Command, Start};
use edgewise_engine::committer::Request;
use edgewise_engine::doctor::{Finding, rebuild};
use edgewise_engine::reader::Reader;
use edgewise_store::faulty::{Fault, Op};
use edgewise_store::memory::MemoryProjections;
use edgewise_store::{Ledger, Position, Projections};
use ground::{World, ask, name, register};
use serde_json::json;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::sync::Arc;

fn setting(value: i64) -> Command {
    Command::ChangeSetting(SettingChanged { key: name("slots"), value: Some(json!(value)), by: name("ada"), why: None })
}

fn start(flow: &str) -> Command {
    Command::Start(Start {
        plan: Arc::new(edgewise_core::flow::compile(flow, "f.yaml").unwrap().plan),
        children: Vec::new(),
        input: RawValue::from_string("{}".into()).unwrap(),
        by: name("ada"),
        key: None,
        labels: BTreeMap::new(),
    })
}

const FLOW: &str = "{ flow: report, tasks: { a: { action: work } } }";

#[test]
fn a_registered_flow_is_there_for_every_engine_and_after_a_restart() {
    let mut world = World::default();
    let mut first = world.engine(1);
    assert!(matches!(ask(&mut first, register(FLOW)), Ok(Answer::Done)));
    assert!(matches!(ask(&mut first, register(FLOW)), Ok(Answer::Already)));
    let known = world.control().flows[&name("report")].clone();
    assert!(world.ledger.plan(known.plan).unwrap().is_some(), "its plan is stored with it");
    world.flush(&mut first);
    assert_eq!(world.control().flows[&name("report")], known);
    let mut second = world.engine(2);
    assert!(matches!(ask(&mut second, register(FLOW)), Ok(Answer::Already)));
    assert_eq!(world.findings(), []);
}

#[test]
fn whoever_comes_second_decides_on_what_the_first_one_wrote() {
    let world = World::default();
    let (mut first, mut second) = (world.engine(1), world.engine(2));
    assert!(matches!(ask(&mut first, setting(1)), Ok(Answer::Done)));
    assert!(matches!(ask(&mut second, setting(1)), Ok(Answer::Already)));
    assert!(matches!(ask(&mut second, setting(2)), Ok(Answer::Done)));
    assert!(matches!(ask(&mut first, setting(3)), Ok(Answer::Done)));
    assert_eq!(world.control().settings[&name("slots")].value, json!(3));
    assert_eq!(world.control().seq, 3);
}

#[test]
fn the_secret_that_addresses_are_signed_with_stays_whoever_brings_another_one() {
    let world = World::default();
    let secret = |value: &str| {
        let (key, by) = (name(HOOK_SECRET), name("ada"));
        Command::ChangeSetting(SettingChanged { key, value: Some(json!(value)), by, why: None })
    };
    let (mut first, mut second) = (world.engine(1), world.engine(2));
    assert!(matches!(ask(&mut first, secret("first")), Ok(Answer::Done)));
    assert!(matches!(ask(&mut second, secret("second")), Ok(Answer::Already)));
    assert_eq!(world.control().settings[&name(HOOK_SECRET)].value, json!("first"));
}

/// Whoever made the first one was shown its secret once: it must stay good until it is revoked.
#[test]
fn a_token_that_somebody_was_shown_is_not_replaced_by_another_of_the_same_name() {
    let world = World::default();
    let change = |value: Option<&str>| {
        let value = value.map(|hash| json!({ "hash": hash, "role": "viewer" }));
        Command::ChangeSetting(SettingChanged { key: name("token/ann"), value, by: name("ada"), why: None })
    };
    let (mut one, mut other) = (world.engine(1), world.engine(2));
    assert!(matches!(ask(&mut one, change(Some("first"))), Ok(Answer::Done)));
    let late = ask(&mut other, change(Some("second"))).unwrap_err();
    assert_eq!((late.kind, late.code), (Kind::Conflict, "token_exists"));
    assert!(matches!(ask(&mut other, change(Some("first"))), Ok(Answer::Already)), "its own answer was lost");
    assert_eq!(world.control().settings[&name("token/ann")].value["hash"], "first");
    assert!(matches!(ask(&mut other, change(None)), Ok(Answer::Done)));
    assert!(matches!(ask(&mut one, change(Some("second"))), Ok(Answer::Done)), "a name that is revoked is free");
}

#[test]
fn a_queue_that_the_settings_pause_is_paused_for_an_engine_that_comes_later() {
    for (paused, granted) in [(true, false), (false, true)] {
        let world = World::default();
        let key = name("queue/default");
        let change = SettingChanged { key, value: Some(json!({ "paused": paused })), by: name("ada"), why: None };
        ask(&mut world.engine(1), Command::ChangeSetting(change)).unwrap();
        let mut engine = world.engine(2);
        ask(&mut engine, start(FLOW)).unwrap();
        let actions = Arc::new([name("work")]);
        let claim = Claim { worker: "w".into(), actions, queues: None, max: 1, lease: Some(Millis(60_000)) };
        let step = engine.step(Time(1_600), vec![Request { command: Command::Claim(claim), reply: 2 }]).unwrap();
        let found = step
            .answers
            .iter()
            .any(|(_, answer)| matches!(answer, Ok(Answer::Granted { grants, .. }) if !grants.is_empty()));
        assert_eq!(found, granted, "paused: {paused}");
    }
}

#[test]
fn what_could_not_be_appended_never_happened() {
    for fault in [Fault::Refused, Fault::AnswerLost { landed: false }, Fault::DiskFull] {
        let world = World::default();
        let mut engine = world.engine(1);
        world.faults.fail_next(Op::Append, fault);
        assert!(ask(&mut engine, setting(1)).is_err(), "{fault:?}");
        assert_eq!(world.control(), Control::default());
        assert!(matches!(ask(&mut engine, setting(1)), Ok(Answer::Done)), "{fault:?}");
        assert_eq!(world.control().seq, 1);
    }
    let world = World::default();
    let mut engine = world.engine(1);
    world.faults.fail_next(Op::Append, Fault::AnswerLost { landed: true });
    assert!(matches!(ask(&mut engine, setting(1)), Ok(Answer::Done)), "read back from the heads");
    assert!(matches!(ask(&mut engine, setting(2)), Ok(Answer::Done)));
}

#[test]
fn rows_that_are_lost_or_wrong_are_found_and_made_anew() {
    let mut world = World::default();
    let mut engine = world.engine(1);
    ask(&mut engine, register(FLOW)).unwrap();
    ask(&mut engine, setting(1)).unwrap();
    world.flush(&mut engine);
    assert_eq!(world.findings(), []);
    let stream = Home::local().stream(RunId::CONTROL);
    world.rows.forget(&stream).unwrap();
    let codes = |found: Vec<Finding>| found.into_iter().map(|f| f.code).collect::<Vec<_>>();
    assert_eq!(codes(world.findings()), ["rows_missing"]);
    world.rows = MemoryProjections::default();
    rebuild(&mut world.ledger, &mut world.rows, &mut |_| Ok(())).unwrap();
    assert_eq!(world.rows.watermark().unwrap(), Position(2));
    assert_eq!(world.rows.control(&stream).unwrap().unwrap().applied_seq, 2);
    assert_eq!(world.findings(), []);
}

#[test]
fn damage_of_control_freezes_control_and_nothing_else() {
    let world = World::default();
    ask(&mut world.engine(1), setting(1)).unwrap();
    world.faults.fail_next(Op::Read, Fault::Damaged);
    let mut engine = world.engine(2);
    assert_eq!(ask(&mut engine, setting(2)).unwrap_err().code, "control_frozen");
    assert_eq!(ask(&mut engine, Command::Cancel(act())).unwrap_err().code, "run_not_found");
}

fn act() -> edgewise_engine::command::RunAct {
    edgewise_engine::command::RunAct { run: RunId(7), by: name("ada"), why: None }
}

#[test]
fn the_streams_of_a_workspace_are_no_runs() {
    let world = World::default();
    let mut engine = world.engine(1);
    ask(&mut engine, setting(1)).unwrap();
    for run in [RunId::CONTROL, RunId::WORK] {
        let cancel = edgewise_engine::command::RunAct { run, ..act() };
        assert_eq!(ask(&mut engine, Command::Cancel(cancel)).unwrap_err().code, "run_not_found");
    }
    let mut reader = Reader::over(Box::new(world.ledger.clone()), Box::new(world.rows.clone()), Home::local());
    assert_eq!(reader.find("zzzz").unwrap_err().code, "run_not_found");
    assert!(reader.runs(&edgewise_store::RunFilter { limit: 10, ..Default::default() }).unwrap().is_empty());
}
