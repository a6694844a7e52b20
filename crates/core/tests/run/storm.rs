//! Random plans and random acts: everything an engine, a worker, a person or a bad network could write.

use crate::dice::Dice;
use crate::driver::{Driver, Watch, name};
use edgewise_core::event::{
    Approved, AttemptRef, Event, Failure, Request, Rerun, RerunFrom, TaskAct, TaskCompletedManually, TaskHeartbeat,
    TaskIx, Unfrozen,
};
use edgewise_core::expr::Expr;
use edgewise_core::fold::check;
use edgewise_core::gate::{Escalation, Gate, OnDeadline, Wait};
use edgewise_core::plan::{
    Accepts, Items, Join, OnFailure, Plan, PlanDraft, RegionDraft, Resolution, Spec, Spread, Timeouts, Work,
};
use edgewise_core::retry::Retry;
use edgewise_core::state::{RunState, TaskState};
use edgewise_core::template::{Root, Template};
use edgewise_core::time::{Millis, Time};
use serde_json::json;
use serde_json::value::RawValue;

const PEOPLE: [&str; 3] = ["ann", "bob", "cyd"];

pub fn random_plan(dice: &mut Dice) -> Plan {
    let on_failure =
        [OnFailure::Continue, OnFailure::Continue, OnFailure::FailFast, OnFailure::Hold][dice.below(4) as usize];
    let mut draft = PlanDraft { on_failure, ..PlanDraft::default() };
    draft.regions.push(RegionDraft::default());
    let nodes = 1 + dice.below(6) as u32;
    fill_region(dice, &mut draft, 0, nodes, 0);
    draft.build(name("storm")).unwrap()
}

fn fill_region(dice: &mut Dice, draft: &mut PlanDraft, region: usize, nodes: u32, depth: u32) {
    for node in 0..nodes {
        let degree = (0..node).filter(|_| dice.one_in(2)).collect::<Vec<_>>();
        let spec = random_spec(dice, draft, depth, node);
        draft.specs.push(spec);
        let join = match dice.below(6) {
            0 => Join::Any,
            1 if !degree.is_empty() => Join::Count(1 + dice.below(degree.len() as u64) as u32),
            _ => Join::All,
        };
        let spec = draft.specs.len() as u32 - 1;
        draft.regions[region].node(&format!("n{node}"), spec, join);
        for up in degree {
            draft.regions[region].edge(up, node, random_accepts(dice));
        }
    }
}

fn random_accepts(dice: &mut Dice) -> Accepts {
    match dice.below(8) {
        0 => Accepts::of(Resolution::Failed),
        1 => Accepts::DONE,
        2 => Accepts::of(Resolution::Skipped).or(Accepts::SUCCESS),
        3 => Accepts::of(Resolution::Cancelled).or(Accepts::of(Resolution::Failed)),
        _ => Accepts::SUCCESS,
    }
}

fn random_spec(dice: &mut Dice, draft: &mut PlanDraft, depth: u32, node: u32) -> Spec {
    let work = match dice.below(8) {
        0 => random_gate(dice),
        1 | 2 if depth < 2 => random_spread(dice, draft, depth, node),
        3 if node > 0 => {
            let root = Root::Output { up: 0, node: dice.below(u64::from(node)) as u32 };
            let keys: &[&str] = if dice.one_in(4) { &["k"] } else { &[] };
            Work::Action { action: name("noop"), with: Template::Expr(Expr::root("tasks.x.output", root, keys)) }
        }
        _ => Work::Action { action: name("noop"), with: Template::default() },
    };
    let retry = Retry {
        max_attempts: 1 + dice.below(3) as u16,
        retryable: !dice.one_in(5),
        base: Millis(dice.below(3) * 1_000),
        jitter_percent: dice.below(2) as u8 * 50,
        ..Retry::default()
    };
    let mut span = |n| dice.one_in(n).then(|| Millis(1_000 + dice.below(20_000)));
    let timeouts = Timeouts { overall: span(6), queue: span(6), ..Timeouts::default() };
    Spec { when: None, work, retry, timeouts, share: Default::default(), publish: Vec::new() }
}

