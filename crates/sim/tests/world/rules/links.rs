//! Runs within runs: children begin and end in the commit of their cause, and nobody is left alone.

use edgewise_core::event::{Event, Failure, TaskIx};
use edgewise_core::id::RunId;
use edgewise_core::run::Run;
use edgewise_core::state::{RunState, TaskState};
use edgewise_core::time::Millis;
use edgewise_engine::command::{Answer, Command, Start};
use edgewise_sim::driver::{World, boom, finish_of};
use edgewise_sim::flows::{NESTED, composed};

const ONE: [&str; 2] = [
    "
flow: outer
tasks:
  sub: { flow: inner }
  z: { after: { sub: done }, action: work }
output: '${{ tasks.sub.output }}'
",
    "{ flow: inner, tasks: { i: { action: work, retry: 1 } } }",
];

fn start(world: &mut World, start: Start) -> RunId {
    match world.must(Command::Start(start)) {
        Answer::Started { run, new: true } => run,
        other => panic!("{other:?}"),
    }
}

/// The child that a task has now, or had last.
fn child<'w>(world: &'w World, run: RunId, path: &str) -> &'w Run {
    let parent = world.run(run);
    world.run(parent.last_child(parent.find(path).unwrap()).unwrap())
}

#[test]
fn a_child_begins_and_ends_in_the_commit_of_its_cause() {
    let mut world = World::new();
    let run = start(&mut world, composed(&ONE));
    assert_eq!(world.appends(), 1, "the child is there with its parent");
    let id = child(&world, run, "sub").id;
    let asked = world.run(id).parent.clone().unwrap();
    assert_eq!((asked.run, asked.path.as_str(), asked.depth), (run, "sub", 1));
    world.is(run, RunState::WaitingForDependencies);
    let grant = world.claim_one("w");
    let before = world.appends();
    world.report(grant.lease, Ok(())).unwrap();
    assert_eq!(world.appends(), before + 1);
    world.is(id, RunState::Complete);
    assert_eq!(world.task(run, "sub"), TaskState::Complete);
    assert_eq!(world.task(run, "z"), TaskState::Enqueued, "what follows is ready in the same commit");
}

#[test]
fn a_childs_failure_is_the_cause_of_its_tasks_failure() {
    let mut world = World::new();
    let run = start(&mut world, composed(&ONE));
    let grant = world.claim_one("w");
    world.report(grant.lease, Err(boom())).unwrap();
    let parent = world.run(run);
    let failure = parent.failure_of(TaskIx(0)).unwrap();
    assert_eq!(failure.kind, "SubRunFailed");
    assert_eq!(failure.cause.as_ref().unwrap().kind, boom().kind);
}

#[test]
fn every_attempt_is_a_child_of_its_own() {
    let flow = ONE[0].replace("flow: inner", "flow: inner, retry: { max_attempts: 2, jitter: 0 }");
    let mut world = World::new();
    let run = start(&mut world, composed(&[&flow, ONE[1]]));
    let first = child(&world, run, "sub").id;
    let grant = world.claim_one("w");
    world.report(grant.lease, Err(boom())).unwrap();
    assert_eq!(world.task(run, "sub"), TaskState::WaitingForRetry);
    world.pass(Millis(2_000));
    let second = child(&world, run, "sub").id;
    assert_ne!(first, second);
    let grant = world.claim_one("w");
    assert_eq!(grant.lease.run, second);
    world.report(grant.lease, Ok(())).unwrap();
    assert_eq!(world.task(run, "sub"), TaskState::Complete);
    world.is(first, RunState::Error);
}

#[test]
fn a_cancel_follows_down_in_the_same_commit() {
    let mut world = World::new();
    let run = start(&mut world, composed(&NESTED));
    let grant = world.claim_one("w");
    world.report(grant.lease, Ok(())).unwrap();
    let middle = child(&world, run, "sub").id;
    let inmost = child(&world, middle, "inner").id;
    let grant = world.claim_one("w");
    assert_eq!(grant.lease.run, inmost);
    let before = world.appends();
    world.must(Command::Cancel(world.act(run)));
    assert_eq!(world.appends(), before + 1);
    for run in [run, middle, inmost] {
        world.is(run, RunState::Cancelled);
        assert!(world.run(run).disowned.is_empty(), "everybody knows that it is over");
    }
    assert_eq!(world.revoked.len(), 1, "the worker is told to stop");
}

