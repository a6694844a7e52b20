//! Why something is where it is, across runs and items: what is said, and who could move it.

use super::ground::{Engine, NOW, World, add, all, ask, close, depend, name, needs};
use edgewise_core::id::RunId;
use edgewise_core::time::Time;
use edgewise_core::work::{DependencyKind, Reason};
use edgewise_engine::command::{Answer, Claim, Command, Finish, LeaseRef, RunAct, Start};
use edgewise_engine::committer::Request;
use edgewise_engine::facts::why::Explained;
use edgewise_engine::queues::{QueueSettings, Queues};
use serde_json::value::RawValue;
use std::sync::Arc;

fn start(engine: &mut Engine, flow: &str) -> RunId {
    let plan = Arc::new(edgewise_core::flow::compile(flow, "f.yaml").unwrap().plan);
    let input = RawValue::from_string("{}".into()).unwrap();
    let start = Start { plan, children: vec![], input, by: name("ada"), key: None, labels: Default::default() };
    match ask(engine, Command::Start(start)).unwrap() {
        Answer::Started { run, .. } => run,
        other => panic!("{other:?}"),
    }
}

/// Somebody takes one task that waits.
fn take(engine: &mut Engine) -> LeaseRef {
    let actions = Arc::from([name("work")]);
    let claim = Claim { worker: "w".into(), actions, queues: None, max: 1, lease: None };
    let step = engine.step(NOW, vec![Request { command: Command::Claim(claim), reply: 1 }]).unwrap();
    let Some((_, Ok(Answer::Granted { grants, .. }))) = step.answers.into_iter().next() else { panic!("not granted") };
    grants[0].lease
}

fn explain(world: &World, run: RunId, set: &Queues) -> Explained {
    let mut reader = world.reader();
    let run = reader.run(run).unwrap();
    reader.explain(run, None, set, NOW).unwrap()
}

/// What is said of tasks and who moves them, with the short ids of runs replaced by letters.
fn said(explained: &Explained, runs: &[RunId]) -> Vec<String> {
    let clock = |at: Time| format!("t{}", at.0);
    let mut lines = Vec::new();
    for cause in &explained.why.causes {
        lines.push(format!("{}: {}", cause.path, cause.sentence(&clock)));
        lines.extend(cause.moved_by.iter().map(|mover| format!("  > {}", mover.sentence(&clock))));
    }
    lettered(lines, runs)
}

fn lettered(lines: Vec<String>, runs: &[RunId]) -> Vec<String> {
    let letters = |line: String| {
        runs.iter().zip('A'..).fold(line, |line, (run, letter)| {
            line.replace(&run.to_string(), &letter.to_string()).replace(&run.short(), &letter.to_string())
        })
    };
    lines.into_iter().map(letters).collect()
}

/// A tree of reasons: how deep, which, what, and what could be typed.
fn tree(reason: &Reason, depth: usize, lines: &mut Vec<String>) {
    let indent = "  ".repeat(depth);
    let mark = if reason.seen { " (seen)" } else { "" };
    lines.push(format!("{indent}{}{mark}: {}", reason.id.as_str(), reason.says));
    let typed = reason.help.iter().map(|help| help.command.as_deref().unwrap_or(&help.does));
    lines.extend(typed.map(|typed| format!("{indent}  > {typed}")));
    reason.because.iter().for_each(|inner| tree(inner, depth + 1, lines));
}

fn drawn(reason: &Reason, runs: &[RunId]) -> Vec<String> {
    let mut lines = Vec::new();
    tree(reason, 0, &mut lines);
    lettered(lines, runs)
}

/// One run has what it can get, then another one wants some too.
fn two(share: &str, set: QueueSettings, expected: &[&str]) {
    let flow = format!("{{ flow: build, tasks: {{ a: {{ action: work, {share} }} }} }}");
    let mut world = World::default();
    let mut engine = world.engine(1);
    let queues = Queues::from([(name("night"), set)]);
    let first = start(&mut engine, &flow);
    take(&mut engine);
    let second = start(&mut engine, &flow);
    world.flush(&mut engine);
    let explained = explain(&world, second, &queues);
    assert_eq!(said(&explained, &[first, second]), expected, "{share}");
    assert!(serde_json::to_value(&explained).is_ok());
}

