//! Both state machines as tables: every state is reached, every move is taken, every event meets every state.

use crate::driver::{Driver, STALE, Sketch, Watch, action, approval, check_table, gate, name, told, work};
use crate::links::{self, sub_run};
use crate::programs::Performance;
use edgewise_core::event::{
    Approved, DispatchEnqueued, Event, Failure, GateEscalated, GateSatisfied, LinkRef, Rerun, RerunFrom,
    TaskCompletedManually, TaskHeartbeat, TimerFired, TimerKey, TimerKind,
};
use edgewise_core::expr::Expr;
use edgewise_core::fold::Verdict;
use edgewise_core::gate::Wait;
use edgewise_core::history::History;
use edgewise_core::id::Token;
use edgewise_core::plan::{OnFailure, Spec, Timeouts, Work};
use edgewise_core::state::{MOVES, Move, RunState, TaskState};
use edgewise_core::template::{Root, Template};
use edgewise_core::time::{Millis, Time};
use serde_json::value::RawValue;
use std::collections::BTreeSet;

type Taken = BTreeSet<(TaskState, Move, TaskState)>;

/// `t` alone, beside a task that keeps the run open.
fn beside(spec: Spec, on_failure: OnFailure) -> Driver {
    let mut sketch = Sketch::new(on_failure);
    sketch.node(0, "other", action(1), &[]);
    sketch.node(0, "t", spec, &[0]);
    sketch.node(0, "open", action(1), &[]);
    Driver::planned(sketch.build())
}

fn with_timeouts(spec: Spec, overall: Option<u64>, queue: Option<u64>) -> Spec {
    let timeouts = Timeouts { overall: overall.map(Millis), queue: queue.map(Millis), ..Timeouts::default() };
    Spec { timeouts, ..spec }
}

/// A run with `t` at rest in a state.
fn at(state: TaskState) -> Driver {
    let mut d = beside(action(2), OnFailure::Continue);
    if state == TaskState::Pending {
        return d;
    }
    d.ok("other");
    let boom = Failure::new("boom", "it broke");
    match state {
        TaskState::Enqueued => {}
        TaskState::InProgress => assert_eq!(d.lease(d.ix("t")), Verdict::Applied),
        TaskState::WaitingForRetry => d.fail("t"),
        TaskState::Complete => d.ok("t"),
        TaskState::Error => {
            d.lease(d.ix("t"));
            let report = d.report(d.ix("t"), Some(Failure { retryable: false, ..boom }), None);
            d.say(Event::TaskFinished(report));
        }
        TaskState::Cancelled => assert_eq!(d.cancel_task("t"), Verdict::Applied),
        TaskState::ResolvedManually => assert_eq!(d.resolve("t"), Verdict::Applied),
        TaskState::Skipped => assert_eq!(d.skip("t"), Verdict::Applied),
        other => panic!("{other:?} is passed within one event, nothing rests there"),
    }
    assert_eq!(d.state("t"), state);
    d
}

