//! Items that wait for runs: an end is told in the commit of the end, or as soon as somebody looks.

use super::ground::{Engine, NOW, World, add, all, ask, depend, name, ready};
use edgewise_core::id::RunId;
use edgewise_core::time::Time;
use edgewise_core::work::{DependencyKind, Op};
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
    let actions = Arc::from([name("work")]);
    let claim = Claim { worker: "w".into(), actions, queues: None, max: 1, lease: None };
    let step = engine.step(NOW, vec![Request { command: Command::Claim(claim), reply: 1 }]).unwrap();
    let Some((_, Ok(Answer::Granted { grants, .. }))) = step.answers.into_iter().next() else { panic!("not granted") };
    let finish = Finish { lease: grants[0].lease, outcome: Ok(None) };
    ask(engine, Command::Complete(Arc::from([finish]))).unwrap();
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
fn an_item_that_waits_for_a_run_which_ended_before_anybody_waited_is_ready_at_once() {
    let world = World::default();
    let mut engine = world.engine(1);
    let run = start(&mut engine);
    finish(&mut engine);
    all(&mut engine, "ada", awaits("ew-a", run)).unwrap();
    assert_eq!(ready(&world.work(), NOW), ["ew-a"]);
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
