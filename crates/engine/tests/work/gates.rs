//! Items that wait for a gate of a run: what becomes of it is told in the commit in which it does, or as soon as
//! somebody looks.

use super::ground::{Engine, NOW, World, add, all, ask, depend, depend_if, name, one, ready};
use edgewise_core::id::RunId;
use edgewise_core::time::{Millis, Time};
use edgewise_core::work::{Add, Depend, DependencyKind, ItemId, Obstacle, Op, RunGateEnd, When};
use edgewise_engine::command::{Answer, Claim, Command, Finish, GateAct, Rerun, RerunOf, RunAct, Start, TaskAct};
use edgewise_engine::committer::Request;
use edgewise_engine::retention::Removing;
use edgewise_engine::work::Ops;
use edgewise_store::faulty::Op::Read;
use serde_json::value::RawValue;
use std::sync::Arc;

/// A gate that is asked at once, one after it, one for each of two things, and a task that is none.
const FLOW: &str = "
flow: release
tasks:
  ok: { gate: { approval: { from: [lead] } } }
  late: { after: [ok], gate: { approval: { from: [lead] }, deadline: 1m } }
  build: { action: work }
  each: { after: [build], each: '[1, 2]', gate: { approval: { from: [lead] } } }
";

pub fn start_flow(engine: &mut Engine, text: &str, file: &str) -> RunId {
    let plan = match file.ends_with(".flow") {
        true => edgewise_core::text::compile(text, file).unwrap().remove(0).plan,
        false => edgewise_core::flow::compile(text, file).unwrap().plan,
    };
    let input = RawValue::from_string("{}".into()).unwrap();
    let plan = Arc::new(plan);
    let start = Start { plan, children: vec![], input, by: name("ada"), key: None, labels: Default::default() };
    match ask(engine, Command::Start(start)).unwrap() {
        Answer::Started { run, .. } => run,
        other => panic!("{other:?}"),
    }
}

fn start(engine: &mut Engine) -> RunId {
    start_flow(engine, FLOW, "f.yaml")
}

pub fn says(run: RunId, task: &str) -> GateAct {
    GateAct { run, task: task.into(), by: name("lead"), comment: None }
}

pub fn on_task(run: RunId, task: &str) -> TaskAct {
    TaskAct { run, task: task.into(), by: name("ada"), why: None }
}

fn awaits(id: &str, run: RunId, task: &str) -> Vec<Op> {
    vec![add(id), depend(id, &format!("{run}/{task}"), DependencyKind::Awaits)]
}

/// Has the task that is no gate done.
fn build(engine: &mut Engine) {
    let actions = Arc::from([name("work")]);
    let claim = Claim { worker: "w".into(), actions, queues: None, max: 1, lease: None };
    let step = engine.step(NOW, vec![Request { command: Command::Claim(claim), reply: 1 }]).unwrap();
    let Some((_, Ok(Answer::Granted { grants, .. }))) = step.answers.into_iter().next() else { panic!("not granted") };
    let finish = Finish { lease: grants[0].lease, outcome: Ok(None) };
    ask(engine, Command::Complete(Arc::from([finish]))).unwrap();
}

fn reason(world: &World, id: &str) -> Option<Obstacle> {
    world.work().blockers(id).first().map(|blocker| blocker.reason)
}