/// Every event that is about a task, as it would be said of `t` now.
fn events(d: &Driver) -> Vec<Event> {
    let (task, lease, act) = (d.ix("t"), d.lease_of("t"), d.act("t"));
    let generation = act.generation;
    let raw = || RawValue::from_string("7".into()).unwrap();
    let said = || Approved { task, generation, by: name("ann"), comment: None };
    let retry = TimerKey { task, kind: TimerKind::Retry, generation, attempt: lease.attempt };
    let due = d.run.timers.get(&retry).copied().unwrap_or(d.now);
    let (attempt, token) = (lease.attempt + 1, Token(99).hash());
    vec![
        Event::DispatchEnqueued(DispatchEnqueued { task, generation, attempt, token, worker: "w".into(), lease: None }),
        Event::DispatchReturned(lease),
        Event::TaskHeartbeat(TaskHeartbeat { attempt: lease, progress: raw() }),
        Event::TaskFinished(d.report(task, None, None)),
        Event::TaskFinished(d.report(task, Some(Failure::new("other", "another failure")), None)),
        Event::TimerFired(TimerFired { timer: retry, due }),
        Event::ApprovalGiven(said()),
        Event::ApprovalWithdrawn(said()),
        Event::GateRejected(said()),
        Event::GateSatisfied(GateSatisfied {
            task,
            generation,
            by: name("ann"),
            comment: None,
            delivery: None,
            output: None,
        }),
        Event::GateEscalated(GateEscalated { task, generation, step: 1 }),
        Event::TaskResolvedManually(act.clone()),
        Event::TaskCompletedManually(TaskCompletedManually { act: act.clone(), output: raw() }),
        Event::TaskResetForRetry(act.clone()),
        Event::TaskSkipRequested(act.clone()),
        Event::TaskCancelRequested(act.clone()),
        Event::RunRerunRequested(Rerun {
            by: act.by,
            why: None,
            from: RerunFrom::Task { task, generation },
            generation: d.run.generation,
        }),
    ]
}

const NAMES: [&str; 17] = [
    "DispatchEnqueued",
    "DispatchReturned",
    "TaskHeartbeat",
    "TaskFinished",
    "TaskFinished",
    "TimerFired",
    "ApprovalGiven",
    "ApprovalWithdrawn",
    "GateRejected",
    "GateSatisfied",
    "GateEscalated",
    "TaskResolvedManually",
    "TaskCompletedManually",
    "TaskResetForRetry",
    "TaskSkipRequested",
    "TaskCancelRequested",
    "RunRerunRequested",
];
/// What each event of `NAMES` comes to, by the state it meets: the state it leads to, or why it changes nothing. The
/// second finish is another outcome.
#[rustfmt::skip]
const TABLE: [(&str, [&str; 17]); 9] = [
    ("Pending",          ["stale",      "stale",    "stale",      "stale",     "stale",           "stale",    "other_gate", "other_gate", "other_gate", "other_gate", "other_gate", "ResolvedManually", "Complete",  "not_failed", "Skipped",   "Cancelled", "task_not_done"]),
    ("Enqueued",         ["InProgress", "stale",    "stale",      "stale",     "stale",           "stale",    "other_gate", "other_gate", "other_gate", "other_gate", "other_gate", "ResolvedManually", "Complete",  "not_failed", "Skipped",   "Cancelled", "task_not_done"]),
    ("InProgress",       ["stale",      "Enqueued", "InProgress", "Complete",  "WaitingForRetry", "stale",    "other_gate", "other_gate", "other_gate", "other_gate", "other_gate", "ResolvedManually", "Complete",  "not_failed", "Skipped",   "Cancelled", "task_not_done"]),
    ("WaitingForRetry",  ["stale",      "stale",    "stale",      "stale",     "stale",           "Enqueued", "other_gate", "other_gate", "other_gate", "other_gate", "other_gate", "ResolvedManually", "Complete",  "not_failed", "Skipped",   "Cancelled", "task_not_done"]),
    ("Complete",         ["stale",      "stale",    "stale",      "duplicate", "stale",           "stale",    "other_gate", "other_gate", "other_gate", "other_gate", "other_gate", "task_done",        "task_done", "not_failed", "task_done", "task_done", "Enqueued"]),
    ("Error",            ["stale",      "stale",    "stale",      "stale",     "stale",           "stale",    "other_gate", "other_gate", "other_gate", "other_gate", "other_gate", "ResolvedManually", "Complete",  "Enqueued",   "task_done", "task_done", "Enqueued"]),
    ("Cancelled",        ["stale",      "stale",    "stale",      "stale",     "stale",           "stale",    "other_gate", "other_gate", "other_gate", "other_gate", "other_gate", "ResolvedManually", "Complete",  "not_failed", "task_done", "duplicate", "Enqueued"]),
    ("ResolvedManually", ["stale",      "stale",    "stale",      "stale",     "stale",           "stale",    "other_gate", "other_gate", "other_gate", "other_gate", "other_gate", "task_done",        "task_done", "not_failed", "task_done", "task_done", "Enqueued"]),
    ("Skipped",          ["stale",      "stale",    "stale",      "stale",     "stale",           "stale",    "other_gate", "other_gate", "other_gate", "other_gate", "other_gate", "ResolvedManually", "Complete",  "not_failed", "duplicate", "task_done", "Enqueued"]),
];
#[test]
fn every_event_meets_every_state() {
    check_table(&TABLE, |word| {
        let state = TaskState::ALL.into_iter().find(|state| format!("{state:?}") == word).expect(word);
        let d = at(state);
        let meet = |(event, name): (Event, &str)| {
            assert_eq!(event.name(), name);
            let mut d = d.clone();
            d.now = Time(d.now.0 + 100_000);
            let verdict = d.say(event);
            assert!(verdict == Verdict::Applied || d.state("t") == state, "{name} at {word} changes nothing");
            told(verdict, d.state("t"))
        };
        events(&d).into_iter().zip(NAMES).map(meet).collect()
    });
}