#[test]
fn a_child_that_was_frozen_when_it_was_let_go_of_is_cancelled_in_the_commit_in_which_it_goes_on() {
    let mut world = World::new();
    let run = start(&mut world, composed(&ONE));
    let id = child(&world, run, "sub").id;
    world.must(Command::Freeze(world.act(id)));
    world.must(Command::Cancel(world.act(run)));
    assert!(!world.run(id).state.is_done(), "what is frozen rests");
    let before = world.appends();
    world.must(Command::Unfreeze(world.act(id)));
    assert_eq!(world.appends(), before + 1);
    world.is(id, RunState::Cancelled);
    assert!(world.run(run).disowned.is_empty(), "and whoever let go of it knows");
}

#[test]
fn a_child_that_another_engine_let_go_on_is_cancelled_in_the_same_commit_too() {
    let mut one = World::new();
    let run = start(&mut one, composed(&ONE));
    let id = child(&one, run, "sub").id;
    one.must(Command::Freeze(one.act(id)));
    let mut other = World::over(&one);
    other.must(Command::Unfreeze(other.act(id)));
    let before = one.appends();
    one.must(Command::Cancel(one.act(run)));
    assert_eq!(one.appends(), before + 1);
    one.is(id, RunState::Cancelled);
}

/// A run with its child, and what ends the child.
fn about_to_end(world: &mut World) -> (RunId, RunId, Command) {
    let run = start(world, composed(&ONE));
    let grant = world.claim_one("w");
    (run, grant.lease.run, finish_of(grant.lease, Ok(())))
}

#[test]
fn a_child_that_ends_in_the_commit_that_freezes_it_is_told_in_that_commit() {
    let mut world = World::new();
    let (run, id, end) = about_to_end(&mut world);
    let before = world.appends();
    world.send(vec![end, Command::Freeze(world.act(id))]);
    assert_eq!(world.appends(), before + 1);
    world.is(id, RunState::Complete);
    assert!(world.run(id).frozen.is_some());
    assert_eq!(world.task(run, "sub"), TaskState::Complete, "telling a run moves nothing of its child");
}

#[test]
fn a_child_that_is_over_and_frozen_is_told_to_whoever_let_go_of_it() {
    let mut world = World::new();
    let (run, id, end) = about_to_end(&mut world);
    world.send(vec![end, Command::Freeze(world.act(id)), Command::Cancel(world.act(run))]);
    world.is(run, RunState::Cancelled);
    assert!(world.run(run).disowned.is_empty(), "{:?}", world.run(run).disowned);
}

#[test]
fn a_run_that_was_frozen_hears_of_a_child_that_ended_and_was_frozen_meanwhile() {
    for crash in [false, true] {
        let mut world = World::new();
        let (run, id, end) = about_to_end(&mut world);
        world.must(Command::Freeze(world.act(run)));
        world.must(end);
        world.must(Command::Freeze(world.act(id)));
        if crash {
            world.flush();
            world.crash();
        }
        assert_eq!(world.task(run, "sub"), TaskState::InProgress, "what is frozen hears of nothing");
        world.must(Command::Unfreeze(world.act(run)));
        world.settle();
        assert_eq!(world.task(run, "sub"), TaskState::Complete);
    }
}

#[test]
fn a_child_that_somebody_cancels_fails_its_task_for_good() {
    let flow = ONE[0].replace("flow: inner", "flow: inner, retry: 3");
    let mut world = World::new();
    let run = start(&mut world, composed(&[&flow, ONE[1]]));
    let id = child(&world, run, "sub").id;
    world.must(Command::Cancel(world.act(id)));
    assert_eq!(world.task(run, "sub"), TaskState::Error);
    assert_eq!(world.run(run).failure_of(TaskIx(0)).unwrap().kind, "SubRunCancelled");
}

#[test]
fn a_child_that_takes_too_long_is_cancelled_and_made_anew() {
    let policy = "flow: inner, timeout: 5s, retry: { max_attempts: 2, backoff: { kind: fixed, base: 1s }, jitter: 0 }";
    let mut world = World::new();
    let run = start(&mut world, composed(&[&ONE[0].replace("flow: inner", policy), ONE[1]]));
    let first = child(&world, run, "sub").id;
    world.pass(Millis(5_500));
    world.is(first, RunState::Cancelled);
    assert_eq!(world.task(run, "sub"), TaskState::WaitingForRetry);
    world.pass(Millis(1_000));
    assert_eq!(world.task(run, "sub"), TaskState::InProgress);
    world.is(child(&world, run, "sub").id, RunState::EnqueuingTasks);
    world.pass(Millis(5_500));
    assert_eq!(world.run(run).failure_of(TaskIx(0)).map(|f| f.kind.as_str()), Some("timeout"));
}

