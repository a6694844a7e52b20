use super::*;
use crate::command::{Answer, Claim, Finish, Start};
use crate::desk::Home;
use crate::entropy::Entropy;
use crate::leases::Leases;
use crate::{enqueue, request};
use edgewise_core::event::Failure;
use edgewise_core::name::Name;
use edgewise_core::plan::Plan;
use edgewise_core::state::RunState;
use edgewise_core::time::{Millis, Time};
use edgewise_store::memory::{MemoryLedger, MemoryProjections};
use serde_json::value::RawValue;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A desk with one run of a ready task and a closed gate.
fn desk() -> (Desk, RunId) {
    begun("{ flow: f, tasks: { a: { action: work }, g: { gate: { timer: 1h } } } }")
}

/// A desk with one run of a flow.
fn begun(flow: &str) -> (Desk, RunId) {
    begun_plan(edgewise_core::flow::compile(flow, "f.yaml").unwrap().plan)
}

fn begun_plan(plan: Plan) -> (Desk, RunId) {
    let name = |text: &str| Name::parse(text).unwrap();
    let home = Home { tenant: name("t"), workspace: name("w") };
    let (ledger, rows) = (Box::<MemoryLedger>::default(), Box::<MemoryProjections>::default());
    let mut desk = Desk::new(ledger, rows, home, "e".into(), Entropy::from_seed([1; 32]));
    desk.now = Time(1_000);
    let plan = Arc::new(plan);
    let input = RawValue::from_string("{}".into()).unwrap();
    let start = Start { plan, children: Vec::new(), input, by: name("me"), key: None, labels: Default::default() };
    let Ok(Answer::Started { run, .. }) = request::start(&mut desk, &start) else { panic!("not started") };
    (desk, run)
}

fn claim() -> Claim {
    let actions = Arc::from([Name::parse("work").unwrap()]);
    Claim { worker: "w".into(), actions, max: 1, lease: Some(Millis(30_000)), queues: None }
}

#[test]
fn hints_that_were_forgotten_are_made_again() {
    let (mut desk, run) = desk();
    desk.lanes = Lanes::default();
    desk.timers.clear();
    desk.lanes.wait(1, ["work"].into_iter(), None);
    assert_eq!(sweep(&mut desk), 2, "the offer and the timer");
    let found = desk.next_match().unwrap();
    let offered = found.waiting.offer;
    assert!(enqueue::grant(&mut desk, &found, &claim()).is_some());
    assert_eq!(sweep(&mut desk), 1, "the lease, which nobody has kept");
    assert!(desk.leases.get(run, offered.task).is_some());
    assert_eq!(sweep(&mut desk), 0);
}

#[test]
fn a_forgotten_step_of_a_gate_is_found_and_told() {
    let (mut desk, run) =
        begun("{ flow: f, tasks: { g: { gate: { approval: { from: [a] }, escalate: { after: 1h, to: [b] } } } } }");
    desk.timers.clear();
    assert_eq!((sweep(&mut desk), sweep(&mut desk)), (1, 0));
    desk.now = Time(1_000 + 3_600_000);
    enqueue::chores(&mut desk);
    assert_eq!(desk.runs[&run].run.next_step(TaskIx(0)), 2);
}

#[test]
fn what_is_where_it_should_be_is_left_alone() {
    let (mut desk, _) = desk();
    assert_eq!(sweep(&mut desk), 0, "nobody waits for the task");
    desk.lanes.wait(1, ["work"].into_iter(), None);
    assert_eq!(sweep(&mut desk), 0, "it is offered already");
}

/// The next ready task is at work, and fails if it is to; its grant is kept.
fn work_on(desk: &mut Desk, fails: bool) {
    desk.lanes.wait(1, ["work"].into_iter(), None);
    let found = desk.next_match().unwrap();
    let grant = enqueue::grant(desk, &found, &claim()).unwrap();
    desk.lanes.leave(1);
    if fails {
        let failure = Failure::new("boom", "it broke");
        let finish = Finish { lease: grant.lease, outcome: Err(failure) };
        let answer = crate::result::complete(desk, &[finish]);
        assert!(matches!(answer, Ok(Answer::Completed(each)) if each.iter().all(Result::is_ok)));
    } else {
        let leases = std::mem::take(&mut desk.batch.leases);
        leases.into_iter().for_each(|(run, task, lease)| desk.leases.put(run, task, lease));
    }
}