#[test]
fn an_item_is_ready_with_the_commit_that_opens_the_gate_and_one_that_comes_later_is_told_at_once() {
    let mut world = World::default();
    let mut engine = world.engine(1);
    let run = start(&mut engine);
    all(&mut engine, "ada", awaits("ew-a", run, "ok")).unwrap();
    assert_eq!(reason(&world, "ew-a"), Some(Obstacle::Gate));
    ask(&mut engine, Command::Approve(says(run, "ok"))).unwrap();
    assert_eq!(ready(&world.work(), NOW), ["ew-a"]);
    // Named by the beginning of the run's id, and as something that is simply needed.
    let needs = vec![format!("{}/ok", run.short())];
    let later = Add { title: "later".into(), id: Some(ItemId::parse("ew-b").unwrap()), needs, ..Add::default() };
    one(&mut engine, Op::Add(Box::new(later))).unwrap();
    let work = world.work();
    assert_eq!(ready(&work, NOW), ["ew-a", "ew-b"]);
    assert_eq!(work.dependencies_of("ew-b")[0].target.as_str(), format!("{run}/ok"));
    assert_eq!(work.dependencies_of("ew-b")[0].kind, DependencyKind::Awaits);
    world.flush(&mut engine);
    assert_eq!(world.findings(), []);
}

#[test]
fn whatever_else_becomes_of_the_gate_leaves_the_item_in_the_way_for_good() {
    type Act = fn(&mut Engine, RunId);
    let cases: [(&str, &str, RunGateEnd, Act); 6] = [
        ("rejected", "ok", RunGateEnd::Rejected, |engine, run| {
            ask(engine, Command::Reject(says(run, "ok"))).map(drop).unwrap();
        }),
        ("its deadline passed", "late", RunGateEnd::Rejected, |engine, run| {
            ask(engine, Command::Approve(says(run, "ok"))).unwrap();
            engine.step(Time(100_000), vec![]).unwrap();
        }),
        ("skipped", "ok", RunGateEnd::Missed, |engine, run| {
            ask(engine, Command::Skip(on_task(run, "ok"))).map(drop).unwrap();
        }),
        ("skipped with what is before it", "late", RunGateEnd::Missed, |engine, run| {
            ask(engine, Command::Skip(on_task(run, "ok"))).map(drop).unwrap();
        }),
        ("cancelled", "ok", RunGateEnd::Missed, |engine, run| {
            ask(engine, Command::CancelTask(on_task(run, "ok"))).map(drop).unwrap();
        }),
        ("the run ended without it", "each[7]", RunGateEnd::Missed, |engine, run| {
            ask(engine, Command::Cancel(RunAct { run, by: name("ada"), why: None })).map(drop).unwrap();
        }),
    ];
    for (what, task, end, act) in cases {
        let world = World::default();
        let mut engine = world.engine(1);
        let run = start(&mut engine);
        all(&mut engine, "ada", awaits("ew-a", run, task)).unwrap();
        act(&mut engine, run);
        assert_eq!(world.work().run_gate_end(run, task), Some(end), "{what}");
        assert_eq!(reason(&world, "ew-a"), Some(Obstacle::Unsatisfiable), "{what}");
    }
}

#[test]
fn who_waits_for_a_no_is_ready_when_it_is_said() {
    let world = World::default();
    let mut engine = world.engine(1);
    let run = start(&mut engine);
    let mut ops = awaits("ew-a", run, "ok");
    if let Op::Depend(depend) = &mut ops[1] {
        **depend = Depend { when: When::Failure, ..(**depend).clone() };
    }
    all(&mut engine, "ada", ops).unwrap();
    ask(&mut engine, Command::Reject(says(run, "ok"))).unwrap();
    assert_eq!(ready(&world.work(), NOW), ["ew-a"]);
}

#[test]
fn a_gate_of_an_item_of_a_spread_may_be_waited_for_before_it_is_there() {
    let world = World::default();
    let mut engine = world.engine(1);
    let run = start(&mut engine);
    all(&mut engine, "ada", awaits("ew-a", run, "each[1]")).unwrap();
    build(&mut engine);
    ask(&mut engine, Command::Approve(says(run, "each[0]"))).unwrap();
    assert_eq!(ready(&world.work(), NOW), Vec::<String>::new());
    ask(&mut engine, Command::Approve(says(run, "each[1]"))).unwrap();
    assert_eq!(ready(&world.work(), NOW), ["ew-a"]);
}

