//! Tasks that are done by items: made with the commit that makes the task ready, told with the commit that closes them.

use super::ground::{Engine, NOW, World, act, all, ask, close, depend, name, one, ready};
use edgewise_core::flow::{Found, Resolve, compile_file_with};
use edgewise_core::id::RunId;
use edgewise_core::plan::Plan;
use edgewise_core::state::{RunState, TaskState};
use edgewise_core::time::{Millis, Time};
use edgewise_core::why::{Because, Cause};
use edgewise_core::work::{Close, CloseOp, DependencyKind, Op, Status};
use edgewise_engine::command::{Answer, Command, RunAct, Start};
use serde_json::value::RawValue;
use std::sync::Arc;

const FLOW: &str = r#"
flow: release
inputs: { version: { type: string, default: "1.2" } }
tasks:
  review:
    item: { title: "Review ${{ inputs.version }}", description: Look at all of it., priority: 2, assignee: bob, tags: [release] }
    timeout: { overall: 1h }
  publish:
    after: [review]
    item: "Publish what ${{ tasks.review.output.closedBy }} has reviewed"
"#;

fn start(engine: &mut Engine) -> RunId {
    let plan = edgewise_core::flow::compile(FLOW, "f.yaml").unwrap_or_else(|e| panic!("{e:?}")).plan;
    begin(engine, plan, vec![])
}

fn begin(engine: &mut Engine, plan: Plan, children: Vec<Arc<Plan>>) -> RunId {
    let given = if plan.inputs.is_empty() { "{}" } else { "{\"version\":\"1.2\"}" };
    let input = RawValue::from_string(given.into()).unwrap();
    let (plan, by) = (Arc::new(plan), name("ada"));
    let start = Start { plan, children, input, by, key: None, labels: Default::default() };
    match ask(engine, Command::Start(start)).unwrap() {
        Answer::Started { run, .. } => run,
        other => panic!("{other:?}"),
    }
}

fn act_on(run: RunId) -> RunAct {
    RunAct { run, by: name("ada"), why: None }
}

fn state_of(world: &World, run: RunId, task: &str) -> TaskState {
    let run = world.reader().run(run).unwrap();
    run.task(run.find(task).unwrap()).unwrap().state
}

/// The only item that is ready.
fn the_item(world: &World) -> String {
    let found = ready(&world.work(), NOW);
    assert_eq!(found.len(), 1, "{found:?}");
    found[0].clone()
}

#[test]
fn a_task_waits_until_its_item_is_closed_and_what_follows_sees_who_did_it() {
    let mut world = World::default();
    let mut engine = world.engine(1);
    let run = start(&mut engine);
    let first = the_item(&world);
    let work = world.work();
    let item = work.item(&first).unwrap();
    assert_eq!((item.fields.title.as_str(), item.fields.priority), ("Review 1.2", 2));
    assert_eq!(item.fields.assignee, Some(name("bob")));
    assert_eq!(item.waiter.as_ref().unwrap().run, run);
    let waiting = world.reader().run(run).unwrap();
    let review = waiting.find("review").unwrap();
    let because = Cause::of(&waiting, review).because;
    assert!(matches!(&because, Because::Item { id, title, .. } if id.as_str() == first && title == "Review 1.2"));
    all(&mut engine, "bob", vec![close(&first)]).unwrap();
    assert_eq!(state_of(&world, run, "review"), TaskState::Complete);
    let second = the_item(&world);
    assert_eq!(world.work().item(&second).unwrap().fields.title, "Publish what bob has reviewed");
    one(&mut engine, close(&second)).unwrap();
    assert_eq!(world.reader().run(run).unwrap().state, RunState::Complete);
    world.flush(&mut engine);
    assert_eq!(world.findings(), []);
}

#[test]
fn a_program_makes_the_same_items_as_yaml_and_goes_on_alike() {
    const PROGRAM: &str = r#"
flow release(version = "1.2"):
    review = @item(title="Review " + version, description="Look at all of it.", priority=2, assignee="bob", tags=["release"]) [overall: 1h]
    @item(title="Publish what " + review.closedBy + " has reviewed")
"#;
    let made = |start: &dyn Fn(&mut Engine) -> RunId| {
        let world = World::default();
        let mut engine = world.engine(1);
        let run = start(&mut engine);
        let mut seen = Vec::new();
        for _ in 0..2 {
            let id = the_item(&world);
            seen.push(world.work().item(&id).unwrap().fields.clone());
            all(&mut engine, "bob", vec![close(&id)]).unwrap();
        }
        (seen, world.reader().run(run).unwrap().state)
    };
    let program = |engine: &mut Engine| {
        let plan = edgewise_core::text::compile(PROGRAM, "f.flow").unwrap_or_else(|e| panic!("{e}")).remove(0).plan;
        begin(engine, plan, vec![])
    };
    assert_eq!(made(&program), made(&start));
    assert_eq!(made(&start).1, RunState::Complete);
}