/// A run at rest in a state, if runs rest there, with something in it that moves without being asked.
fn at(state: RunState) -> Option<(Desk, RunId)> {
    let action = "{ flow: f, tasks: { a: { action: work } } }";
    let (flow, done) = match state {
        RunState::EnqueuingTasks => (action, None),
        RunState::TasksInProcess => (action, Some(false)),
        RunState::WaitingForRetry => {
            ("{ flow: f, defaults: { retry: 3 }, tasks: { a: { action: work } } }", Some(true))
        }
        RunState::WaitingForDependencies => ("{ flow: f, tasks: { a: { gate: { timer: 1h } } } }", None),
        RunState::BlockedByFailures => {
            let held = "{ flow: f, on_failure: hold, defaults: { retry: 1 }, tasks: { a: { action: work }, \
                        b: { after: a, action: work, timeout: { overall: 1h } } } }";
            (held, Some(true))
        }
        // Passed within the event that leads to them, or within the commit that begins a run.
        RunState::Pending | RunState::Initializing | RunState::EvaluatingResults => return None,
        RunState::Complete | RunState::Error | RunState::Cancelled | RunState::ResolvedManually => return None,
    };
    let (mut desk, run) = begun(flow);
    if let Some(fails) = done {
        work_on(&mut desk, fails);
    }
    assert_eq!(desk.runs[&run].run.state, state);
    Some((desk, run))
}

#[test]
fn in_every_state_in_which_a_run_rests_what_should_have_moved_is_found() {
    for state in RunState::ALL {
        let Some((mut desk, run)) = at(state) else { continue };
        desk.lanes.wait(1, ["work"].into_iter(), None);
        let (timers, advancing) = (desk.timers.clone(), desk.advancing.clone());
        assert_eq!(sweep(&mut desk), 0, "{state:?}: nothing is missing");
        desk.lanes = Lanes::default();
        desk.lanes.wait(1, ["work"].into_iter(), None);
        desk.timers.clear();
        desk.leases = Leases::default();
        desk.advancing.clear();
        // A run that holds its failures waits for a person: nothing of it moves by itself, and nothing is invented.
        let expected = usize::from(state != RunState::BlockedByFailures);
        assert_eq!(sweep(&mut desk), expected, "{state:?}");
        assert_eq!((desk.timers.clone(), desk.advancing.clone()), (timers, advancing), "{state:?}");
        assert_eq!(desk.leases.len(), usize::from(state == RunState::TasksInProcess), "{state:?}");
        assert_eq!(sweep(&mut desk), 0, "{state:?}: once");
        assert_eq!(desk.next_match().is_some(), state == RunState::EnqueuingTasks, "{state:?}");
        assert_eq!(desk.runs[&run].run.state, state, "it only makes hints");
    }
}

#[test]
fn a_run_that_stopped_in_the_middle_of_evaluating_is_found() {
    let text = "flow f():\n    x = 0\n    while x < 100000:\n        x = x + 1\n    return x\n";
    let plan = edgewise_core::text::compile(text, "f.flow").unwrap().remove(0).plan;
    let (mut desk, run) = begun_plan(plan);
    assert!(desk.runs[&run].run.is_advancing());
    desk.advancing.clear();
    assert_eq!(sweep(&mut desk), 1);
    assert!(desk.advancing.contains(&run));
    assert_eq!(sweep(&mut desk), 0);
}

#[test]
fn a_run_in_which_much_waits_is_looked_through_some_at_a_time() {
    let (mut desk, run) = begun("{ flow: f, tasks: { s: { each: 'range(50)', item: Look } } }");
    desk.work().unwrap();
    desk.links = Default::default();
    let waiting: BTreeSet<_> = desk.runs[&run].run.waiting_for_children().map(|task| (run, task)).collect();
    assert_eq!(waiting.len(), 50);
    desk.runs.get_mut(&run).unwrap().counted = 51;
    let found: Vec<usize> = (0..5).map(|_| look_through(&mut desk, 20)).collect();
    assert_eq!(found, [0, 20, 20, 10, 0], "its tasks themselves are looked at first");
    assert_eq!(desk.links.due, waiting);
}
