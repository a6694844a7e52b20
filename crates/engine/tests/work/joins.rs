//! Items that wait for runs: an end is told in the commit of the end, or as soon as somebody looks.

use super::ground::{Engine, NOW, World, add, all, ask, depend, depend_if, name, one, ready};
use edgewise_core::id::RunId;
use edgewise_core::time::Time;
use edgewise_core::work::{Add, DependencyKind, GateWait, ItemId, ItemKind, Op};
use edgewise_engine::command::{Answer, Claim, Command, Finish, Rerun, RerunOf, RunAct, Start};
use edgewise_engine::committer::Request;
use serde_json::value::RawValue;
use std::sync::Arc;

const FLOW: &str = "{ flow: build, tasks: { a: { action: work, retry: { max_attempts: 1 } } } }";

fn start(engine: &mut Engine) -> RunId {
    let plan = Arc::new(edgewise_core::flow::compile(FLOW, "f.yaml").unwrap().plan);
    let input = RawValue::from_string("{}".into()).unwrap();
    let start = Start { plan, children: vec![], input, by: name("ada"), key: None, labels: Default::default() };
    match ask(engine, Command::Start(start)).unwrap() {
        Answer::Started { run, .. } => run,
        other => panic!("{other:?}"),
    }
}

/// Has the only task of the only open run done.
fn finish(engine: &mut Engine) {
    let end = end(engine);
    ask(engine, end).unwrap();
}

/// What ends the only task of the only open run.
fn end(engine: &mut Engine) -> Command {
    let actions = Arc::from([name("work")]);
    let claim = Claim { worker: "w".into(), actions, queues: None, max: 1, lease: None };
    let step = engine.step(NOW, vec![Request { command: Command::Claim(claim), reply: 1 }]).unwrap();
    let Some((_, Ok(Answer::Granted { grants, .. }))) = step.answers.into_iter().next() else { panic!("not granted") };
    Command::Complete(Arc::from([Finish { lease: grants[0].lease, outcome: Ok(None) }]))
}

fn awaits(id: &str, run: RunId) -> Vec<Op> {
    vec![add(id), depend(id, &run.to_string(), DependencyKind::Awaits)]
}

#[test]
fn an_item_that_waits_for_a_run_is_ready_with_the_commit_that_ends_it() {
    let mut world = World::default();
    let mut engine = world.engine(1);
    let run = start(&mut engine);
    all(&mut engine, "ada", awaits("ew-a", run)).unwrap();
    assert_eq!(ready(&world.work(), NOW), Vec::<String>::new());
    finish(&mut engine);
    assert_eq!(ready(&world.work(), NOW), ["ew-a"]);
    // One that is made afterwards is told at once.
    let done = all(&mut engine, "ada", awaits("ew-b", run)).unwrap();
    assert!(done[1].blocked.is_empty());
    assert_eq!(ready(&world.work(), NOW), ["ew-a", "ew-b"]);
    world.flush(&mut engine);
    assert_eq!(world.findings(), []);
}

#[test]
fn a_run_that_ends_in_the_commit_that_freezes_it_is_told_in_that_commit() {
    let world = World::default();
    let mut engine = world.engine(1);
    let run = start(&mut engine);
    all(&mut engine, "ada", awaits("ew-a", run)).unwrap();
    let freeze = Command::Freeze(RunAct { run, by: name("ada"), why: None });
    let both = [end(&mut engine), freeze].map(|command| Request { command, reply: 1 });
    engine.step(NOW, both.into()).unwrap();
    assert_eq!(ready(&world.work(), NOW), ["ew-a"]);
    // And whoever comes to wait for it while it rests hears the same.
    all(&mut engine, "ada", awaits("ew-b", run)).unwrap();
    assert_eq!(ready(&world.work(), NOW), ["ew-a", "ew-b"]);
}

#[test]
fn an_item_that_waits_for_a_run_which_ended_before_anybody_waited_is_ready_at_once() {
    let world = World::default();
    let mut engine = world.engine(1);
    let run = start(&mut engine);
    finish(&mut engine);
    all(&mut engine, "ada", awaits("ew-a", run)).unwrap();
    assert_eq!(ready(&world.work(), NOW), ["ew-a"]);
}

#[test]
fn whoever_comes_to_wait_for_a_run_hears_of_an_end_that_another_engine_wrote() {
    let world = World::default();
    let (mut engine, mut other) = (world.engine(1), world.engine(2));
    let run = start(&mut engine);
    ask(&mut other, Command::ResolveRun(RunAct { run, by: name("ada"), why: None })).unwrap();
    all(&mut engine, "ada", awaits("ew-a", run)).unwrap();
    assert_eq!(ready(&world.work(), NOW), ["ew-a"], "the copy of the first engine is old");
}