#[test]
fn people_are_heard_only_by_a_gate_that_waits() {
    let say = |d: &mut Driver, by: &str, which: fn(Approved) -> Event| {
        let task = d.ix("t");
        let generation = d.run.tasks[task.0 as usize].generation;
        told(d.say(which(Approved { task, generation, by: name(by), comment: None })), "applied").replace('"', "")
    };
    let mut d = beside(approval(&["ann", "bob"], 2), OnFailure::Continue);
    assert_eq!(say(&mut d, "ann", Event::ApprovalGiven), "not_reached");
    d.ok("other");
    assert_eq!(say(&mut d, "eve", Event::ApprovalGiven), "denied");
    assert_eq!(say(&mut d, "eve", Event::GateRejected), "denied");
    assert_eq!(say(&mut d, "ann", Event::ApprovalWithdrawn), "refused");
    assert_eq!(say(&mut d, "ann", Event::ApprovalGiven), "applied");
    assert_eq!(say(&mut d, "ann", Event::ApprovalGiven), "duplicate");
    assert_eq!(say(&mut d, "ann", Event::ApprovalWithdrawn), "applied");
    assert_eq!(say(&mut d, "ann", Event::ApprovalGiven), "applied");
    let mut rejected = d.clone();
    assert_eq!(say(&mut rejected, "bob", Event::GateRejected), "applied");
    assert_eq!(rejected.state("t"), TaskState::Error);
    assert_eq!(say(&mut d, "bob", Event::ApprovalGiven), "applied");
    assert_eq!(d.state("t"), TaskState::Complete);
    assert_eq!(say(&mut d, "bob", Event::ApprovalGiven), "duplicate");
    assert_eq!(say(&mut d, "bob", Event::GateRejected), "gate_over");
    let lease = d.lease_of("t");
    assert_eq!(d.say(Event::DispatchReturned(lease)), STALE, "nobody holds a lease on a gate");
}

/// Every operator act on every open state.
fn operated() -> Vec<Driver> {
    let open = [TaskState::Pending, TaskState::Enqueued, TaskState::InProgress, TaskState::WaitingForRetry];
    let acts: [fn(&mut Driver) -> Verdict; 4] =
        [|d| d.skip("t"), |d| d.cancel_task("t"), |d| d.resolve("t"), |d| d.complete("t", "1")];
    let pairs = open.into_iter().flat_map(|state| acts.map(|act| (state, act)));
    pairs
        .map(|(state, act)| {
            let mut d = at(state);
            assert_eq!(act(&mut d), Verdict::Applied);
            d
        })
        .collect()
}

