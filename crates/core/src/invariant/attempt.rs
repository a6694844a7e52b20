//! Attempts: at most one live lease, at most so many attempts, one outcome each, and a wait in between.

use super::task::is_outcome;
use super::{Allowed, Held, Step, broken, tasks};
use crate::event::{Event, TaskIx, TimerKind};
use crate::fold::TaskMove;
use crate::history::Stream;
use crate::run::{Reason, Run};
use crate::state::{Move, TaskState};
use std::collections::{BTreeMap, BTreeSet};

/// A lease lives only on a task that is ready, of a run that is not cancelled.
pub fn leased_only_if_ready(run: &Run) -> Held {
    for ix in tasks(run) {
        let task = &run.tasks[ix.0 as usize];
        if task.state != TaskState::InProgress || !run.is_leasable(ix) {
            continue;
        }
        let ready = Allowed::of(run, ix).is_ready() && task.ready_at.known().is_some();
        if !ready || run.cancel.is_some() || task.attempt == 0 {
            return broken("leased_only_if_ready", run, Some(ix), "it has a lease and should have none");
        }
    }
    Ok(())
}

/// No task has more attempts than its flow allows; what needs no worker has none.
pub fn attempts_are_bounded(run: &Run) -> Held {
    for ix in tasks(run) {
        let attempt = run.tasks[ix.0 as usize].attempt;
        let most = if run.has_attempts(ix) { run.spec_of(ix).retry.most_attempts() } else { 0 };
        if attempt > most {
            let message = format!("it is at attempt {attempt}, {most} are allowed");
            return broken("attempts_are_bounded", run, Some(ix), message);
        }
    }
    Ok(())
}

/// Live leases are counted right, and no two of them have one token.
pub fn one_live_lease(run: &Run) -> Held {
    let mut tokens = BTreeSet::new();
    let mut live = 0;
    for ix in tasks(run) {
        let task = &run.tasks[ix.0 as usize];
        if task.state == TaskState::InProgress && run.is_leasable(ix) {
            live += 1;
            if !tokens.insert(task.token) {
                return broken("one_live_lease", run, Some(ix), "its token is that of another live lease");
            }
        }
    }
    if live == run.leased {
        return Ok(());
    }
    broken("one_live_lease", run, None, format!("{live} leases live, {} are counted", run.leased))
}

/// One attempt ends at most once, whoever says it.
pub fn one_outcome_per_attempt(stream: &Stream<'_>) -> Held {
    let mut ended: BTreeSet<(TaskIx, u16, u16)> = BTreeSet::new();
    stream.walk(|run, _, changes, _| {
        for m in changes.moves.iter().filter(|m| is_outcome(m.by) && run.has_attempts(m.task)) {
            let task = &run.tasks[m.task.0 as usize];
            if !ended.insert((m.task, task.generation, task.attempt)) {
                let message = format!("attempt {} of generation {} ended twice", task.attempt, task.generation);
                return broken("one_outcome_per_attempt", run, Some(m.task), message);
            }
        }
        Ok(())
    })
}

/// A failed task with attempts left waits for its timer, and nobody else does.
pub fn retry_waits(run: &Run) -> Held {
    let mut timers: BTreeMap<TaskIx, (u16, u16)> = BTreeMap::new();
    for key in run.timers.keys().filter(|k| k.kind == TimerKind::Retry) {
        if timers.insert(key.task, (key.generation, key.attempt)).is_some() {
            return broken("retry_waits", run, Some(key.task), "it has two retry timers");
        }
    }
    for ix in tasks(run) {
        let task = &run.tasks[ix.0 as usize];
        let waits = task.state == TaskState::WaitingForRetry;
        if waits != (timers.get(&ix) == Some(&(task.generation, task.attempt))) || waits != timers.contains_key(&ix) {
            let message = format!("it is {:?} with retry timer {:?}", task.state, timers.get(&ix));
            return broken("retry_waits", run, Some(ix), message);
        }
        let spent = task.attempt >= run.spec_of(ix).retry.most_attempts();
        if waits && (spent || !matches!(run.reasons.get(&ix), Some(Reason::Failed(_)))) {
            return broken("retry_waits", run, Some(ix), "it waits for an attempt that it does not have");
        }
    }
    Ok(())
}

/// A task is offered when it becomes ready or the run is resumed, and whatever becomes ready is offered.
pub fn outbox_has_cause(step: &Step<'_>) -> Held {
    let fail = |task, message: &str| broken("outbox_has_cause", step.after, Some(task), message);
    let offered: BTreeSet<TaskIx> = step.changes.ready.iter().copied().collect();
    let into =
        |m: &&TaskMove| matches!(m.by, Move::Allowed | Move::RetryDue | Move::Returned) && m.to == TaskState::Enqueued;
    let became: BTreeSet<TaskIx> = step.changes.moves.iter().filter(into).map(|m| m.task).collect();
    if let Some(task) = became.difference(&offered).next() {
        return fail(*task, "it became ready and is not offered");
    }
    let resumed = matches!(step.event, Event::RunResumeRequested(_));
    if let Some(task) = offered.difference(&became).find(|_| !resumed) {
        return fail(*task, "it is offered and did not become ready");
    }
    for task in tasks(step.after) {
        let row = step.after.outbox_row(task);
        let entry = &step.after.tasks[task.0 as usize];
        let advancing = entry.state == TaskState::InProgress && step.after.advancing.contains(&task);
        let child = entry.state == TaskState::InProgress && step.after.spec_of(task).work.is_linked();
        let due = entry.state == TaskState::Enqueued || advancing || child;
        let attempt = if child { entry.attempt } else { entry.attempt + 1 };
        let fits = row.as_ref().is_none_or(|r| {
            (r.generation, r.attempt, r.ready_at) == (entry.generation, attempt, entry.ready_at)
                && r.attempt <= step.after.spec_of(task).retry.most_attempts()
        });
        if row.is_some() != due || !fits {
            return fail(task, "its outbox row is not what its state says");
        }
    }
    Ok(())
}