#[test]
fn a_busy_run_is_not_read_anew_with_each_commit_for_a_gate_that_is_not_there_yet() {
    let world = World::default();
    let mut engine = world.engine(1);
    let run = start(&mut engine);
    let act = || RunAct { run, by: name("ada"), why: None };
    let wait = Command::Work(Ops { ops: awaits("ew-a", run, "each[1]"), by: name("ada"), key: None });
    // Whenever somebody looks, something of the run is on its way.
    let both = [wait, Command::Pause(act())].map(|command| Request { command, reply: 1 });
    engine.step(NOW, both.into()).unwrap();
    let before = world.faults.count(Read);
    for _ in 0..5 {
        ask(&mut engine, Command::Resume(act())).unwrap();
        ask(&mut engine, Command::Pause(act())).unwrap();
    }
    assert_eq!(world.faults.count(Read), before);
    ask(&mut engine, Command::Resume(act())).unwrap();
    build(&mut engine);
    ask(&mut engine, Command::Approve(says(run, "each[1]"))).unwrap();
    assert_eq!(ready(&world.work(), NOW), ["ew-a"]);
}

#[test]
fn a_gate_that_asks_again_is_waited_for_again() {
    let world = World::default();
    let mut engine = world.engine(1);
    let run = start(&mut engine);
    all(&mut engine, "ada", awaits("ew-a", run, "ok")).unwrap();
    ask(&mut engine, Command::Reject(says(run, "ok"))).unwrap();
    assert_eq!(reason(&world, "ew-a"), Some(Obstacle::Unsatisfiable));
    let rerun = Rerun { run, from: RerunOf::Task("ok".into()), by: name("ada"), why: None };
    ask(&mut engine, Command::Rerun(rerun)).unwrap();
    assert_eq!(reason(&world, "ew-a"), Some(Obstacle::Gate));
    ask(&mut engine, Command::Approve(says(run, "ok"))).unwrap();
    assert_eq!(ready(&world.work(), NOW), ["ew-a"]);
}

#[test]
fn an_opening_that_an_engine_without_the_graph_recorded_is_told_by_the_next_sweep_and_at_the_next_start() {
    for restarted in [false, true] {
        let mut world = World::default();
        let mut engine = world.engine(1);
        let run = start(&mut engine);
        let mut other = world.engine(2);
        all(&mut engine, "ada", awaits("ew-a", run, "ok")).unwrap();
        ask(&mut other, Command::Approve(says(run, "ok"))).unwrap();
        assert_eq!(ready(&world.work(), NOW), Vec::<String>::new(), "only the run knows of it");
        world.flush(&mut engine);
        drop(other);
        let later = Time(500_000);
        if restarted {
            engine = world.engine_at(3, later).unwrap();
        }
        engine.step(later, vec![]).unwrap();
        engine.step(later, vec![]).unwrap();
        assert_eq!(ready(&world.work(), later), ["ew-a"], "restarted: {restarted}");
    }
}

#[test]
fn a_gate_of_a_round_is_told_although_the_round_is_over() {
    let mut world = World::default();
    let mut engine = world.engine(1);
    let text =
        "flow f():\n    for n in [1, 2]:\n        wait approval(from=[\"lead\"])\n    wait approval(from=[\"lead\"])\n";
    let run = start_flow(&mut engine, text, "f.flow");
    let gate = world.reader().run(run).map(|run| run.path(run.present().last().unwrap())).unwrap();
    assert!(gate.contains("#0"), "{gate}");
    all(&mut engine, "ada", awaits("ew-a", run, &gate)).unwrap();
    ask(&mut engine, Command::Approve(says(run, &gate))).unwrap();
    assert_eq!(ready(&world.work(), NOW), ["ew-a"], "the next round begins in the commit that ends this one");
    world.flush(&mut engine);
    all(&mut engine, "ada", awaits("ew-b", run, &gate)).unwrap();
    assert_eq!(ready(&world.work(), NOW), ["ew-a", "ew-b"]);
    drop(engine);
    let mut engine = world.engine(2);
    all(&mut engine, "ada", awaits("ew-c", run, &gate)).unwrap();
    assert_eq!(ready(&world.work(), NOW), ["ew-a", "ew-b", "ew-c"]);
}