/// Timeouts in queue, altogether while ready, at work and waiting, and a grant that came back.
fn timed() -> Vec<Driver> {
    let begin = |overall, queue| {
        let mut d = beside(with_timeouts(action(2), overall, queue), OnFailure::Continue);
        d.ok("other");
        d
    };
    let mut all = vec![begin(None, Some(10)), begin(Some(10), None)];
    let mut working = begin(Some(10), None);
    working.lease(working.ix("t"));
    let mut waiting = begin(Some(10), None);
    waiting.fail("t");
    all.extend([working, waiting]);
    for d in &mut all {
        assert_eq!(d.fire_next(), Verdict::Applied);
        assert_eq!(d.state("t"), TaskState::Error);
    }
    let mut again = at(TaskState::WaitingForRetry);
    again.fire_next();
    again.lease(again.ix("t"));
    let lease = again.lease_of("t");
    again.say(Event::DispatchReturned(lease));
    again.fail("t");
    all.push(again);
    // A sub-run begins its next attempt by itself.
    let mut child = beside(sub_run(2), OnFailure::Continue);
    child.ok("other");
    let (task, generation) = (child.ix("t"), 1);
    let ended = links::told(&child, LinkRef { task, generation, attempt: 1 }, Some(Failure::new("SubRunFailed", "")));
    child.say(ended);
    child.fire_next();
    assert_eq!(child.state("t"), TaskState::InProgress);
    all.push(child);
    all
}

/// Decided against, without input, gates and spreads that begin by themselves, and everything opened again.
fn derived() -> Vec<Driver> {
    let mut skipped = beside(action(1), OnFailure::Continue);
    skipped.fail("other");
    let mut reset = skipped.clone();
    reset.reset("other");
    let mut cancelled = beside(action(1), OnFailure::Continue);
    cancelled.cancel_task("other");
    let mut revived = cancelled.clone();
    revived.resolve("other");
    let reference = Expr::root("tasks.other.output", Root::Output { up: 0, node: 0 }, &["no"]);
    let given = Work::Action { action: name("noop"), with: Template::Expr(reference) };
    let mut starved = beside(work(given), OnFailure::Continue);
    starved.ok("other");
    let mut waited = beside(gate(Wait::After(Millis(5))), OnFailure::Continue);
    waited.ok("other");
    waited.fire_next();
    let left = Performance::new("flow t():\n    return 1\n    @never()\n", &serde_json::json!({}), Watch::All).driver;
    let twice = [spread_done_twice(true), spread_done_twice(false)];
    [skipped, reset, cancelled, revived, starved, waited, left].into_iter().chain(twice).collect()
}

/// A spread that was Complete or ResolvedManually is opened again through its failed item.
fn spread_done_twice(tolerated: bool) -> Driver {
    let mut sketch = Sketch::new(OnFailure::Continue);
    let inner = sketch.region();
    sketch.node(0, "t", crate::driver::spread_bearing(inner, 2, u32::from(tolerated), false), &[]);
    sketch.node(inner, "p", action(1), &[]);
    let mut d = Driver::planned(sketch.build());
    d.fail("t[0]");
    if tolerated {
        d.ok("t[1]");
        assert_eq!(d.state("t"), TaskState::Complete);
    } else {
        d.resolve("t");
        assert_eq!(d.state("t"), TaskState::ResolvedManually);
    }
    assert_eq!(d.reset("t[0]"), Verdict::Applied);
    assert_eq!(d.state("t"), TaskState::InProgress);
    d
}

/// Work under way is opened again, because what it follows is.
fn rerun() -> Vec<Driver> {
    let open = [TaskState::Enqueued, TaskState::InProgress, TaskState::WaitingForRetry];
    let again = |state| {
        let mut d = at(state);
        assert_eq!(d.rerun_task("other"), Verdict::Applied);
        assert_eq!(d.state("t"), TaskState::Pending);
        d
    };
    open.map(again).into()
}