#[test]
fn a_ready_task_says_which_slot_it_waits_for_and_who_holds_it() {
    let free = QueueSettings::default();
    let nobody = ["a: ready, waits for a worker that offers work, since t1500", "  > a worker that offers work"];
    let ends = "  > a of run A ends, by itself or by `edgewise task cancel A a`";
    two("retry: 1", free, &nobody);
    two("limit: { key: '\"db\"', max: 2 }", free, &nobody);
    two("limit: { key: '\"db\"', max: 1 }", free, &["a: ready, but key db is full, with 1 of 1 at work", ends]);
    let full = QueueSettings { slots: Some(1), ..free };
    two("queue: night", full, &["a: ready, but queue night is full, with 1 of 1 at work", ends]);
    two("queue: day", full, &nobody);
    let paused = QueueSettings { paused: true, ..free };
    let resumes = "  > edgewise queues resume night";
    two("queue: night", paused, &["a: ready, but queue night is paused", resumes]);
    let rate = ["a: ready, but key db lets 1/h begin, the next at t3601500", "  > at t3601500 the next one may begin"];
    two("limit: { key: '\"db\"', rate: 1/h }", free, &rate);
    let slow = QueueSettings { rate: Some(edgewise_core::rate::Rate::parse("1/m").unwrap()), ..free };
    let rate = ["a: ready, but queue night lets 1/m begin, the next at t61500", "  > at t61500 the next one may begin"];
    two("queue: night", slow, &rate);
    two(
        "queue: night, limit: { key: '\"db\"', max: 1 }",
        paused,
        &["a: ready, but queue night is paused and key db is full, with 1 of 1 at work", resumes, ends],
    );
}

#[test]
fn a_run_that_is_paused_waits_for_that_and_not_for_a_slot() {
    let flow = "{ flow: build, tasks: { a: { action: work, limit: { key: '\"db\"', max: 1 } } } }";
    let mut world = World::default();
    let mut engine = world.engine(1);
    start(&mut engine, flow);
    take(&mut engine);
    let second = start(&mut engine, flow);
    ask(&mut engine, Command::Pause(RunAct { run: second, by: name("ada"), why: Some("lunch".into()) })).unwrap();
    world.flush(&mut engine);
    let explained = explain(&world, second, &Queues::new());
    assert_eq!(said(&explained, &[second]), ["a: ready, but the run is paused", "  > edgewise resume A"]);
    assert_eq!(explained.why.paused_by.unwrap().why.as_deref(), Some("lunch"));
}

#[test]
fn from_an_item_reasons_go_on_into_the_run_it_awaits_and_from_there_into_items() {
    let world = World::default();
    let mut engine = world.engine(1);
    let run = start(&mut engine, "{ flow: build, tasks: { a: { action: work }, b: { item: Look at it } } }");
    let item = world.reader().run(run).map(|run| run.last_item(run.find("b").unwrap()).unwrap()).unwrap();
    let ops = vec![add("ew-a"), depend("ew-a", &run.to_string(), DependencyKind::Awaits)];
    all(&mut engine, "ada", ops).unwrap();
    all(&mut engine, "ada", vec![add("ew-first"), needs(item.as_str(), "ew-first")]).unwrap();
    let reason = world.reader().follow(world.work().why("ew-a", NOW), &Queues::new(), NOW).unwrap();
    let expected = [
        "ew-a: ew-a is blocked by 1 thing".to_owned(),
        "  A: run A of build has not ended: tasks are ready and wait to be taken".to_owned(),
        "    A/a: ready, waits for a worker that offers work, since 1970-01-01T00:00:01.500Z".to_owned(),
        "      > a worker that offers work".to_owned(),
        format!("    A/b: waits until item {item} is closed, which is blocked: Look at it"),
        format!("      {item}: {item} is blocked by 1 thing"),
        "        ew-first: ew-first is ready: somebody has to do it".to_owned(),
        "          > edgewise claim ew-first".to_owned(),
    ];
    assert_eq!(drawn(&reason, &[run]), expected);
}

#[test]
fn from_a_task_reasons_go_on_into_its_item_and_say_close_only_where_that_would_be_taken() {
    let world = World::default();
    let mut engine = world.engine(1);
    let run = start(&mut engine, "{ flow: build, tasks: { b: { item: Look at it } } }");
    let other = start(&mut engine, "{ flow: other, tasks: { a: { action: work } } }");
    let item = world.reader().run(run).map(|run| run.last_item(run.find("b").unwrap()).unwrap()).unwrap();
    let open = explain(&world, run, &Queues::new());
    let closes = [format!("b: waits until item {item} is closed: Look at it"), format!("  > edgewise close {item}")];
    assert_eq!(said(&open, &[run]), closes);
    let ops =
        vec![add("ew-a"), needs(item.as_str(), "ew-a"), depend("ew-a", &other.to_string(), DependencyKind::Awaits)];
    all(&mut engine, "ada", ops).unwrap();
    assert!(all(&mut engine, "ada", vec![close(item.as_str())]).is_err(), "a blocked item is not closed");
    let held = explain(&world, run, &Queues::new());
    let blocked = format!("b: waits until item {item} is closed, which is blocked: Look at it");
    assert_eq!(said(&held, &[run]), [blocked, format!("  > edgewise why {item}")]);
    let expected = [
        format!("{item}: {item} is blocked by 1 thing"),
        "  ew-a: ew-a is blocked by 1 thing".to_owned(),
        "    B: run B of other has not ended: tasks are ready and wait to be taken".to_owned(),
        "      B/a: ready, waits for a worker that offers work, since 1970-01-01T00:00:01.500Z".to_owned(),
        "        > a worker that offers work".to_owned(),
    ];
    assert_eq!(drawn(&held.items[0], &[run, other]), expected);
}

