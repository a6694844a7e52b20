//! The oracle: how a run must end, said a second time, from the promises and not from the fold.
//!
//! Here the ledger is read: what was accepted about each task, and how the run was found. [`Ends`] says from
//! the plan and from that alone how everything must have ended.

mod ends;
#[cfg(test)]
mod tests;

use crate::violation::{Held, ensure};
use crate::witness::Book;
use edgewise_core::event::{Event, Failure, TaskIx, TimerKind};
use edgewise_core::gate::{OnDeadline, Wait};
use edgewise_core::name::Name;
use edgewise_core::plan::{Resolution, Spec, Work};
use edgewise_core::retry::Retry;
use edgewise_core::run::Run;
use edgewise_core::state::{RunState, TaskState};
use ends::Ends;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};

/// Every task and the run itself ended as they must.
pub fn compare(book: &Book) -> Held {
    let run = &book.run;
    let ends = ends_of(book);
    let tasks = (0..run.total()).map(TaskIx);
    let found: BTreeMap<_, _> = tasks.map(|task| (run.path(task), resolution(run, task))).collect();
    let (expected, outcome, is) = (ends.of_tasks(), outcome(&ends), run.state);
    let said = |what: &str| format!("{what} of {}: expected {outcome:?} {expected:?}, found {is:?} {found:?}", run.id);
    let all = expected.values().all(Option::is_some);
    ensure(all && found == expected, "tasks_end_as_promised", || said("the tasks"))?;
    ensure(outcome == is, "runs_end_as_promised", || said("the run"))
}

/// What follows from the accepted facts, in the order of the ledger.
fn ends_of(book: &Book) -> Ends<'_> {
    let mut ends = Ends::new(&book.run.plan);
    let mut yes: BTreeMap<TaskIx, BTreeSet<Name>> = BTreeMap::new();
    // The last attempt of a sub-run that took too long.
    let mut timed_out: BTreeMap<TaskIx, u16> = BTreeMap::new();
    let mut input = None;
    for entry in &book.entries {
        match &entry.event {
            Event::RunTriggered(e) => {
                let given: Value = serde_json::from_str(e.input.get()).unwrap_or_default();
                input = given.get("list").and_then(Value::as_array).map(Vec::len);
            }
            Event::PlanCreated(_) => ends.begin(input),
            Event::RunCancelRequested(_) => ends.cancel(),
            Event::ApprovalGiven(e) => drop(yes.entry(e.task).or_default().insert(e.by.clone())),
            Event::ApprovalWithdrawn(e) => drop(yes.entry(e.task).or_default().remove(&e.by)),
            Event::TimerFired(e) if e.timer.kind == TimerKind::Attempt => {
                timed_out.insert(e.timer.task, e.timer.attempt);
            }
            // What is told of a child that its task went on without changes nothing.
            Event::LinkResolved(e)
                if timed_out.get(&e.link.task).is_some_and(|last| e.link.attempt <= *last)
                    || ends.has_ended(&book.run.path(e.link.task)) =>
            {
                continue;
            }
            _ => {}
        }
        let Some(task) = entry.event.task() else { continue };
        let said_yes = yes.get(&task).map_or(0, BTreeSet::len);
        if let Some(how) = accepted(book.run.spec_of(task), &entry.event, said_yes) {
            ends.accept(&book.run.path(task), how, list_in(&entry.event));
        }
    }
    ends
}

/// How a task ended by an event, if it did: only the last failure of a task ends it, and only enough people a gate.
fn accepted(spec: &Spec, event: &Event, said_yes: usize) -> Option<Resolution> {
    let gate = if let Work::Gate(gate) = &spec.work { Some(gate) } else { None };
    match event {
        Event::TaskFinished(e) => match &e.error {
            None => Some(Resolution::Success),
            Some(failure) => is_last(&spec.retry, e.attempt, failure).then_some(Resolution::Failed),
        },
        Event::LinkResolved(e) => match &e.error {
            None => Some(Resolution::Success),
            Some(failure) => is_last(&spec.retry, e.link.attempt, failure).then_some(Resolution::Failed),
        },
        Event::GateRejected(_) => Some(Resolution::Failed),
        Event::ApprovalGiven(_) => {
            let enough = |wait: &Wait| matches!(wait, Wait::Approval { count, .. } if said_yes >= *count as usize);
            gate.filter(|gate| enough(&gate.wait)).map(|_| Resolution::Success)
        }
        Event::TimerFired(e) => match e.timer.kind {
            TimerKind::Retry => None,
            TimerKind::Attempt => {
                let timeout = Failure::new("timeout", "");
                is_last(&spec.retry, e.timer.attempt, &timeout).then_some(Resolution::Failed)
            }
            TimerKind::Gate => Some(Resolution::Success),
            TimerKind::Deadline if gate.is_some_and(|g| g.on_deadline == OnDeadline::Open) => Some(Resolution::Success),
            TimerKind::Deadline | TimerKind::Queue | TimerKind::Overall => Some(Resolution::Failed),
        },
        _ => None,
    }
}

/// Whether no attempt follows this one: the definition is the bound, and the worker can only narrow it.
fn is_last(retry: &Retry, attempt: u16, failure: &Failure) -> bool {
    let Retry { max_attempts, retryable, on, never, .. } = retry;
    let hopeless = ["panic", "handler_not_found", "bad_input", "output_too_large"].contains(&&*failure.kind);
    let wanted = (on.is_empty() || on.contains(&failure.kind)) && !never.contains(&failure.kind);
    attempt >= *max_attempts || !retryable || !failure.retryable || hopeless || !wanted
}

/// How many items the output has that an event tells of, if it is a list.
fn list_in(event: &Event) -> Option<usize> {
    let output: &RawValue = match event {
        Event::TaskFinished(e) => e.output.as_deref()?,
        Event::LinkResolved(e) => e.output.as_deref()?,
        _ => return None,
    };
    serde_json::from_str::<Value>(output.get()).ok()?.as_array().map(Vec::len)
}

/// How a task was found, if it has ended.
fn resolution(run: &Run, task: TaskIx) -> Option<Resolution> {
    match run.tasks[task.0 as usize].state {
        TaskState::Complete => Some(Resolution::Success),
        TaskState::Error => Some(Resolution::Failed),
        TaskState::Skipped => Some(Resolution::Skipped),
        TaskState::Cancelled => Some(Resolution::Cancelled),
        _ => None,
    }
}

fn outcome(ends: &Ends<'_>) -> RunState {
    match ends.of_the_run() {
        Resolution::Failed => RunState::Error,
        Resolution::Cancelled => RunState::Cancelled,
        _ => RunState::Complete,
    }
}
