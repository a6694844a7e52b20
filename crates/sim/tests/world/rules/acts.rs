//! What is asked of a run and of its tasks, through the engine: what is answered in every state, with the code of every
//! refusal.

use edgewise_core::Kind;
use edgewise_core::fold::is_refusal;
use edgewise_core::id::RunId;
use edgewise_core::state::RunState;
use edgewise_engine::command::{Answer, Command, GateAct, Rerun, RerunOf, RunAct, Supply, TaskAct};
use edgewise_sim::driver::{World, boom, name};
use serde_json::value::RawValue;

/// `t`, and a gate behind it.
const GATED: &str = "{ flow: f, defaults: { retry: 1 }, tasks: { t: { action: work }, \
                     g: { after: t, gate: { approval: { count: 1 } } } } }";
const HELD: &str = "{ flow: f, on_failure: hold, defaults: { retry: 1 }, tasks: { t: { action: work }, \
                    g: { after: t, action: work } } }";
const RETRIED: &str = "{ flow: f, defaults: { retry: 3 }, tasks: { t: { action: work } } }";
const ALONE: &str = "{ flow: f, defaults: { retry: 1 }, tasks: { t: { action: work } } }";

fn act(run: RunId) -> RunAct {
    RunAct { run, by: name("op"), why: None }
}

fn task(run: RunId) -> TaskAct {
    TaskAct { run, task: "t".into(), by: name("op"), why: None }
}

fn rerun(run: RunId, from: RerunOf) -> Command {
    Command::Rerun(Rerun { run, from, by: name("op"), why: None })
}

/// A run in a state, as an engine brings one there.
fn at(w: &mut World, state: &str) -> RunId {
    let text = match state {
        "BlockedByFailures" => HELD,
        "WaitingForRetry" => RETRIED,
        "Complete" | "Error" => ALONE,
        _ => GATED,
    };
    let run = w.start(text);
    let outcome = match state {
        "WaitingForDependencies" | "Complete" => Some(Ok(())),
        "WaitingForRetry" | "BlockedByFailures" | "Error" => Some(Err(boom())),
        _ => None,
    };
    if state == "TasksInProcess" {
        w.claim_one("w");
    }
    if let Some(outcome) = outcome {
        let lease = w.claim_one("w").lease;
        w.report(lease, outcome).unwrap();
    }
    match state {
        "Cancelled" => drop(w.must(Command::Cancel(act(run)))),
        "ResolvedManually" => drop(w.must(Command::ResolveRun(act(run)))),
        _ => {}
    }
    let wanted = RunState::ALL.into_iter().find(|one| format!("{one:?}") == state).expect(state);
    w.is(run, wanted);
    run
}

fn asked(run: RunId) -> Vec<Command> {
    let output = RawValue::from_string("7".into()).unwrap();
    vec![
        Command::Cancel(act(run)),
        Command::Pause(act(run)),
        Command::Resume(act(run)),
        Command::ResolveRun(act(run)),
        Command::GiveUp(act(run)),
        Command::Freeze(act(run)),
        Command::Unfreeze(act(run)),
        rerun(run, RerunOf::Start),
        rerun(run, RerunOf::Failure),
        rerun(run, RerunOf::Task("t".into())),
        Command::Reset(task(run)),
        Command::Skip(task(run)),
        Command::CancelTask(task(run)),
        Command::Resolve(task(run)),
        Command::Supply(Supply { act: task(run), output }),
        Command::Approve(GateAct { run, task: "g".into(), by: name("ann"), comment: None }),
    ]
}

/// What is answered: the word for it, or the code of the refusal.
fn answered(w: &mut World, command: Command) -> String {
    match w.ask(command).expect("an answer") {
        Ok(Answer::Done) => "done".into(),
        Ok(Answer::Already) => "already".into(),
        Ok(Answer::Reopened(_)) => "reopened".into(),
        Ok(other) => panic!("{other:?}"),
        Err(error) => {
            let known = is_refusal(error.code) && error.kind == Kind::Conflict;
            assert!(known || error.kind == Kind::NotFound, "{error:?}");
            error.code.into()
        }
    }
}

