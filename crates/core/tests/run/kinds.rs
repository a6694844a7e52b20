//! What people may do to a task, by its kind and by what has become of its run: allowed with its result, or refused with
//! its code.

use crate::driver::{Driver, Sketch, Watch, action, approval, check_table, gate, name, spread, told};
use crate::links::{self, sub_run};
use crate::outside::external;
use crate::programs::Performance;
use edgewise_core::event::{
    Approved, Event, Failure, GateSatisfied, LinkRef, Request, Rerun, RerunFrom, TaskCompletedManually, TaskIx,
};
use edgewise_core::fold::Verdict;
use edgewise_core::gate::Wait;
use edgewise_core::plan::{OnFailure, Spec};
use edgewise_core::state::TaskState;
use edgewise_core::template::Template;
use edgewise_core::time::Millis;
use serde_json::json;
use serde_json::value::RawValue;

/// The task that everything is done to.
const T: TaskIx = TaskIx(0);

/// `t` at work, beside a task that keeps the run open.
fn beside(spec: Spec) -> Driver {
    let mut sketch = Sketch::new(OnFailure::Continue);
    sketch.node(0, "t", spec, &[]);
    sketch.node(0, "open", action(1), &[]);
    Driver::planned(sketch.build())
}

fn with_spread() -> Driver {
    let mut sketch = Sketch::new(OnFailure::Continue);
    let inner = sketch.region();
    sketch.node(0, "t", spread(inner, 2), &[]);
    sketch.node(0, "open", action(1), &[]);
    sketch.node(inner, "p", action(1), &[]);
    Driver::planned(sketch.build())
}

fn with_item() -> Driver {
    let text = "{ flow: f, tasks: { t: { item: { title: look } }, open: { action: work } } }";
    Driver::planned(edgewise_core::flow::compile(text, "f.yaml").unwrap().plan)
}

/// A program whose first statement is at work.
fn program(body: &str) -> Driver {
    Performance::new(&format!("flow f():\n{body}    @after()\n"), &json!({}), Watch::All).driver
}

/// A task of a kind, at work.
fn of(kind: &str) -> Driver {
    match kind {
        "action" => beside(action(1)),
        "approval gate" => beside(approval(&[], 1)),
        "timer gate" => beside(gate(Wait::After(Millis(5)))),
        "webhook gate" => beside(gate(Wait::Webhook)),
        "external gate" => beside(gate(external("ABC-1"))),
        "shared gate" => beside(gate(Wait::Shared { gate: Template::Value("ew-g1".into()) })),
        "sub-run" => beside(sub_run(1)),
        "item" => with_item(),
        "spread" => with_spread(),
        "statement" => program("    @work()\n"),
        "branch" => program("    if true:\n        @work()\n"),
        "for" => program("    for x in [1, 2]:\n        @work(x=x)\n"),
        "while" => program("    while true:\n        @work()\n"),
        "try" => program("    try:\n        @work()\n    except Nothing:\n        @mend()\n"),
        "parallel" => program("    parallel:\n        @work()\n        @work()\n"),
        other => panic!("no kind {other}"),
    }
}

/// The same after it has failed for good.
fn failed(kind: &str) -> Driver {
    let mut d = of(kind);
    match kind {
        "approval gate" | "webhook gate" | "external gate" => {
            d.say(Event::GateRejected(Approved { task: T, generation: 1, by: name("ann"), comment: None }));
        }
        "sub-run" | "item" | "shared gate" => {
            let link = LinkRef { task: T, generation: 1, attempt: 1 };
            let ended = links::told(&d, link, Some(Failure::permanent("SubRunFailed", "no")));
            d.say(ended);
        }
        _ => {
            while let Some(task) = next_ready(&d) {
                d.lease(task);
                let report = d.report(task, Some(Failure::permanent("boom", "it broke")), None);
                d.say(Event::TaskFinished(report));
            }
        }
    }
    assert_eq!(d.run.tasks[T.0 as usize].state, TaskState::Error, "{kind}");
    d
}