/// Moves of the table that no event leads to: nothing rests in the two states of evaluation, a task's overall
/// time begins when it is ready, and what it is given is evaluated before it is offered.
fn is_only_passed(from: TaskState, by: Move) -> bool {
    let evaluated = matches!(from, TaskState::EnqueuedForOrchestration | TaskState::EnqueuedAsErrorForOrchestration);
    (evaluated && by != Move::Evaluated)
        || (from, by) == (TaskState::Pending, Move::OverallTimeout)
        || (from, by) == (TaskState::Enqueued, Move::InputFailed)
}

#[test]
fn every_move_of_the_table_is_taken_and_every_task_state_is_reached() {
    let mut taken = Taken::new();
    for d in operated().into_iter().chain(timed()).chain(derived()).chain(rerun()) {
        d.close();
        let history: History = d.stream().history();
        taken.extend(history.tasks.values().flatten().map(|t| (t.from, t.by, t.to)));
    }
    for (from, by, to) in MOVES {
        for (from, to) in from.iter().flat_map(|f| to.iter().map(move |t| (*f, *t))) {
            let expected = !is_only_passed(from, *by);
            assert_eq!(taken.contains(&(from, *by, to)), expected, "{from:?} by {by:?} to {to:?}");
        }
    }
    let reached: BTreeSet<TaskState> = taken.iter().flat_map(|(from, _, to)| [*from, *to]).collect();
    assert_eq!(reached, TaskState::ALL.into_iter().collect());
}

#[test]
fn every_run_state_is_reached() {
    let mut reached = BTreeSet::from([RunState::Pending]);
    let mut see = |d: &Driver, last: RunState| {
        d.is(last);
        reached.extend(d.stream().history().run.iter().map(|t| t.to));
    };
    let mut d = at(TaskState::WaitingForRetry);
    see(&d, RunState::EnqueuingTasks);
    d.ok("open");
    see(&d, RunState::WaitingForRetry);
    d.fire_next();
    d.ok("t");
    see(&d, RunState::Complete);
    let mut held = beside(action(1), OnFailure::Hold);
    held.fail("other");
    held.ok("open");
    see(&held, RunState::BlockedByFailures);
    held.resolve_run();
    see(&held, RunState::ResolvedManually);
    let mut gated = beside(approval(&[], 1), OnFailure::Continue);
    gated.ok("other");
    gated.ok("open");
    see(&gated, RunState::WaitingForDependencies);
    gated.cancel();
    see(&gated, RunState::Cancelled);
    let mut failed = beside(action(1), OnFailure::Continue);
    failed.fail("other");
    failed.ok("open");
    see(&failed, RunState::Error);
    assert_eq!(reached, RunState::ALL.into_iter().collect());
}

#[test]
fn history_has_every_transition_with_its_event_also_those_within_one() {
    let mut d = at(TaskState::Enqueued);
    d.ok("t");
    let history = d.stream().history();
    let task = &history.tasks[&d.ix("t")];
    let states: Vec<TaskState> = task.iter().map(|t| t.to).collect();
    let all = [TaskState::Enqueued, TaskState::InProgress, TaskState::EnqueuedForOrchestration, TaskState::Complete];
    assert_eq!(states, all);
    assert_eq!(task[2].seq, task[3].seq, "received and evaluated by one event");
    let finished = &d.ledger[task[3].seq as usize - 1];
    assert_eq!((task[3].event, task[3].at, &*task[3].source), (finished.stamp.id, finished.stamp.at, "test"));
    assert_eq!(task.iter().map(|t| t.most_recent).collect::<Vec<_>>(), [false, false, false, true]);
    let run: Vec<(RunState, &str)> = history.run.iter().map(|t| (t.to, &*t.by)).collect();
    assert_eq!(run[..2], [(RunState::Initializing, "PlanCreated"), (RunState::EnqueuingTasks, "PlanCreated")]);
    assert!(run.contains(&(RunState::EvaluatingResults, "TaskFinished")));
    assert!(history.run.windows(2).all(|w| w[0].to == w[1].from), "each begins where the last one ended");
}
