//! Tasks of runs that share a gate: many of them, in the order in which they came.

use crate::world::{World, id};
use edgewise_core::event::{LinkRef, TaskIx};
use edgewise_core::id::RunId;
use edgewise_core::work::{GateAwaited, GateWait, GateWaiter, Work, WorkEvent, WorkGate, scratch};

/// So many that looking through all of them for each would be felt.
const MANY: u32 = 10_000;
const RUN: RunId = RunId(7);

fn link(task: u32) -> LinkRef {
    LinkRef { task: TaskIx(task), generation: 1, attempt: 1 }
}

fn said(task: u32) -> GateAwaited {
    GateAwaited { gate: id("ew-g"), waiter: GateWaiter { run: RUN, path: format!("each[{task}]"), link: link(task) } }
}

fn order(work: &Work) -> Vec<u32> {
    work.gate("ew-g").unwrap().tasks.iter().map(|waiter| waiter.link.task.0).collect()
}

#[test]
fn a_gate_knows_each_of_many_tasks_and_shows_them_in_the_order_in_which_they_came() {
    let mut world = World::default();
    world.gate("ew-g", GateWait::Webhook).unwrap();
    // Not in the order of anything that they are called.
    let came: Vec<u32> = (0..MANY).map(|n| n * 7 % MANY).collect();
    came.iter().for_each(|task| world.fold(WorkEvent::GateAwaited(said(*task))).unwrap());
    assert_eq!(world.fold(WorkEvent::GateAwaited(said(5))).unwrap_err().code, "already_known");
    for task in came.iter().filter(|task| *task % 2 == 0) {
        world.fold(WorkEvent::GateLeft(said(*task))).unwrap();
    }
    assert_eq!(world.fold(WorkEvent::GateLeft(said(4))).unwrap_err().code, "already_known");
    world.fold(WorkEvent::GateAwaited(said(4))).unwrap();
    let left: Vec<u32> = came.iter().copied().filter(|task| task % 2 == 1).chain([4]).collect();
    let loaded = Work::from_rows(&world.work.rows()).unwrap();
    for work in [&world.work, &loaded] {
        assert_eq!(order(work), left);
        let (gate, waiter) = work.shared_gate(RUN, link(5)).unwrap();
        assert_eq!((gate.id.as_str(), waiter), ("ew-g", &said(5).waiter));
        assert!(work.shared_gate(RUN, link(6)).is_none() && work.shared_gate(RunId(8), link(5)).is_none());
        assert_eq!(scratch::disagreements(work), Vec::<String>::new());
    }
}

#[test]
fn who_waits_is_written_as_a_list_as_ever() {
    let mut world = World::default();
    world.gate("ew-g", GateWait::Webhook).unwrap();
    (0..3).for_each(|task| world.fold(WorkEvent::GateAwaited(said(task))).unwrap());
    world.fold(WorkEvent::GateLeft(said(0))).unwrap();
    let gate = world.work.gate("ew-g").unwrap();
    let text = serde_json::to_value(gate).unwrap();
    let paths: Vec<&str> =
        text["tasks"].as_array().unwrap().iter().map(|task| task["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["each[1]", "each[2]"]);
    let read: WorkGate = serde_json::from_value(text).unwrap();
    assert_eq!(&read, gate, "whoever left before");
}

#[test]
fn what_is_undone_is_found_where_it_was() {
    let mut world = World::default();
    world.gate("ew-g", GateWait::Webhook).unwrap();
    (0..3).for_each(|task| world.fold(WorkEvent::GateAwaited(said(task))).unwrap());
    world.work.remember();
    world.fold(WorkEvent::GateLeft(said(1))).unwrap();
    world.fold(WorkEvent::GateAwaited(said(3))).unwrap();
    assert!(world.work.undo());
    assert_eq!(order(&world.work), [0, 1, 2]);
    assert!(world.work.shared_gate(RUN, link(1)).is_some() && world.work.shared_gate(RUN, link(3)).is_none());
    assert_eq!(scratch::disagreements(&world.work), Vec::<String>::new());
}