/// The next ready task but for the one beside.
fn next_ready(d: &Driver) -> Option<TaskIx> {
    let is_ready = |task: &TaskIx| d.run.tasks[task.0 as usize].state == TaskState::Enqueued;
    d.run.present().filter(is_ready).find(|task| d.run.path(*task) != "open")
}

/// Approve, reject, satisfy, skip, cancel, resolve, complete, reset, rerun.
fn acts(d: &Driver) -> Vec<Event> {
    let generation = d.run.tasks[T.0 as usize].generation;
    let said = || Approved { task: T, generation, by: name("ann"), comment: None };
    let act = || edgewise_core::event::TaskAct { task: T, generation, by: name("op"), why: None };
    let satisfied = GateSatisfied { task: T, generation, by: name("ann"), comment: None, delivery: None, output: None };
    let from = RerunFrom::Task { task: T, generation };
    vec![
        Event::ApprovalGiven(said()),
        Event::GateRejected(said()),
        Event::GateSatisfied(satisfied),
        Event::TaskSkipRequested(act()),
        Event::TaskCancelRequested(act()),
        Event::TaskResolvedManually(act()),
        Event::TaskCompletedManually(TaskCompletedManually {
            act: act(),
            output: RawValue::from_string("7".into()).unwrap(),
        }),
        Event::TaskResetForRetry(act()),
        Event::RunRerunRequested(Rerun { by: name("op"), why: None, from, generation: d.run.generation }),
    ]
}

/// What each act comes to; what changes nothing leaves every task as it was.
fn met(d: &Driver) -> Vec<String> {
    let meet = |event: Event| {
        let mut d = d.clone();
        let before = d.run.tasks.clone();
        let verdict = d.say(event);
        assert!(verdict == Verdict::Applied || d.run.tasks == before, "{verdict:?} changed something");
        d.close();
        told(verdict, d.run.tasks[T.0 as usize].state)
    };
    acts(d).into_iter().map(meet).collect()
}

/// Of a task at work.
#[rustfmt::skip]
const AT_WORK: [(&str, [&str; 9]); 15] = [
    ("action",        ["other_gate", "other_gate", "other_gate", "Skipped", "Cancelled", "ResolvedManually", "Complete", "not_failed", "task_not_done"]),
    ("approval gate", ["Complete",   "Error",      "other_gate", "Skipped", "Cancelled", "ResolvedManually", "Complete", "not_failed", "task_not_done"]),
    ("timer gate",    ["other_gate", "other_gate", "other_gate", "Skipped", "Cancelled", "ResolvedManually", "Complete", "not_failed", "task_not_done"]),
    ("webhook gate",  ["other_gate", "Error",      "Complete",   "Skipped", "Cancelled", "ResolvedManually", "Complete", "not_failed", "task_not_done"]),
    ("external gate", ["other_gate", "Error",      "Complete",   "Skipped", "Cancelled", "ResolvedManually", "Complete", "not_failed", "task_not_done"]),
    ("shared gate",   ["shared_gate", "shared_gate", "shared_gate", "Skipped", "Cancelled", "ResolvedManually", "Complete", "not_failed", "task_not_done"]),
    ("sub-run",       ["other_gate", "other_gate", "other_gate", "Skipped", "Cancelled", "ResolvedManually", "Complete", "not_failed", "task_not_done"]),
    ("item",          ["other_gate", "other_gate", "other_gate", "Skipped", "Cancelled", "ResolvedManually", "Complete", "not_failed", "task_not_done"]),
    ("spread",        ["other_gate", "other_gate", "other_gate", "Skipped", "Cancelled", "ResolvedManually", "Complete", "not_failed", "task_not_done"]),
    ("statement",     ["other_gate", "other_gate", "other_gate", "Skipped", "Cancelled", "ResolvedManually", "Complete", "not_failed", "task_not_done"]),
    ("branch",        ["other_gate", "other_gate", "other_gate", "Skipped", "Cancelled", "ResolvedManually", "Complete", "not_failed", "task_not_done"]),
    ("for",           ["other_gate", "other_gate", "other_gate", "Skipped", "Cancelled", "ResolvedManually", "Complete", "not_failed", "task_not_done"]),
    ("while",         ["other_gate", "other_gate", "other_gate", "Skipped", "Cancelled", "ResolvedManually", "Complete", "not_failed", "task_not_done"]),
    ("try",           ["other_gate", "other_gate", "other_gate", "Skipped", "Cancelled", "ResolvedManually", "Complete", "not_failed", "task_not_done"]),
    ("parallel",      ["other_gate", "other_gate", "other_gate", "Skipped", "Cancelled", "ResolvedManually", "Complete", "not_failed", "task_not_done"]),
];

