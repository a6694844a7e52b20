//! Slack: how late each task could have ended at the latest, from the end of the run backwards.

use super::watch::Watched;
use crate::event::TaskIx;
use crate::time::Time;

/// The latest instant at which each task could have ended, by number.
pub(super) fn latest_ends(watched: &Watched) -> Vec<Time> {
    let mut latest = vec![watched.until; watched.tasks.len()];
    let mut scopes = if watched.run.scopes.is_empty() { Vec::new() } else { vec![0] };
    // A composite comes before what is inside of it, and a round before the one that led to it.
    while let Some(scope) = scopes.pop() {
        let mut tasks: Vec<TaskIx> = watched.tasks_of(scope).collect();
        // Behind each task stands only what was decided later.
        tasks.sort_by_key(|task| std::cmp::Reverse(watched.tasks[task.0 as usize].decided_place()));
        for task in &tasks {
            latest[task.0 as usize] = latest_end(watched, *task, &latest);
        }
        for task in tasks {
            scopes.extend(watched.inner.get(&task).into_iter().flatten());
        }
    }
    latest
}

fn latest_end(watched: &Watched, task: TaskIx, latest: &[Time]) -> Time {
    let run = &watched.run;
    let number = run.tasks[task.0 as usize].scope;
    let scope = run.scope_of(task);
    let region = run.region_of(scope);
    let bound = if number == 0 { watched.until } else { latest[scope.parent.0 as usize] };
    let node = task.0 - scope.task;
    let done = watched.tasks[task.0 as usize].done_place;
    let starts = |down: TaskIx| latest_start(watched, down, latest);
    if region.script().is_none() {
        let behind = region.needed_by(node).iter().filter_map(|out| {
            let down = TaskIx(scope.task + out.down);
            let times = &watched.tasks[down.0 as usize];
            let accepted = run.resolution(scope, out.edge).is_some_and(|f| region.edge(out.edge).accepts.contains(f));
            // What was decided without waiting for this task does not bind it.
            let counted = done > 0 && times.decided_place() > done && (accepted || !times.was_ready());
            counted.then(|| starts(down))
        });
        return behind.fold(bound, Time::min);
    }
    let next = (node + 1..region.len())
        .map(|node| TaskIx(scope.task + node))
        .find(|task| watched.tasks[task.0 as usize].ready_place > done);
    match next {
        Some(next) => bound.min(starts(next)),
        None if number != 0 && watched.in_turn(scope.parent) => {
            let first = |scope| watched.tasks_of(scope).find(|task| watched.tasks[task.0 as usize].was_ready());
            watched.scopes_after(number).find_map(first).map_or(bound, |next| bound.min(starts(next)))
        }
        None => bound,
    }
}

/// The latest instant at which a task could have become ready.
fn latest_start(watched: &Watched, task: TaskIx, latest: &[Time]) -> Time {
    let times = &watched.tasks[task.0 as usize];
    let took = if times.was_ready() { watched.end_of(task).since(times.ready_at).0 } else { 0 };
    Time(latest[task.0 as usize].0.saturating_sub(took))
}