fn random_gate(dice: &mut Dice) -> Work {
    let wait = match dice.below(4) {
        0 => Wait::After(Millis(dice.below(5_000))),
        1 => Wait::Until(Time(1_000_000 + dice.below(10_000))),
        _ => {
            let from = if dice.one_in(2) { Vec::new() } else { PEOPLE[..2].iter().map(|p| name(p)).collect() };
            Wait::Approval { from, count: 1 + dice.below(2) as u32 }
        }
    };
    let deadline = dice.one_in(2).then(|| Millis(dice.below(8_000)));
    let on_deadline = if dice.one_in(2) { OnDeadline::Open } else { OnDeadline::Reject };
    let steps = if matches!(&wait, Wait::Approval { from, .. } if !from.is_empty()) { dice.below(3) } else { 0 };
    let step = |n| Escalation { after: Millis(3_000 * n), to: vec![name(if n == 1 { PEOPLE[2] } else { "dot" })] };
    Work::Gate(Gate { deadline, on_deadline, escalate: (1..=steps).map(step).collect(), ..Gate::new(wait) })
}

fn random_spread(dice: &mut Dice, draft: &mut PlanDraft, depth: u32, node: u32) -> Work {
    let region = draft.regions.len();
    draft.regions.push(RegionDraft::default());
    let nodes = 1 + dice.below(3) as u32;
    fill_region(dice, draft, region, nodes, depth + 1);
    let items = match dice.below(4) {
        0 if node > 0 => Items::Expr(Expr::root("tasks.x.output", Root::Output { up: 0, node: 0 }, &[])),
        1 => Items::Expr(Expr::root("inputs", Root::Input, &["list"])),
        _ => Items::Literal((0..dice.below(4)).map(|n| json!(n)).collect()),
    };
    Work::Spread(Spread { region: region as u32, items, tolerate: dice.below(2) as u32, fail_fast: dice.one_in(2) })
}

/// One random act. Many of them are refused: that is the point.
pub fn act(d: &mut Driver, dice: &mut Dice) {
    d.now = if dice.one_in(20) { Time(d.now.0 - dice.below(3_000)) } else { Time(d.now.0 + dice.below(2_000)) };
    match dice.below(26) {
        0..=5 => lease(d, dice),
        6..=12 => finish(d, dice),
        13 | 14 => fire(d, dice),
        15 | 16 => speak(d, dice),
        17..=19 => operate(d, dice),
        20 => repeat(d, dice),
        21 => {
            d.advance();
        }
        22 => strange(d, dice),
        23 | 24 => rerun(d, dice),
        _ => request(d, dice),
    }
}

fn in_state(d: &Driver, state: TaskState) -> Vec<TaskIx> {
    (0..d.run.total()).map(TaskIx).filter(|t| d.run.tasks[t.0 as usize].state == state).collect()
}

fn leased(d: &Driver) -> Vec<TaskIx> {
    in_state(d, TaskState::InProgress).into_iter().filter(|t| d.run.is_leasable(*t)).collect()
}

fn lease(d: &mut Driver, dice: &mut Dice) {
    let ready = in_state(d, TaskState::Enqueued);
    if let Some(task) = dice.pick(&ready) {
        d.lease(*task);
    }
}