/// Of a task that has failed for good. A timer gate cannot.
#[rustfmt::skip]
const FAILED: [(&str, [&str; 9]); 14] = [
    ("action",        ["other_gate", "other_gate", "other_gate", "task_done", "task_done", "ResolvedManually", "Complete", "Enqueued",          "Enqueued"]),
    ("approval gate", ["gate_over",  "gate_over",  "other_gate", "task_done", "task_done", "ResolvedManually", "Complete", "InProgress",        "InProgress"]),
    ("webhook gate",  ["other_gate", "gate_over",  "gate_over",  "task_done", "task_done", "ResolvedManually", "Complete", "InProgress",        "InProgress"]),
    ("external gate", ["other_gate", "gate_over",  "gate_over",  "task_done", "task_done", "ResolvedManually", "Complete", "InProgress",        "InProgress"]),
    ("shared gate",   ["shared_gate", "shared_gate", "shared_gate", "task_done", "task_done", "ResolvedManually", "Complete", "InProgress",      "InProgress"]),
    ("sub-run",       ["other_gate", "other_gate", "other_gate", "task_done", "task_done", "ResolvedManually", "Complete", "InProgress",        "InProgress"]),
    ("item",          ["other_gate", "other_gate", "other_gate", "task_done", "task_done", "ResolvedManually", "Complete", "InProgress",        "InProgress"]),
    ("spread",        ["other_gate", "other_gate", "other_gate", "task_done", "task_done", "ResolvedManually", "Complete", "through_its_parts", "InProgress"]),
    ("statement",     ["other_gate", "other_gate", "other_gate", "task_done", "task_done", "ResolvedManually", "Complete", "Enqueued",          "Enqueued"]),
    ("branch",        ["other_gate", "other_gate", "other_gate", "task_done", "task_done", "ResolvedManually", "Complete", "through_its_parts", "InProgress"]),
    ("for",           ["other_gate", "other_gate", "other_gate", "task_done", "task_done", "ResolvedManually", "Complete", "through_its_parts", "InProgress"]),
    ("while",         ["other_gate", "other_gate", "other_gate", "task_done", "task_done", "ResolvedManually", "Complete", "through_its_parts", "InProgress"]),
    ("try",           ["other_gate", "other_gate", "other_gate", "task_done", "task_done", "ResolvedManually", "Complete", "through_its_parts", "InProgress"]),
    ("parallel",      ["other_gate", "other_gate", "other_gate", "task_done", "task_done", "ResolvedManually", "Complete", "through_its_parts", "InProgress"]),
];

#[test]
fn every_act_meets_every_kind_of_task_at_work() {
    check_table(&AT_WORK, |kind| met(&of(kind)));
}

#[test]
fn every_act_meets_every_kind_of_task_that_failed() {
    check_table(&FAILED, |kind| met(&failed(kind)));
}

/// A run in which `t` failed or was done, and what became of the run then.
fn within(what: &str) -> Driver {
    let ask = || Request { by: name("op"), why: None };
    let mut d = of("action");
    let (task, run) = what.split_once(" in ").unwrap();
    match task {
        "ready" => {}
        "done" => d.ok("t"),
        "failed" => d.fail("t"),
        other => panic!("no {other}"),
    }
    match run {
        "an open run" => {}
        "an ended run" => d.ok("open"),
        "a cancelled run" => drop(d.cancel()),
        "a resolved run" => drop(d.resolve_run()),
        "a paused run" => drop(d.say(Event::RunPauseRequested(ask()))),
        "a frozen run" => drop(d.say(Event::RunFrozen(ask()))),
        other => panic!("no {other}"),
    }
    d
}

