//! A rerun from failure goes down into the runs that failed: each goes on from its own failure, and does nothing twice.

use edgewise_core::event::{Event, Failure, RerunFrom};
use edgewise_core::id::RunId;
use edgewise_core::state::{RunState, TaskState};
use edgewise_core::time::Millis;
use edgewise_engine::command::{Answer, Command, Rerun, RerunOf, Start, TaskAct};
use edgewise_engine::retention::Removing;
use edgewise_sim::driver::{World, boom, name};
use edgewise_sim::flows::{MENDED, composed};

const ONE: [&str; 2] = [
    "{ flow: outer, tasks: { sub: { flow: inner }, z: { after: sub, action: work } } }",
    "{ flow: inner, tasks: { i: { action: work, retry: 1 }, j: { after: i, action: work, retry: 1 } } }",
];

fn start(world: &mut World, start: Start) -> RunId {
    match world.must(Command::Start(start)) {
        Answer::Started { run, new: true } => run,
        other => panic!("{other:?}"),
    }
}

fn rerun(world: &mut World, run: RunId, from: RerunOf) {
    let asked = Rerun { run, from, by: name("op"), why: Some("mended".into()) };
    assert!(matches!(world.must(Command::Rerun(asked)), Answer::Reopened(_)));
}

fn do_one(world: &mut World, outcome: Result<(), Failure>) -> String {
    let grant = world.claim_one("w");
    world.report(grant.lease, outcome).unwrap();
    grant.path
}

fn child(world: &World, run: RunId, path: &str) -> RunId {
    let parent = world.run(run);
    parent.last_child(parent.find(path).unwrap()).unwrap()
}

/// A run of [`ONE`] whose child failed at its second task, and that child.
fn failed(world: &mut World) -> (RunId, RunId) {
    let run = start(world, composed(&ONE));
    do_one(world, Ok(()));
    do_one(world, Err(boom()));
    world.is(run, RunState::Error);
    (run, child(world, run, "sub"))
}

fn reruns(world: &World, run: RunId) -> Vec<(RerunFrom, String, Option<String>)> {
    let said = world.witness.books[&run].entries.iter().filter_map(|entry| match &entry.event {
        Event::RunRerunRequested(e) => Some((e.from, e.by.to_string(), e.why.clone())),
        _ => None,
    });
    said.collect()
}

#[test]
fn every_run_goes_on_from_its_failure_in_one_commit() {
    let mut world = World::new();
    let run = start(&mut world, composed(&MENDED));
    let paths: Vec<String> = (0..3).map(|_| do_one(&mut world, Ok(()))).collect();
    assert_eq!(paths, ["a", "x", "i"]);
    do_one(&mut world, Err(Failure::permanent("broken", "no")));
    let middle = child(&world, run, "sub");
    let inmost = child(&world, middle, "inner");
    let before = world.appends();
    rerun(&mut world, run, RerunOf::Failure);
    assert_eq!(world.appends(), before + 1);
    assert_eq!((child(&world, run, "sub"), child(&world, middle, "inner")), (middle, inmost), "the same runs");
    for below in [middle, inmost] {
        assert_eq!(reruns(&world, below), [(RerunFrom::Failure, "op".into(), Some("mended".into()))]);
    }
    let paths: Vec<String> = (0..3).map(|_| do_one(&mut world, Ok(()))).collect();
    assert_eq!(paths, ["j", "y", "z"], "nothing is done twice");
    for run in [run, middle, inmost] {
        world.is(run, RunState::Complete);
    }
    world.witness.close().unwrap();
}

#[test]
fn a_child_that_fails_again_is_told_and_can_go_on_again() {
    let mut world = World::new();
    let (run, id) = failed(&mut world);
    rerun(&mut world, run, RerunOf::Failure);
    assert_eq!(do_one(&mut world, Err(boom())), "j");
    world.is(run, RunState::Error);
    world.flush();
    world.crash();
    rerun(&mut world, run, RerunOf::Failure);
    assert_eq!(child(&world, run, "sub"), id);
    assert_eq!(do_one(&mut world, Ok(())), "j");
    assert_eq!(do_one(&mut world, Ok(())), "z");
    world.is(run, RunState::Complete);
    world.witness.close().unwrap();
}