#[test]
fn nothing_of_a_paused_run_begins_until_it_is_resumed() {
    let mut world = World::new();
    let run = start(&mut world, composed(&NESTED));
    let grant = world.claim_one("w");
    world.must(Command::Pause(world.act(run)));
    world.report(grant.lease, Ok(())).unwrap();
    world.settle();
    assert_eq!(world.witness.books.len(), 1, "no child yet");
    world.must(Command::Resume(world.act(run)));
    assert_eq!(world.witness.books.len(), 3, "the child and its child");
}

#[test]
fn what_the_flow_does_not_take_fails_the_task_without_a_child() {
    let flow = "{ flow: outer, tasks: { sub: { flow: inner, with: { n: '${{ inputs.list }}' } } }, inputs: { list: { default: [1] } } }";
    let inner = "{ flow: inner, inputs: { n: { type: integer } }, tasks: { i: { action: work } } }";
    let mut world = World::new();
    let mut given = composed(&[flow, inner]);
    given.input = serde_json::value::RawValue::from_string(r#"{"list":[1]}"#.into()).unwrap();
    let run = start(&mut world, given);
    let failure = world.run(run).failure_of(TaskIx(0)).cloned();
    assert!(matches!(failure, Some(Failure { kind, message, .. }) if kind == "bad_input" && message.contains("`n`")));
    assert_eq!(world.witness.books.len(), 1);
}

#[test]
fn very_many_children_are_made_a_commit_at_a_time() {
    let flow = "
flow: outer
inputs: { list: { type: list } }
tasks:
  sub: { each: inputs.list, flow: inner }
";
    let inner = "{ flow: inner, tasks: { i: { gate: { timer: 1s } } } }";
    let mut world = World::unwatched();
    let mut given = composed(&[flow, inner]);
    let list: Vec<u32> = (0..5_000).collect();
    given.input = serde_json::value::RawValue::from_string(serde_json::json!({ "list": list }).to_string()).unwrap();
    let run = start(&mut world, given);
    world.settle();
    assert!((4..20).contains(&world.appends()), "{} appends", world.appends());
    world.crash();
    world.pass(Millis(3_000));
    world.settle();
    let mut reader = world.reader();
    assert_eq!(reader.run(run).unwrap().state, RunState::Complete);
}

#[test]
fn very_many_children_are_cancelled_a_commit_at_a_time_also_by_the_next_engine() {
    let flow = "{ flow: outer, inputs: { list: { type: list } }, tasks: { sub: { each: inputs.list, flow: inner } } }";
    let inner = "{ flow: inner, tasks: { i: { gate: { timer: 1h } } } }";
    let mut world = World::unwatched();
    let mut given = composed(&[flow, inner]);
    let list: Vec<u32> = (0..2_500).collect();
    given.input = serde_json::value::RawValue::from_string(serde_json::json!({ "list": list }).to_string()).unwrap();
    let run = start(&mut world, given);
    world.settle();
    world.flush();
    world.send(vec![Command::Cancel(world.act(run))]);
    let cancelled = |world: &World| {
        let mut reader = world.reader();
        let mut ids = (1..=2_500).map(|task| RunId::child(run, task, 1, 1));
        ids.by_ref().filter(|id| reader.run(*id).unwrap().state == RunState::Cancelled).count()
    };
    assert_eq!(cancelled(&world), 1_000, "as many as one commit may end");
    world.flush();
    world.crash();
    world.settle();
    let parent = world.reader().run(run).unwrap();
    assert!(parent.disowned.is_empty());
    assert_eq!(cancelled(&world), 2_500);
}

#[test]
fn the_sweep_finds_links_that_were_forgotten() {
    let mut world = World::new();
    let run = start(&mut world, composed(&ONE));
    let id = child(&world, run, "sub").id;
    world.flush();
    world.crash();
    world.settle();
    let grant = world.claim_one("w");
    assert_eq!(grant.lease.run, id, "the child goes on after a crash");
    world.report(grant.lease, Ok(())).unwrap();
    assert_eq!(world.task(run, "sub"), TaskState::Complete);
    let told = |e: &Event| matches!(e, Event::LinkResolved(_));
    assert_eq!(world.witness.books[&run].entries.iter().filter(|entry| told(&entry.event)).count(), 1);
}
