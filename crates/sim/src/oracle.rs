//! The oracle: how a run must end, said a second time, from the promises and not from the fold.
//!
//! Here the ledger is read: what was accepted about each task, and how the run was found. [`Ends`] says from
//! the plan and from that alone how everything must have ended.
//!
//! A run that was done again as a whole is judged from there on; one of which only some finished work was opened
//! again, where its plan has one scope and its tasks no runs of their own. The others are left to the invariants and
//! the witness.

mod ends;
#[cfg(test)]
mod tests;

use crate::violation::{Violation, ensure};
use crate::witness::Book;
use edgewise_core::event::{Event, Failure, RerunFrom, TaskIx, TimerKind};
use edgewise_core::gate::{OnDeadline, Wait};
use edgewise_core::history::Entry;
use edgewise_core::name::Name;
use edgewise_core::plan::{Resolution, Spec, Work};
use edgewise_core::retry::Retry;
use edgewise_core::run::Run;
use edgewise_core::state::{RunState, TaskState};
use ends::{Again, Ends, Fact};
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};

/// Every task and the run itself ended as they must. False if the run is not judged here.
pub fn compare(book: &Book) -> Result<bool, Violation> {
    let run = &book.run;
    if run.plan.regions.iter().any(|region| region.script().is_some()) {
        // What a program comes to is said by its reference.
        return Ok(false);
    }
    let Some(ends) = ends_of(book) else { return Ok(false) };
    let dropped = dropped(run);
    let tasks = run.present().filter(|task| !dropped.contains(&run.tasks[task.0 as usize].scope));
    let found: BTreeMap<_, _> = tasks.map(|task| (run.path(task), resolution(run, task))).collect();
    let (expected, outcome, is) = (ends.of_tasks(), outcome(&ends), run.state);
    let said = |what: &str| format!("{what} of {}: expected {outcome:?} {expected:?}, found {is:?} {found:?}", run.id);
    let all = expected.values().all(Option::is_some);
    ensure(all && found == expected, "tasks_end_as_promised", || said("the tasks"))?;
    ensure(outcome == is, "runs_end_as_promised", || said("the run"))?;
    Ok(true)
}

/// The scopes that were made before the run was done again, and those within them.
fn dropped(run: &Run) -> BTreeSet<u32> {
    let mut dropped: BTreeSet<u32> = run.over.iter().copied().collect();
    // A scope is made after the one that it is in.
    for number in 1..run.scopes.len() as u32 {
        let within = run.tasks[run.scopes[number as usize].parent.0 as usize].scope;
        if dropped.contains(&within) {
            dropped.insert(number);
        }
    }
    dropped
}

/// What follows from the accepted facts; nothing if some finished work was opened again.
fn ends_of(book: &Book) -> Option<Ends<'_>> {
    let whole = |event: &Event| matches!(event, Event::RunRerunRequested(e) if e.from == RerunFrom::Start);
    let anew = book.entries.iter().rposition(|entry| whole(&entry.event));
    let mut ends = Ends::new(&book.run.plan);
    let Some(anew) = anew else { return follow(book, ends, &book.entries) };
    // A late word of a child of before cannot be told from one of its successor by what the ledger says of it.
    if book.run.plan.specs.iter().any(|spec| spec.work.is_linked()) {
        return None;
    }
    let (before, facts) = book.entries.split_at(anew + 1);
    ends.accept(Fact::Begun(before.iter().find_map(|entry| list_given(&entry.event))));
    follow(book, ends, facts)
}