#[test]
fn one_task_or_the_whole_run_is_done_by_a_new_child() {
    for from in [RerunOf::Task("sub".into()), RerunOf::Start] {
        let mut world = World::new();
        let (run, id) = failed(&mut world);
        rerun(&mut world, run, from);
        assert_ne!(child(&world, run, "sub"), id);
        assert_eq!(do_one(&mut world, Ok(())), "i");
        world.is(id, RunState::Error);
    }
}

#[test]
fn a_child_that_was_mended_by_itself_is_taken_as_it_is() {
    let mut world = World::new();
    let (run, id) = failed(&mut world);
    rerun(&mut world, id, RerunOf::Failure);
    do_one(&mut world, Ok(()));
    world.is(id, RunState::Complete);
    world.is(run, RunState::Error);
    rerun(&mut world, run, RerunOf::Failure);
    assert_eq!(world.task(run, "sub"), TaskState::Complete, "in the same commit");
    assert_eq!(reruns(&world, id).len(), 1, "only by itself");
}

#[test]
fn a_child_that_goes_on_by_itself_is_waited_for() {
    let mut world = World::new();
    let (run, id) = failed(&mut world);
    rerun(&mut world, id, RerunOf::Failure);
    rerun(&mut world, run, RerunOf::Failure);
    assert_eq!(world.task(run, "sub"), TaskState::InProgress);
    do_one(&mut world, Ok(()));
    assert_eq!(world.task(run, "sub"), TaskState::Complete);
    assert_eq!(reruns(&world, id).len(), 1);
}

#[test]
fn a_child_that_was_cancelled_meanwhile_fails_its_task() {
    let mut world = World::new();
    let (run, id) = failed(&mut world);
    rerun(&mut world, id, RerunOf::Failure);
    world.must(Command::Cancel(world.act(id)));
    rerun(&mut world, run, RerunOf::Failure);
    let parent = world.run(run);
    assert_eq!(parent.failure_of(parent.find("sub").unwrap()).unwrap().kind, "SubRunCancelled");
    rerun(&mut world, run, RerunOf::Failure);
    assert_ne!(child(&world, run, "sub"), id, "it did not fail: another one is made");
}

#[test]
fn a_program_that_raised_something_itself_goes_on_from_its_beginning() {
    let inner = "flow inner():\n    @work()\n    raise Bad(\"no\")\n";
    let mut world = World::new();
    let run = start(&mut world, composed(&[ONE[0], inner]));
    do_one(&mut world, Ok(()));
    world.is(run, RunState::Error);
    let id = child(&world, run, "sub");
    rerun(&mut world, run, RerunOf::Failure);
    assert_eq!(child(&world, run, "sub"), id);
    assert_eq!(reruns(&world, id)[0].0, RerunFrom::Start);
    world.is(id, RunState::EnqueuingTasks);
}

#[test]
fn a_child_that_is_not_wanted_any_more_is_cancelled_though_it_went_on() {
    let mut world = World::new();
    let (run, id) = failed(&mut world);
    rerun(&mut world, run, RerunOf::Failure);
    world.must(Command::Cancel(world.act(run)));
    world.is(id, RunState::Cancelled);
    assert!(world.run(run).disowned.is_empty());
    world.witness.close().unwrap();
}

#[test]
fn what_follows_something_that_is_done_again_is_done_by_a_new_child() {
    let outer = "{ flow: outer, defaults: { retry: 1 }, tasks: { a: { action: work }, \
                 sub: { after: { a: done }, flow: inner } } }";
    let mut world = World::new();
    let run = start(&mut world, composed(&[outer, ONE[1]]));
    do_one(&mut world, Err(boom()));
    do_one(&mut world, Err(boom()));
    world.is(run, RunState::Error);
    let id = child(&world, run, "sub");
    rerun(&mut world, run, RerunOf::Failure);
    do_one(&mut world, Ok(()));
    assert_ne!(child(&world, run, "sub"), id, "it may be given something else");
}