#[test]
fn an_item_that_ends_another_way_fails_its_task() {
    let close = |how| move |id: &str| Op::Close(CloseOp { id: id.into(), how, ..CloseOp::default() });
    let check = |end: &dyn Fn(&str) -> Op, kind: &str| {
        let world = World::default();
        let mut engine = world.engine(1);
        let run = start(&mut engine);
        let item = the_item(&world);
        one(&mut engine, end(&item)).unwrap();
        let ended = world.reader().run(run).unwrap();
        assert_eq!(ended.state, RunState::Error, "{kind}");
        let review = ended.find("review").unwrap();
        assert_eq!(ended.failure_of(review).unwrap().kind, kind);
    };
    check(&close(Close::Failed), "ItemFailed");
    check(&close(Close::Cancelled), "ItemCancelled");
    check(&|id| Op::Delete(act(id)), "ItemDeleted");
}

#[test]
fn a_task_that_is_not_wanted_any_more_cancels_its_item() {
    let mut world = World::default();
    let mut engine = world.engine(1);
    let run = start(&mut engine);
    let item = the_item(&world);
    ask(&mut engine, Command::Cancel(act_on(run))).unwrap();
    let work = world.work();
    let closed = work.item(&item).unwrap();
    assert_eq!(closed.status, Status::Closed);
    assert_eq!(closed.closed.as_ref().unwrap().how, Close::Cancelled);
    assert_eq!(world.reader().run(run).unwrap().state, RunState::Cancelled);
    world.flush(&mut engine);
    assert_eq!(world.findings(), []);
    // A bound on its time does the same.
    let late = start(&mut engine);
    let item = the_item(&world);
    let later = NOW.plus(Millis(3_600_000));
    while engine.step(later, vec![]).unwrap().more {}
    assert_eq!(state_of(&world, late, "review"), TaskState::Error);
    assert_eq!(world.work().item(&item).unwrap().status, Status::Closed);
}

#[test]
fn an_item_cannot_wait_for_the_run_whose_sub_run_made_it() {
    const OUTER: &str = "flow: outer\ntasks:\n  part: { flow: inner }\n";
    const INNER: &str = "flow: inner\ntasks:\n  ask: { item: Ask somebody }\n";
    struct Inner;
    impl Resolve for Inner {
        fn find(&mut self, _: &str, _: &str) -> Result<Option<Found>, String> {
            Ok(Some(Found::File { text: INNER.into(), file: "inner.yaml".into() }))
        }
    }
    let world = World::default();
    let mut engine = world.engine(1);
    let mut flows = compile_file_with(OUTER, "outer.yaml", &mut Inner).unwrap_or_else(|e| panic!("{e:?}"));
    let compiled = flows.remove(0);
    let run = begin(&mut engine, compiled.plan, compiled.children);
    let item = the_item(&world);
    let waiter = world.work().item(&item).unwrap().waiter.clone().unwrap();
    assert!(waiter.run != run && waiter.within == [run], "{waiter:?}");
    let refused = one(&mut engine, depend(&item, &run.to_string(), DependencyKind::Awaits)).unwrap_err();
    assert_eq!(refused.code, "cycle_detected");
    assert!(refused.message.contains(&format!("run {run} waits for run {}", waiter.run)), "{refused}");
    one(&mut engine, close(&item)).unwrap();
    assert_eq!(world.reader().run(run).unwrap().state, RunState::Complete);
}

#[test]
fn engines_that_come_and_go_make_each_item_once() {
    let mut world = World::default();
    let mut engine = world.engine(1);
    let paused = start(&mut engine);
    ask(&mut engine, Command::Pause(act_on(paused))).unwrap();
    let run = start(&mut engine);
    for seed in 2..6 {
        if seed % 2 == 0 {
            world.flush(&mut engine);
        }
        engine = world.engine_at(seed, Time(1_600)).unwrap();
        engine.step(Time(1_600), vec![]).unwrap();
        engine.sweep(Time(1_600));
        engine.step(Time(1_600), vec![]).unwrap();
        assert_eq!(world.work().len(), 2);
    }
    let waits = |item: &String| world.work().item(item).unwrap().waiter.as_ref().unwrap().run == run;
    let item = ready(&world.work(), NOW).into_iter().find(waits).unwrap();
    let mut other = world.engine_at(9, Time(1_700)).unwrap();
    one(&mut other, close(&item)).unwrap();
    assert_eq!(state_of(&world, run, "review"), TaskState::Complete);
    engine.step(Time(1_800), vec![]).unwrap();
    engine.sweep(Time(1_800));
    engine.step(Time(1_800), vec![]).unwrap();
    assert_eq!(world.work().len(), 3);
    assert_eq!(world.findings(), []);
}
