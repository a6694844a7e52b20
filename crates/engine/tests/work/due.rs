//! What time brings, for whoever asks first after it.

use super::gates::start_flow;
use super::ground::{LEASE, NOW, add, needs};
use super::ground::{World, all, claim, depend, name, one, ready};
use edgewise_core::state::RunState;
use edgewise_core::time::Time;
use edgewise_core::work::{Add, DependencyKind, Filter, GateWait, ItemId, ItemKind, Op};
use edgewise_engine::command::{Answer, Command};
use edgewise_engine::committer::Request;
use edgewise_engine::work::{Look, Ops};
use serde_json::Value;

const LATER: Time = Time(10_000_000);

/// A gate that has opened, a claim that has run out, an instance that has gone; and nothing ran since.
fn left_alone() -> World {
    let mut world = World::default();
    let mut engine = world.engine(1);
    let wait = GateWait::Timer { wait_until: Time(50_000) };
    let gate = Op::MakeGate { id: None, wait, title: None, name: Some("gate".into()), approvals: vec![] };
    let instance = Op::Add(Box::new(Add {
        title: "for a while".into(),
        id: Some(ItemId::parse("ew-i").unwrap()),
        kind: ItemKind::Instance,
        ephemeral: Some(LEASE),
        ..Add::default()
    }));
    let wait = depend("ew-a", "$gate", DependencyKind::Awaits);
    let ops = vec![add("ew-a"), add("ew-b"), instance, add("ew-c"), needs("ew-c", "ew-a"), gate, wait, claim("ew-b")];
    all(&mut engine, "ada", ops).unwrap();
    world.flush(&mut engine);
    world
}

fn ids(seen: &Value) -> Vec<&str> {
    seen["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap()).collect()
}

#[test]
fn the_first_command_after_a_pause_is_decided_on_what_time_has_brought() {
    let world = left_alone();
    let mut engine = world.engine_at(2, LATER).unwrap();
    let op = Op::ClaimNext { filter: Box::default(), lease: LEASE };
    let asked = Ops { ops: vec![op], by: name("bob"), key: None };
    let step = engine.step(LATER, vec![Request { command: Command::Work(asked), reply: 1 }]).unwrap();
    let Ok(Answer::Worked(done)) = &step.answers[0].1 else { panic!("{:?}", step.answers[0].1) };
    assert_eq!(done[0].id.as_ref().map(ItemId::as_str), Some("ew-a"));
}

#[test]
fn whoever_looks_where_nothing_runs_sees_what_time_has_brought() {
    let world = left_alone();
    let every = Box::new(Filter { kinds: [ItemKind::Task, ItemKind::Instance].into(), ..Filter::default() });
    let looks = [
        Look::Ready { filter: Box::default(), who: None },
        Look::List { filter: every },
        Look::Blocked { filter: Box::default() },
        Look::Show { id: "ew-a".into() },
        Look::Show { id: "ew-b".into() },
        Look::Why { id: "ew-c".into() },
        Look::Stats,
    ];
    let before = world.reader().look(NOW, &looks[0]).unwrap();
    assert_eq!(ids(&before), [""; 0], "while all of it was to come");
    let alone: Vec<Value> = looks.iter().map(|look| world.reader().look(LATER, look).unwrap()).collect();
    assert_eq!(ids(&alone[0]), ["ew-a", "ew-b"]);
    assert_eq!(ready(&world.reader().work_at(LATER).unwrap(), LATER), ["ew-a", "ew-b"]);
    let mut engine = world.engine_at(2, LATER).unwrap();
    engine.step(LATER, vec![]).unwrap();
    for (look, alone) in looks.iter().zip(alone) {
        assert_eq!(alone, engine.look(LATER, look).unwrap(), "{look:?}");
    }
}

#[test]
fn whoever_has_an_item_is_given_another_one() {
    let world = World::default();
    let mut engine = world.engine(1);
    all(&mut engine, "ada", vec![add("ew-a"), add("ew-b")]).unwrap();
    let mut next = || {
        let op = Op::ClaimNext { filter: Box::default(), lease: LEASE };
        all(&mut engine, "bob", vec![op]).unwrap()[0].id.as_ref().map(ToString::to_string)
    };
    assert_eq!([next(), next(), next()], [Some("ew-a".to_owned()), Some("ew-b".to_owned()), None]);
}

#[test]
fn an_engine_is_not_idle_while_time_opens_a_gate_that_a_run_waits_for() {
    let world = World::default();
    let mut engine = world.engine(1);
    let (wait, id) = (GateWait::Timer { wait_until: Time(50_000) }, Some(ItemId::parse("ew-t").unwrap()));
    let gate = Op::MakeGate { wait, title: None, id, name: None, approvals: vec![] };
    let item = depend("ew-a", "ew-t", DependencyKind::Awaits);
    all(&mut engine, "ada", vec![gate, add("ew-a"), item]).unwrap();
    assert!(engine.is_idle(), "whom it opens for are people");
    let run = start_flow(&mut engine, "{ flow: f, tasks: { ok: { gate: { shared: ew-t } } } }", "f.yaml");
    assert!(!engine.is_idle(), "it moves the run");
    engine.step(Time(50_000), vec![]).unwrap();
    assert_eq!(world.reader().run(run).unwrap().state, RunState::Complete);
    assert!(engine.is_idle(), "and then nothing more");
}

#[test]
fn an_engine_is_not_idle_while_items_may_have_to_be_told_of_a_run() {
    let world = World::default();
    let mut engine = world.engine(1);
    let text = "{ flow: f, tasks: { ok: { gate: { approval: { from: [lead] } } } } }";
    let run = start_flow(&mut engine, text, "f.yaml").to_string();
    one(&mut engine, add("ew-a")).unwrap();
    one(&mut engine, depend("ew-a", &run, DependencyKind::Awaits)).unwrap();
    assert!(engine.is_idle());
    engine.sweep(NOW);
    assert!(!engine.is_idle(), "it was not looked at yet");
    engine.step(NOW, vec![]).unwrap();
    assert!(engine.is_idle());
}