#[test]
fn a_child_that_was_taken_away_is_replaced_by_a_new_one() {
    let mut world = World::new();
    let (run, id) = failed(&mut world);
    world.flush();
    world.witness.rests = true;
    world.must(Command::Remove(Removing { runs: vec![id], keep_keys: Millis(0) }));
    rerun(&mut world, run, RerunOf::Failure);
    world.settle();
    let paths: Vec<String> = (0..3).map(|_| do_one(&mut world, Ok(()))).collect();
    assert_eq!(paths, ["i", "j", "z"]);
    let parent = world.reader().run(run).unwrap();
    assert_eq!(parent.state, RunState::Complete);
    assert_ne!(parent.last_child(parent.find("sub").unwrap()).unwrap(), id);
}

#[test]
fn nothing_goes_on_below_a_run_that_is_paused() {
    let outer = "{ flow: outer, on_failure: continue, tasks: { sub: { flow: inner }, y: { action: work } } }";
    let mut world = World::new();
    let run = start(&mut world, composed(&[outer, ONE[1]]));
    world.must(Command::Claim(edgewise_sim::driver::claim_of("w", &["work"], 2)));
    let (mut at, grants) = (Vec::new(), world.take());
    for grant in grants {
        if grant.lease.run == run { at.push(grant.lease) } else { world.report(grant.lease, Err(boom())).unwrap() }
    }
    let id = child(&world, run, "sub");
    world.must(Command::Pause(world.act(run)));
    world.report(at[0], Ok(())).unwrap();
    world.is(run, RunState::Error);
    rerun(&mut world, run, RerunOf::Failure);
    world.settle();
    world.is(id, RunState::Error);
    world.must(Command::Resume(world.act(run)));
    world.is(id, RunState::EnqueuingTasks);
}

#[test]
fn two_engines_that_see_to_it_at_once_rerun_a_child_once() {
    let mut one = World::new();
    let (run, id) = failed(&mut one);
    one.flush();
    let mut other = World::over(&one);
    for at in [run, id] {
        let _ = other.ask(Command::Wait(at));
    }
    rerun(&mut one, run, RerunOf::Failure);
    let asked = Rerun { run, from: RerunOf::Failure, by: name("eve"), why: None };
    assert!(matches!(other.ask(Command::Rerun(asked)), Some(Err(_))), "nothing of it has failed any more");
    other.settle();
    assert_eq!(do_one(&mut other, Ok(())), "j");
    assert_eq!(do_one(&mut one, Ok(())), "z");
    one.settle();
    one.is(run, RunState::Complete);
    assert_eq!(reruns(&one, id).len(), 1);
}

#[test]
fn a_task_that_lets_go_of_a_child_which_was_never_its_own_says_no_state_that_is_no_end() {
    let mut world = World::new();
    let run = start(&mut world, composed(&ONE));
    do_one(&mut world, Ok(()));
    let act = world.act(run);
    world.must(Command::Pause(act));
    do_one(&mut world, Err(boom()));
    let inner = child(&world, run, "sub");
    rerun(&mut world, run, RerunOf::Failure);
    rerun(&mut world, inner, RerunOf::Failure);
    let by = TaskAct { run, task: "sub".into(), by: name("op"), why: None };
    world.must(Command::CancelTask(by));
    world.settle();
    let told = world.witness.books[&run].entries.iter().filter_map(|entry| match &entry.event {
        Event::LinkResolved(e) => Some(e.state),
        _ => None,
    });
    assert_eq!(told.collect::<Vec<_>>(), [RunState::Error, RunState::Cancelled]);
    do_one(&mut world, Ok(()));
    world.is(inner, RunState::Complete);
}