/// Of a task, by what has become of it and of its run.
#[rustfmt::skip]
const WITHIN: [(&str, [&str; 9]); 17] = [
    ("ready in an open run",      ["other_gate", "other_gate", "other_gate", "Skipped",       "Cancelled",     "ResolvedManually", "Complete",      "not_failed",    "task_not_done"]),
    ("done in an open run",       ["other_gate", "other_gate", "other_gate", "task_done",     "task_done",     "task_done",        "task_done",     "not_failed",    "Enqueued"]),
    ("failed in an open run",     ["other_gate", "other_gate", "other_gate", "task_done",     "task_done",     "ResolvedManually", "Complete",      "Enqueued",      "Enqueued"]),
    ("done in an ended run",      ["other_gate", "other_gate", "other_gate", "task_done",     "task_done",     "task_done",        "task_done",     "not_failed",    "Enqueued"]),
    ("failed in an ended run",    ["other_gate", "other_gate", "other_gate", "task_done",     "task_done",     "ResolvedManually", "Complete",      "Enqueued",      "Enqueued"]),
    ("ready in a cancelled run",  ["other_gate", "other_gate", "other_gate", "run_cancelled", "run_cancelled", "run_cancelled",    "run_cancelled", "run_cancelled", "Enqueued"]),
    ("done in a cancelled run",   ["other_gate", "other_gate", "other_gate", "run_cancelled", "run_cancelled", "run_cancelled",    "run_cancelled", "run_cancelled", "Enqueued"]),
    ("failed in a cancelled run", ["other_gate", "other_gate", "other_gate", "run_cancelled", "run_cancelled", "run_cancelled",    "run_cancelled", "run_cancelled", "Enqueued"]),
    ("ready in a resolved run",   ["other_gate", "other_gate", "other_gate", "task_done",     "duplicate",     "ResolvedManually", "Complete",      "not_failed",    "Enqueued"]),
    ("done in a resolved run",    ["other_gate", "other_gate", "other_gate", "task_done",     "task_done",     "task_done",        "task_done",     "not_failed",    "Enqueued"]),
    ("failed in a resolved run",  ["other_gate", "other_gate", "other_gate", "task_done",     "task_done",     "ResolvedManually", "Complete",      "Enqueued",      "Enqueued"]),
    ("ready in a paused run",     ["other_gate", "other_gate", "other_gate", "Skipped",       "Cancelled",     "ResolvedManually", "Complete",      "not_failed",    "task_not_done"]),
    ("done in a paused run",      ["other_gate", "other_gate", "other_gate", "task_done",     "task_done",     "task_done",        "task_done",     "not_failed",    "Enqueued"]),
    ("failed in a paused run",    ["other_gate", "other_gate", "other_gate", "task_done",     "task_done",     "ResolvedManually", "Complete",      "Enqueued",      "Enqueued"]),
    ("ready in a frozen run",     ["run_frozen", "run_frozen", "run_frozen", "run_frozen",    "run_frozen",    "run_frozen",       "run_frozen",    "run_frozen",    "run_frozen"]),
    ("done in a frozen run",      ["run_frozen", "run_frozen", "run_frozen", "run_frozen",    "run_frozen",    "run_frozen",       "run_frozen",    "run_frozen",    "run_frozen"]),
    ("failed in a frozen run",    ["run_frozen", "run_frozen", "run_frozen", "run_frozen",    "run_frozen",    "run_frozen",       "run_frozen",    "run_frozen",    "run_frozen"]),
];

#[test]
fn every_act_on_a_task_meets_every_end_of_its_run() {
    check_table(&WITHIN, |what| met(&within(what)));
}