/// Cancel, pause, resume, resolve, give up, freeze, unfreeze, rerun whole, from failure and from `t`; reset, skip, cancel,
/// resolve and complete `t`; approve `g`.
#[rustfmt::skip]
const TABLE: [(&str, [&str; 16]); 9] = [
    ("EnqueuingTasks",         ["done",     "done",     "already",  "done",          "not_held", "done", "already", "not_over", "not_failed", "task_not_done", "not_failed",    "done",          "done",          "done",          "done",          "not_reached"]),
    ("TasksInProcess",         ["done",     "done",     "already",  "done",          "not_held", "done", "already", "not_over", "not_failed", "task_not_done", "not_failed",    "done",          "done",          "done",          "done",          "not_reached"]),
    ("WaitingForRetry",        ["done",     "done",     "already",  "done",          "not_held", "done", "already", "not_over", "not_failed", "task_not_done", "not_failed",    "done",          "done",          "done",          "done",          "task_not_found"]),
    ("WaitingForDependencies", ["done",     "done",     "already",  "done",          "not_held", "done", "already", "not_over", "not_failed", "reopened",      "not_failed",    "task_done",     "task_done",     "task_done",     "task_done",     "done"]),
    ("BlockedByFailures",      ["done",     "done",     "already",  "done",          "done",     "done", "already", "not_over", "reopened",   "reopened",      "done",          "task_done",     "task_done",     "done",          "done",          "other_gate"]),
    ("Complete",               ["run_over", "run_over", "run_over", "run_over",      "run_over", "done", "already", "reopened", "not_failed", "reopened",      "not_failed",    "task_done",     "task_done",     "task_done",     "task_done",     "task_not_found"]),
    ("Error",                  ["run_over", "run_over", "run_over", "done",          "run_over", "done", "already", "reopened", "reopened",   "reopened",      "done",          "task_done",     "task_done",     "done",          "done",          "task_not_found"]),
    ("Cancelled",              ["already",  "run_over", "run_over", "run_cancelled", "run_over", "done", "already", "reopened", "reopened",   "reopened",      "run_cancelled", "run_cancelled", "run_cancelled", "run_cancelled", "run_cancelled", "gate_over"]),
    ("ResolvedManually",       ["run_over", "run_over", "run_over", "already",       "run_over", "done", "already", "reopened", "reopened",   "reopened",      "not_failed",    "task_done",     "already",       "done",          "done",          "gate_over"]),
];

#[test]
fn every_command_is_answered_in_every_state_of_a_run() {
    let line = |state: &str, cells: Vec<String>| format!("{state}: {}", cells.join(", "));
    let mut found = Vec::new();
    for (state, row) in TABLE {
        let cells = (0..row.len()).map(|nth| {
            let mut w = World::new();
            let run = at(&mut w, state);
            let before = w.run(run).state;
            let command = asked(run).swap_remove(nth);
            let answer = answered(&mut w, command);
            if !["done", "reopened"].contains(&answer.as_str()) {
                assert_eq!(w.run(run).state, before, "{answer} at {state} changes nothing");
            }
            answer
        });
        found.push(line(state, cells.collect()));
    }
    let wanted: Vec<String> = TABLE.iter().map(|(state, row)| line(state, row.map(str::to_owned).to_vec())).collect();
    assert_eq!(found, wanted, "found\n{}", found.join("\n"));
}

#[test]
fn what_fails_again_after_it_was_given_up_is_held_again() {
    for from in [RerunOf::Failure, RerunOf::Start] {
        let mut w = World::new();
        let run = at(&mut w, "BlockedByFailures");
        for _ in 0..2 {
            assert!(matches!(w.must(Command::GiveUp(act(run))), Answer::Done));
            w.is(run, RunState::Error);
            assert!(matches!(w.must(rerun(run, from.clone())), Answer::Reopened(2)));
            let lease = w.claim_one("w").lease;
            w.report(lease, Err(boom())).unwrap();
            w.is(run, RunState::BlockedByFailures);
        }
    }
}
