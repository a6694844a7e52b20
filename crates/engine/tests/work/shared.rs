//! Tasks of runs that open with a gate of the work graph, which others may wait for too.

use super::gates::{on_task, says, start_flow};
use super::ground::{Engine, NOW, World, act, add, all, ask, depend, name, one, ready};
use edgewise_core::id::RunId;
use edgewise_core::state::RunState;
use edgewise_core::time::Time;
use edgewise_core::work::{DependencyKind, GateWait, ItemId, Op};
use edgewise_engine::command::{Command, Rerun, RerunOf, RunAct};
use serde_json::json;

pub fn gate(id: &str) -> Op {
    let wait = GateWait::Approval { required_approvers: vec![], approval_count: Some(1) };
    Op::MakeGate { wait, title: None, id: Some(ItemId::parse(id).unwrap()), name: None, approvals: vec![] }
}

const FLOW: &str = "{ flow: f, tasks: { ok: { gate: { shared: ew-g } } }, output: '${{ tasks.ok.output.gate }}' }";

fn start(engine: &mut Engine) -> RunId {
    start_flow(engine, FLOW, "f.yaml")
}

fn state(world: &World, run: RunId) -> RunState {
    world.reader().run(run).unwrap().state
}

/// What the only task of a run failed with.
fn failure(world: &World, run: RunId) -> String {
    world.reader().run(run).unwrap().ending_failure().map(|failure| failure.kind).unwrap_or_default()
}

fn waiting(world: &World) -> Vec<String> {
    world.work().gate("ew-g").unwrap().tasks.iter().map(|task| format!("{}/{}", task.run, task.path)).collect()
}

#[test]
fn one_approval_opens_the_gates_of_many_runs_and_items_in_one_commit() {
    let mut world = World::default();
    let mut engine = world.engine(1);
    let wait = depend("ew-a", "ew-g", DependencyKind::Awaits);
    all(&mut engine, "ada", vec![gate("ew-g"), add("ew-a"), wait]).unwrap();
    let runs = [start(&mut engine), start(&mut engine)];
    assert_eq!(waiting(&world), runs.map(|run| format!("{run}/ok")));
    assert_eq!(runs.map(|run| state(&world, run)), [RunState::WaitingForDependencies; 2]);
    all(&mut engine, "ann", vec![Op::Approve(act("ew-g"))]).unwrap();
    assert_eq!(runs.map(|run| state(&world, run)), [RunState::Complete; 2]);
    assert_eq!(ready(&world.work(), NOW), ["ew-a"]);
    let output = world.reader().run(runs[0]).unwrap().final_output().unwrap();
    assert_eq!(output, json!("ew-g"));
    // Who comes later finds it open.
    let late = start(&mut engine);
    assert_eq!(state(&world, late), RunState::Complete);
    world.flush(&mut engine);
    assert_eq!(world.findings(), []);
}

#[test]
fn a_gate_that_is_rejected_or_not_there_fails_the_task_with_a_code_of_its_own() {
    let world = World::default();
    let mut engine = world.engine(1);
    let lost = start(&mut engine);
    assert_eq!((state(&world, lost), failure(&world, lost)), (RunState::Error, "gate_not_found".into()));
    one(&mut engine, gate("ew-g")).unwrap();
    let run = start(&mut engine);
    one(&mut engine, Op::Reject(act("ew-g"))).unwrap();
    assert_eq!((state(&world, run), failure(&world, run)), (RunState::Error, "rejected".into()));
    // Asked again it says the same again; the one that was not there is there now.
    for run in [run, lost] {
        ask(&mut engine, Command::Rerun(Rerun { run, from: RerunOf::Failure, by: name("ada"), why: None })).unwrap();
        assert_eq!((state(&world, run), failure(&world, run)), (RunState::Error, "rejected".into()));
    }
}

#[test]
fn a_deadline_is_the_tasks_own_and_the_gate_forgets_who_went_on() {
    for (on_deadline, end) in [("reject", RunState::Error), ("open", RunState::Complete)] {
        let world = World::default();
        let mut engine = world.engine(1);
        one(&mut engine, gate("ew-g")).unwrap();
        let text = format!(
            "{{ flow: f, tasks: {{ ok: {{ gate: {{ shared: ew-g, deadline: 1m, on_deadline: {on_deadline} }} }} }} }}"
        );
        let run = start_flow(&mut engine, &text, "f.yaml");
        assert_eq!(waiting(&world).len(), 1);
        engine.step(Time(100_000), vec![]).unwrap();
        assert_eq!(state(&world, run), end, "{on_deadline}");
        assert_eq!(waiting(&world), Vec::<String>::new(), "{on_deadline}");
        assert!(world.work().gate("ew-g").unwrap().ended.is_none(), "the gate itself is still asked");
    }
}

#[test]
fn what_people_do_to_the_task_is_told_to_the_gate_and_speaking_to_it_is_refused() {
    let world = World::default();
    let mut engine = world.engine(1);
    one(&mut engine, gate("ew-g")).unwrap();
    let run = start(&mut engine);
    for command in [Command::Approve(says(run, "ok")), Command::Reject(says(run, "ok"))] {
        assert_eq!(ask(&mut engine, command).unwrap_err().code, "shared_gate");
    }
    ask(&mut engine, Command::Skip(on_task(run, "ok"))).unwrap();
    assert_eq!(waiting(&world), Vec::<String>::new());
    let run = start(&mut engine);
    assert_eq!(waiting(&world), [format!("{run}/ok")]);
    ask(&mut engine, Command::Cancel(RunAct { run, by: name("ada"), why: None })).unwrap();
    assert_eq!(waiting(&world), Vec::<String>::new());
    assert!(world.reader().run(run).unwrap().disowned.is_empty());
}

#[test]
fn an_opening_by_an_engine_that_was_killed_before_it_told_is_told_by_the_next_one() {
    let mut world = World::default();
    let mut engine = world.engine(1);
    one(&mut engine, gate("ew-g")).unwrap();
    let run = start(&mut engine);
    world.flush(&mut engine);
    drop(engine);
    // One that has the graph and no word of the run: the gate opens, and nobody is told.
    let opened =
        edgewise_core::work::GateActed { gate: ItemId::parse("ew-g").unwrap(), by: name("ann"), comment: None };
    world.write_work(edgewise_core::work::WorkEvent::GateApproved(opened));
    assert_eq!(state(&world, run), RunState::WaitingForDependencies);
    let later = Time(5_000);
    let mut engine = world.engine_at(3, later).unwrap();
    engine.step(later, vec![]).unwrap();
    assert_eq!(state(&world, run), RunState::Complete);
}

#[test]
fn an_id_from_the_input_is_evaluated_when_the_gate_is_reached() {
    let world = World::default();
    let mut engine = world.engine(1);
    one(&mut engine, gate("ew-g")).unwrap();
    for (id, end) in [("'ew-' + string(1)", "gate_not_found"), ("1", "bad_gate"), ("'No ' + 'Gate'", "bad_gate")] {
        let text = format!("flow f():\n    wait shared({id})\n");
        let run = start_flow(&mut engine, &text, "f.flow");
        assert_eq!(failure(&world, run), end, "{id}");
    }
    let run = start_flow(&mut engine, "flow f():\n    x = wait shared(\"ew-\" + \"g\")\n    return x.by\n", "f.flow");
    all(&mut engine, "ann", vec![Op::Approve(act("ew-g"))]).unwrap();
    assert_eq!(world.reader().run(run).unwrap().final_output().unwrap(), json!("ann"));
}