#[test]
fn a_run_that_is_opened_again_blocks_again_and_a_cancelled_one_satisfies_nobody() {
    let world = World::default();
    let mut engine = world.engine(1);
    let run = start(&mut engine);
    all(&mut engine, "ada", awaits("ew-a", run)).unwrap();
    finish(&mut engine);
    let rerun = Rerun { run, from: RerunOf::Start, by: name("ada"), why: None };
    ask(&mut engine, Command::Rerun(rerun)).unwrap();
    assert_eq!(ready(&world.work(), NOW), Vec::<String>::new());
    ask(&mut engine, Command::Cancel(RunAct { run, by: name("ada"), why: None })).unwrap();
    let work = world.work();
    assert!(work.run_end(run).is_some() && work.is_blocked("ew-a"), "{:?}", work.blockers("ew-a"));
}

#[test]
fn an_end_that_an_engine_without_the_graph_recorded_is_told_at_the_next_start() {
    let mut world = World::default();
    let mut engine = world.engine(1);
    let run = start(&mut engine);
    // The item and the end, in the ledger, by engines that did not know of each other.
    let mut other = world.engine(2);
    all(&mut engine, "ada", awaits("ew-a", run)).unwrap();
    ask(&mut other, Command::ResolveRun(RunAct { run, by: name("ada"), why: None })).unwrap();
    world.flush(&mut engine);
    drop((engine, other));
    let mut engine = world.engine_at(3, Time(5_000)).unwrap();
    engine.step(Time(5_000), vec![]).unwrap();
    assert!(world.work().run_end(run).is_some());
}

#[test]
fn what_is_simply_needed_is_awaited_if_it_is_a_gate_or_a_run_and_blocks_otherwise() {
    let world = World::default();
    let mut engine = world.engine(1);
    let run = start(&mut engine).to_string();
    let gate = Op::MakeGate {
        wait: GateWait::Webhook,
        title: None,
        id: Some(ItemId::parse("ew-gate").unwrap()),
        name: Some("gate".into()),
        approvals: vec![],
    };
    let needs = ["ew-gate", &run, "ew-a", "https://x.org/7"].map(String::from).to_vec();
    let needing = Op::Add(Box::new(Add {
        title: "needing".into(),
        id: Some(ItemId::parse("ew-b").unwrap()),
        needs,
        ..Add::default()
    }));
    let ops = vec![
        add("ew-a"),
        gate,
        needing,
        add("ew-c"),
        depend_if("ew-c", "$gate", None),
        depend_if("ew-c", "ew-a", None),
    ];
    let done = all(&mut engine, "ada", ops).unwrap();
    assert_eq!(done[4].kind, Some(DependencyKind::Awaits));
    assert_eq!(done[5].kind, Some(DependencyKind::Blocks));
    let work = world.work();
    let kinds = |id: &str| {
        let mut kinds: Vec<_> =
            work.dependencies_of(id).iter().map(|one| (one.target.to_string(), one.kind.name())).collect();
        kinds.sort();
        kinds
    };
    let mut expected = [
        (run, "awaits"),
        ("ew-a".into(), "blocks"),
        ("ew-gate".into(), "awaits"),
        ("https://x.org/7".into(), "blocks"),
    ];
    expected.sort();
    assert_eq!(kinds("ew-b"), expected);
    assert_eq!(kinds("ew-c"), [("ew-a".into(), "blocks"), ("ew-gate".into(), "awaits")]);
}

#[test]
fn a_person_is_never_taken_for_an_item_or_a_run_that_begins_like_their_name() {
    let world = World::default();
    let mut engine = world.engine(1);
    let run = start(&mut engine).to_string();
    let entity = Add { title: "Eve".into(), kind: ItemKind::Entity, name: Some("eve".into()), ..Add::default() };
    let entity = Op::Add(Box::new(Add { id: Some(ItemId::parse("ew-eve").unwrap()), ..entity }));
    all(&mut engine, "ada", vec![add("ew-a"), add("ew-ann"), entity]).unwrap();
    let like_a_run = run.trim_start_matches(|c: char| !c.is_ascii_alphabetic()).to_owned();
    let names = ["ann", "ew-eve", &run[..run.len() - 1], &like_a_run];
    for on in names.into_iter().filter(|on| on.starts_with(|c: char| c.is_ascii_alphabetic())) {
        let done = one(&mut engine, depend("ew-a", on, DependencyKind::AuthoredBy)).unwrap();
        assert_eq!(done.target.unwrap().as_str(), on);
    }
    // Taken away again by just that name, whatever begins like it.
    let undepend = |kind| Op::Undepend { id: "ew-a".into(), on: Some("ann".into()), kind };
    assert_eq!(one(&mut engine, undepend(None)).unwrap().removed, 1);
    one(&mut engine, depend("ew-a", "ann", DependencyKind::Blocks)).unwrap();
    one(&mut engine, depend("ew-a", "ann", DependencyKind::ApprovedBy)).unwrap();
    assert_eq!(one(&mut engine, undepend(Some(DependencyKind::Blocks))).unwrap().target.unwrap().as_str(), "ew-ann");
    assert_eq!(one(&mut engine, undepend(Some(DependencyKind::ApprovedBy))).unwrap().target.unwrap().as_str(), "ann");
}