#[test]
fn what_comes_up_again_is_told_once_whichever_way_it_is_reached() {
    let world = World::default();
    let mut engine = world.engine(1);
    let run = start(&mut engine, "{ flow: build, tasks: { a: { action: work } } }");
    let awaits = |id: &str| depend(id, &run.to_string(), DependencyKind::Awaits);
    let ops = vec![add("ew-a"), add("ew-b"), add("ew-c"), awaits("ew-a"), awaits("ew-b")];
    all(&mut engine, "ada", [ops, vec![needs("ew-c", "ew-a"), needs("ew-c", "ew-b")]].concat()).unwrap();
    let reason = world.reader().follow(world.work().why("ew-c", NOW), &Queues::new(), NOW).unwrap();
    let lines = drawn(&reason, &[run]);
    assert_eq!(lines.iter().filter(|line| line.contains("A/a: ")).count(), 1, "{lines:?}");
    assert_eq!(lines.iter().filter(|line| line.contains("A (seen)")).count(), 1, "{lines:?}");
}

#[test]
fn an_awaited_run_that_ended_badly_can_be_run_again_or_no_longer_be_waited_for() {
    let world = World::default();
    let mut engine = world.engine(1);
    let run = start(&mut engine, "{ flow: build, tasks: { a: { action: work } } }");
    all(&mut engine, "ada", vec![add("ew-a"), depend("ew-a", &run.to_string(), DependencyKind::Awaits)]).unwrap();
    ask(&mut engine, Command::Cancel(RunAct { run, by: name("ada"), why: None })).unwrap();
    let reason = world.reader().follow(world.work().why("ew-a", NOW), &Queues::new(), NOW).unwrap();
    let lines = drawn(&reason, &[run]);
    assert_eq!(lines[2..], ["    > edgewise rerun A", "    > edgewise dep remove ew-a A"]);
}

#[test]
fn a_run_with_many_tasks_in_the_way_says_how_many_more_there_are() {
    let world = World::default();
    let mut engine = world.engine(1);
    let items: Vec<u32> = (0..25).collect();
    let flow = format!("{{ flow: build, tasks: {{ s: {{ each: {items:?}, as: n, action: work }} }} }}");
    let run = start(&mut engine, &flow);
    all(&mut engine, "ada", vec![add("ew-a"), depend("ew-a", &run.to_string(), DependencyKind::Awaits)]).unwrap();
    let reason = world.reader().follow(world.work().why("ew-a", NOW), &Queues::new(), NOW).unwrap();
    let inner = &reason.because[0];
    assert_eq!(inner.because.len(), 10);
    let last = inner.help.last().unwrap();
    assert_eq!(last.does, "ask on from here, where 15 more are behind");
    assert_eq!(last.command, Some(format!("edgewise why {}", run.short())));
}

#[test]
fn of_very_many_items_some_are_told_and_the_others_counted() {
    let world = World::default();
    let mut engine = world.engine(1);
    let all: Vec<u32> = (0..25).collect();
    let run = start(&mut engine, &format!("{{ flow: build, tasks: {{ s: {{ each: {all:?}, as: n, item: Look }} }} }}"));
    let explained = explain(&world, run, &Queues::new());
    assert_eq!((explained.items.len(), explained.more_items), (20, 5));
}

#[test]
fn a_slot_that_is_free_again_holds_nobody() {
    let flow = "{ flow: build, tasks: { a: { action: work, limit: { key: '\"db\"', max: 1 } } } }";
    let mut world = World::default();
    let mut engine = world.engine(1);
    start(&mut engine, flow);
    let lease = take(&mut engine);
    let second = start(&mut engine, flow);
    ask(&mut engine, Command::Complete(Arc::from([Finish { lease, outcome: Ok(None) }]))).unwrap();
    world.flush(&mut engine);
    let lines = said(&explain(&world, second, &Queues::new()), &[second]);
    assert_eq!(lines[0], "a: ready, waits for a worker that offers work, since t1500");
}