/// One fact after the other, in the order of the ledger.
fn follow<'a>(book: &'a Book, mut ends: Ends<'a>, facts: &[Entry]) -> Option<Ends<'a>> {
    let mut yes: BTreeMap<TaskIx, BTreeSet<Name>> = BTreeMap::new();
    // The last attempt of a sub-run that took too long.
    let mut timed_out: BTreeMap<TaskIx, u16> = BTreeMap::new();
    let mut input = None;
    for entry in facts {
        match &entry.event {
            Event::RunTriggered(_) => input = list_given(&entry.event),
            Event::PlanCreated(_) => ends.accept(Fact::Begun(input)),
            Event::RunCancelRequested(_) => ends.accept(Fact::Cancelled),
            Event::RunResolvedManually(_) => ends.accept(Fact::Resolved),
            Event::RunGivenUp(_) => ends.accept(Fact::GivenUp),
            Event::RunRerunRequested(e) => {
                let path = if let RerunFrom::Task { task, .. } = e.from { Some(book.run.path(task)) } else { None };
                let again = path.as_deref().map_or(Again::Failure, Again::Task);
                ask_again(book, &ends.open_again(again)?, &mut yes)?;
            }
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
        let path = book.run.path(task);
        let how = overruled(&entry.event);
        let again = match &entry.event {
            Event::TaskResetForRetry(_) => Some(Again::Reset(&path)),
            _ if how.is_some() && ends.has_ended(&path) => Some(Again::Resolved(&path)),
            _ => None,
        };
        if let Some(again) = again {
            ask_again(book, &ends.open_again(again)?, &mut yes)?;
        }
        if let Some(how) = how {
            ends.accept(Fact::Ended(&path, how, list_in(&entry.event)));
        }
        let said_yes = yes.get(&task).map_or(0, BTreeSet::len);
        if let Some(how) = accepted(book.run.spec_of(task), &entry.event, said_yes) {
            ends.accept(Fact::Ended(&path, how, list_in(&entry.event)));
        }
    }
    Some(ends)
}

/// Gates that are opened again ask anew. Nothing if a late word of a child could not be told from one of its successor.
fn ask_again(book: &Book, opened: &BTreeSet<String>, yes: &mut BTreeMap<TaskIx, BTreeSet<Name>>) -> Option<()> {
    yes.retain(|task, _| !opened.contains(&book.run.path(*task)));
    (!book.run.plan.specs.iter().any(|spec| spec.work.is_linked())).then_some(())
}

/// How many items the list has that a run was given.
fn list_given(event: &Event) -> Option<usize> {
    let Event::RunTriggered(e) = event else { return None };
    let given: Value = serde_json::from_str(e.input.get()).unwrap_or_default();
    given.get("list").and_then(Value::as_array).map(Vec::len)
}

/// How a task ended by the word of an operator.
fn overruled(event: &Event) -> Option<Resolution> {
    match event {
        Event::TaskSkipRequested(_) => Some(Resolution::Skipped),
        Event::TaskCancelRequested(_) => Some(Resolution::Cancelled),
        Event::TaskResolvedManually(_) | Event::TaskCompletedManually(_) => Some(Resolution::Success),
        _ => None,
    }
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
        Event::GateSatisfied(_) => Some(Resolution::Success),
        Event::ApprovalGiven(_) => {
            let enough = |wait: &Wait| matches!(wait, Wait::Approval { count, .. } if said_yes >= *count as usize);
            gate.filter(|gate| enough(&gate.wait)).map(|_| Resolution::Success)
        }
        Event::TimerFired(e) => match e.timer.kind {
            TimerKind::Retry | TimerKind::Escalation => None,
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
        Event::TaskCompletedManually(e) => &e.output,
        _ => return None,
    };
    serde_json::from_str::<Value>(output.get()).ok()?.as_array().map(Vec::len)
}

/// How a task was found, if it has ended.
fn resolution(run: &Run, task: TaskIx) -> Option<Resolution> {
    match run.tasks[task.0 as usize].state {
        TaskState::Complete | TaskState::ResolvedManually => Some(Resolution::Success),
        TaskState::Error => Some(Resolution::Failed),
        TaskState::Skipped => Some(Resolution::Skipped),
        TaskState::Cancelled => Some(Resolution::Cancelled),
        _ => None,
    }
}

fn outcome(ends: &Ends<'_>) -> RunState {
    match ends.of_the_run() {
        None => RunState::ResolvedManually,
        Some(Resolution::Failed) => RunState::Error,
        Some(Resolution::Cancelled) => RunState::Cancelled,
        Some(_) => RunState::Complete,
    }
}