fn finish(d: &mut Driver, dice: &mut Dice) {
    let live = leased(d);
    let Some(task) = dice.pick(&live).copied() else { return };
    let entry = d.run.tasks[task.0 as usize];
    let lease = AttemptRef { task, generation: entry.generation, attempt: entry.attempt, token: entry.token };
    if dice.one_in(10) {
        d.say(Event::DispatchReturned(lease));
        return;
    }
    if dice.one_in(10) {
        let progress = RawValue::from_string("0.5".into()).unwrap();
        d.say(Event::TaskHeartbeat(TaskHeartbeat { attempt: lease, progress }));
    }
    let output = [None, Some("[1,2]"), Some(r#"{"k":[7]}"#), Some("null")][dice.below(4) as usize];
    let error = dice.one_in(3).then(|| Failure {
        retryable: !dice.one_in(3),
        retry_after: dice.one_in(4).then(|| Millis(dice.below(90_000))),
        ..Failure::new("boom", "it broke")
    });
    let report = d.report(task, error, output);
    d.say(Event::TaskFinished(report));
}

fn fire(d: &mut Driver, dice: &mut Dice) {
    let timers: Vec<_> = d.run.timers.iter().map(|(k, due)| (*k, *due)).collect();
    let Some((timer, due)) = dice.pick(&timers).copied() else { return };
    if !dice.one_in(4) {
        d.now = d.now.max(due);
    }
    let event = d.run.fired(timer, due);
    d.say(event);
}

fn any_task(d: &Driver, dice: &mut Dice) -> (TaskIx, u16) {
    // One past the end, now and then: nobody knows that task.
    let task = TaskIx(dice.below(u64::from(d.run.total()) + 1) as u32);
    let generation = d.run.task(task).map_or(1, |t| t.generation);
    (task, if dice.one_in(8) { generation - 1 } else { generation })
}

fn speak(d: &mut Driver, dice: &mut Dice) {
    let gates: Vec<TaskIx> =
        (0..d.run.total()).map(TaskIx).filter(|t| matches!(d.run.spec_of(*t).work, Work::Gate(_))).collect();
    let (task, generation) = match dice.pick(&gates) {
        Some(task) => (*task, d.run.tasks[task.0 as usize].generation),
        None => any_task(d, dice),
    };
    let said = Approved { task, generation, by: name(PEOPLE[dice.below(3) as usize]), comment: None };
    d.say(match dice.below(5) {
        0 => Event::ApprovalWithdrawn(said),
        1 => Event::GateRejected(said),
        _ => Event::ApprovalGiven(said),
    });
}

fn operate(d: &mut Driver, dice: &mut Dice) {
    let failed = in_state(d, TaskState::Error);
    let (task, generation) = match dice.pick(&failed) {
        Some(task) if dice.one_in(2) => (*task, d.run.tasks[task.0 as usize].generation),
        _ => any_task(d, dice),
    };
    let act = TaskAct { task, generation, by: name("op"), why: None };
    d.say(match dice.below(8) {
        0 => Event::TaskSkipRequested(act),
        1 => Event::TaskCancelRequested(act),
        2 => Event::TaskResolvedManually(act),
        3 => {
            let output = RawValue::from_string(["null", "[3]", "5"][dice.below(3) as usize].into()).unwrap();
            Event::TaskCompletedManually(TaskCompletedManually { act, output })
        }
        _ => Event::TaskResetForRetry(act),
    });
}

/// From anywhere, mostly from what is done; now and then by somebody who looked too early.
fn rerun(d: &mut Driver, dice: &mut Dice) {
    let (task, generation) = any_task(d, dice);
    let from = match dice.below(6) {
        0 => RerunFrom::Start,
        1 | 2 => RerunFrom::Failure,
        _ => RerunFrom::Task { task, generation },
    };
    let generation = if dice.one_in(8) { d.run.generation - 1 } else { d.run.generation };
    d.say(Event::RunRerunRequested(Rerun { by: name("op"), why: None, from, generation }));
}

fn repeat(d: &mut Driver, dice: &mut Dice) {
    let place = dice.below(d.ledger.len() as u64) as usize;
    let event = d.ledger[place].event.clone();
    d.say(event);
}

fn strange(d: &mut Driver, dice: &mut Dice) {
    let (task, _) = any_task(d, dice);
    match dice.below(3) {
        0 => {
            d.say(Event::Unknown("FromTheFuture".into()));
        }
        _ if d.run.task(task).is_none() => {
            d.plan_it();
        }
        1 => {
            let mut report = d.report(task, None, None);
            report.attempt = report.attempt.wrapping_sub(1);
            d.say(Event::TaskFinished(report));
        }
        _ => {
            let mut report = d.report(task, None, None);
            report.token.0 ^= 1;
            d.say(Event::TaskFinished(report));
        }
    }
}

fn request(d: &mut Driver, dice: &mut Dice) {
    let request = Request { by: name("op"), why: Some("because".into()) };
    let unfrozen = Unfrozen { by: name("op"), why: None, mark: dice.one_in(4).then(|| "damaged".into()) };
    d.say(match dice.below(16) {
        0 => Event::RunCancelRequested(request),
        1 => Event::RunResolvedManually(request),
        2..=5 => Event::RunPauseRequested(request),
        6 => Event::RunFrozen(request),
        // More often: until then nothing else happens.
        7..=9 => Event::RunUnfrozen(unfrozen),
        _ => Event::RunResumeRequested(request),
    });
}

/// No more storm: whatever can be done is done, well.
pub fn calm(d: &mut Driver) {
    for _ in 0..2_000 {
        if d.run.frozen.is_some() {
            d.say(Event::RunUnfrozen(Unfrozen { by: name("op"), why: None, mark: None }));
        } else if d.run.state == RunState::Pending {
            // It was frozen before its plan came.
            d.plan_it();
        } else if d.run.paused {
            d.say(Event::RunResumeRequested(Request { by: name("op"), why: None }));
        } else if !d.run.advancing.is_empty() {
            d.advance();
        } else if let Some(task) = leased(d).first().copied() {
            let report = d.report(task, None, Some("[1]"));
            d.say(Event::TaskFinished(report));
        } else if let Some(task) = in_state(d, TaskState::Enqueued).first().copied() {
            d.lease(task);
        } else if !d.run.timers.is_empty() {
            d.fire_next();
        } else if let Some(task) = in_state(d, TaskState::InProgress).into_iter().find(|t| is_gate(d, *t)) {
            let generation = d.run.tasks[task.0 as usize].generation;
            for person in PEOPLE {
                d.say(Event::ApprovalGiven(Approved { task, generation, by: name(person), comment: None }));
            }
        } else if let Some(task) = held(d) {
            let generation = d.run.tasks[task.0 as usize].generation;
            d.say(Event::TaskResolvedManually(TaskAct { task, generation, by: name("op"), why: None }));
        } else {
            return;
        }
    }
    panic!("the run did not come to an end");
}

fn is_gate(d: &Driver, task: TaskIx) -> bool {
    matches!(d.run.spec_of(task).work, Work::Gate(_))
}

fn held(d: &Driver) -> Option<TaskIx> {
    let waits = !d.run.state.is_done() && d.run.plan.on_failure == OnFailure::Hold;
    // Innermost first: a spread whose items are held is not itself the failure. What was done anew holds nothing.
    let mut failed = in_state(d, TaskState::Error).into_iter().rev();
    failed.find(|task| {
        let generation = d.run.tasks[task.0 as usize].generation;
        let act = TaskAct { task: *task, generation, by: name("op"), why: None };
        waits && check(&d.run, d.now, &Event::TaskResolvedManually(act)).is_ok()
    })
}

/// A storm of so many acts over a random plan, then calm.
pub fn weather(seed: u64, acts: u64) -> Driver {
    let mut dice = Dice::new(seed);
    let plan = random_plan(&mut dice);
    let mut d = Driver::triggered_watching(plan, Watch::All);
    if dice.one_in(4) {
        request(&mut d, &mut dice);
    }
    d.plan_it();
    for _ in 0..dice.below(acts) {
        act(&mut d, &mut dice);
    }
    calm(&mut d);
    d
}