#[test]
fn a_gate_of_a_round_that_ended_before_anybody_waited_is_read_off_the_ledger() {
    let mut world = World::default();
    let mut engine = world.engine(1);
    let text = "flow f():\n    for n in [1, 2]:\n        wait approval()\n";
    let run = start_flow(&mut engine, text, "f.flow");
    ask(&mut engine, Command::Approve(says(run, "for#0.approval"))).unwrap();
    world.flush(&mut engine);
    all(&mut engine, "ada", awaits("ew-a", run, "for#0.approval")).unwrap();
    all(&mut engine, "ada", awaits("ew-b", run, "for#1.approval")).unwrap();
    assert_eq!(ready(&world.work(), NOW), ["ew-a"]);
}

#[test]
fn a_run_that_was_taken_away_leaves_what_was_told_and_misses_the_rest() {
    let mut world = World::default();
    let mut engine = world.engine(1);
    let run = start(&mut engine);
    all(&mut engine, "ada", awaits("ew-a", run, "ok")).unwrap();
    ask(&mut engine, Command::Approve(says(run, "ok"))).unwrap();
    ask(&mut engine, Command::Cancel(RunAct { run, by: name("ada"), why: None })).unwrap();
    world.flush(&mut engine);
    let removing = Removing { runs: vec![run], keep_keys: Millis(1) };
    ask(&mut engine, Command::Remove(removing)).unwrap();
    assert_eq!(ready(&world.work(), NOW), ["ew-a"]);
    let error = all(&mut engine, "ada", awaits("ew-b", run, "ok")).unwrap_err();
    assert_eq!(error.code, "run_not_found", "{error}");
}

#[test]
fn what_is_no_gate_of_a_run_is_refused_and_says_what_to_wait_for_instead() {
    let world = World::default();
    let mut engine = world.engine(1);
    let run = start(&mut engine);
    one(&mut engine, add("ew-a")).unwrap();
    let awaits = Some(DependencyKind::Awaits);
    for (task, kind, code) in [
        ("build", None, "not_a_gate"),
        ("build", awaits, "not_a_gate"),
        ("nothing", awaits, "task_not_found"),
        ("ok[3]", awaits, "task_not_found"),
        ("ok", Some(DependencyKind::Blocks), "wrong_target"),
    ] {
        let error = one(&mut engine, depend_if("ew-a", &format!("{run}/{task}"), kind)).unwrap_err();
        assert_eq!(error.code, code, "{task}: {error}");
        assert!(code != "not_a_gate" || error.message.contains(&format!("awaits {run}")), "{error}");
    }
    let error = one(&mut engine, depend("ew-a", &format!("{}/ok", RunId(7)), DependencyKind::Awaits)).unwrap_err();
    assert_eq!(error.code, "run_not_found", "{error}");
    // What is outside may have a slash in its name, and to point to a task is no wait.
    one(&mut engine, depend_if("ew-a", "https://x.org/7", None)).unwrap();
    one(&mut engine, depend("ew-a", &format!("{run}/build"), DependencyKind::References)).unwrap();
}

#[test]
fn an_item_of_a_run_cannot_wait_for_a_gate_of_it() {
    let world = World::default();
    let mut engine = world.engine(1);
    let flow = "{ flow: f, tasks: { ask: { item: { title: do it } }, ok: { gate: { approval: {} } } } }";
    let run = start_flow(&mut engine, flow, "f.yaml");
    let item = world.work().items().next().unwrap().id.to_string();
    let error = one(&mut engine, depend(&item, &format!("{run}/ok"), DependencyKind::Awaits)).unwrap_err();
    assert_eq!(error.code, "cycle_detected", "{error}");
}
