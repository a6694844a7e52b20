//! The critical path: from what ended last back to the start, from each task to its decider.

use super::watch::{Times, Watched};
use crate::event::TaskIx;
use crate::state::TaskState;
use std::cmp::Reverse;

/// From the start to the end. Tasks that never were ready are left out: they took no time.
pub(super) fn of(watched: &Watched) -> Vec<TaskIx> {
    let mut path = Vec::new();
    let mut at = if watched.run.scopes.is_empty() { None } else { last_of(watched, 0).map(|t| innermost(watched, t)) };
    let mut before = u64::MAX;
    while let Some(task) = at {
        let times = &watched.tasks[task.0 as usize];
        // Each was decided before the one it decided; so there is an end to it.
        if times.decided_place() >= before {
            break;
        }
        before = times.decided_place();
        if times.was_ready() {
            path.push(task);
        }
        at = decider(watched, task).map(|task| innermost(watched, task));
    }
    path.reverse();
    path
}

/// What ended last in a scope.
fn last_of(watched: &Watched, scope: u32) -> Option<TaskIx> {
    watched
        .tasks_of(scope)
        .filter(|task| watched.tasks[task.0 as usize].was_ready())
        .max_by_key(|task| lateness(watched, *task))
}

fn lateness(watched: &Watched, task: TaskIx) -> (u64, bool, Reverse<u64>) {
    let times = &watched.tasks[task.0 as usize];
    let end = if times.is_done() { times.done_seq } else { u64::MAX };
    let cancelled = watched.run.tasks[task.0 as usize].state == TaskState::Cancelled;
    (end, !cancelled, Reverse(times.ready_place))
}

/// A composite is what ended last inside of it.
fn innermost(watched: &Watched, mut task: TaskIx) -> TaskIx {
    while let Some(scopes) = watched.inner.get(&task) {
        let lasts = scopes.iter().filter_map(|scope| last_of(watched, *scope));
        match lasts.max_by_key(|last| lateness(watched, *last)) {
            Some(last) => task = last,
            None => break,
        }
    }
    task
}

/// The task whose end made this one ready, or decided against it.
fn decider(watched: &Watched, mut task: TaskIx) -> Option<TaskIx> {
    let mut place = watched.tasks[task.0 as usize].decided_place();
    loop {
        let number = watched.run.tasks[task.0 as usize].scope;
        if let Some(found) = in_scope(watched, task, place) {
            return Some(found);
        }
        if number == 0 {
            return None;
        }
        let parent = watched.run.scopes[number as usize].parent;
        if watched.in_turn(parent) {
            let before = |task: &TaskIx| is_before(&watched.tasks[task.0 as usize], place);
            let mut lasts = watched.scopes_before(number).filter_map(|scope| last_of(watched, scope));
            if let Some(found) = lasts.find(before) {
                return Some(found);
            }
        }
        task = parent;
        place = watched.tasks[task.0 as usize].decided_place();
    }
}

fn is_before(times: &Times, place: u64) -> bool {
    times.is_done() && times.done_place < place
}

/// The decider among those of the same scope.
fn in_scope(watched: &Watched, task: TaskIx, place: u64) -> Option<TaskIx> {
    let run = &watched.run;
    let scope = run.scope_of(task);
    let region = run.region_of(scope);
    let node = task.0 - scope.task;
    if region.script().is_some() {
        // Statements only go forward, so the nearest one that was done by then is the one before.
        return (0..node)
            .rev()
            .map(|node| TaskIx(scope.task + node))
            .find(|task| is_before(&watched.tasks[task.0 as usize], place));
    }
    let ready = watched.tasks[task.0 as usize].was_ready();
    let counted = region
        .needs(node)
        .filter(|(edge, need)| run.resolution(scope, *edge).is_some_and(|fact| !ready || need.accepts.contains(fact)));
    counted
        .map(|(_, need)| TaskIx(scope.task + need.up))
        .filter(|up| is_before(&watched.tasks[up.0 as usize], place))
        .max_by_key(|up| watched.tasks[up.0 as usize].done_place)
}
