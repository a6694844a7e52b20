//! Edges: they are the plan's, each resolves once, and the counts beside tasks only cache them.

use super::{Held, Step, broken, holds_failures, needs, owed, tasks};
use crate::event::TaskIx;
use crate::plan::Resolution;
use crate::run::Run;
use crate::state::TaskState;

/// Scopes are laid out one after the other, each with the tasks and edges of its region, and nothing is left over.
pub fn edges_match_plan(run: &Run) -> Held {
    let fail = |message: String| broken("edges_match_plan", run, None, message);
    if run.planned == run.scopes.is_empty() {
        return fail(format!("planned is {}, but there are {} scopes", run.planned, run.scopes.len()));
    }
    let (mut next_task, mut next_edge) = (0, 0);
    let mut gaps = false;
    for number in 0..run.scopes.len() {
        let Some(scope) = run.scopes.get(number) else {
            gaps = true;
            continue;
        };
        let region = run.region_of(scope);
        let follows = scope.task == next_task || (gaps && scope.task > next_task);
        let edges_follow = scope.edge == next_edge || (gaps && scope.edge > next_edge);
        if !follows || !edges_follow {
            return fail(format!("scope {number} does not begin where the one before it ends"));
        }
        next_task = scope.task + region.len();
        next_edge = scope.edge + region.edge_count();
        let own = |at: u32| run.tasks.get(at as usize).is_some_and(|task| task.scope as usize == number);
        if !(scope.task..next_task).all(own) {
            return fail(format!("scope {number} lacks tasks of its region"));
        }
    }
    let fits = |len: usize, next: u32| len == next as usize || (gaps && len > next as usize);
    let may_have_gaps = run.is_program() || run.generation > 1;
    if (gaps && !may_have_gaps) || !fits(run.tasks.len(), next_task) || !fits(run.edges.len(), next_edge) {
        return fail(format!(
            "the plan has {next_task} tasks and {next_edge} edges in these scopes, the run {} and {}",
            run.tasks.len(),
            run.edges.len()
        ));
    }
    match run.edges.iter().find(|e| **e != 0 && Resolution::from_byte(**e).is_none()) {
        Some(byte) => fail(format!("an edge has the byte {byte}, which is no resolution")),
        None => Ok(()),
    }
}

/// An edge that is resolved was resolved by its upstream, as it ended then.
pub fn edge_has_cause(run: &Run) -> Held {
    for task in tasks(run) {
        for (edge, up, _) in needs(run, task) {
            let found = Resolution::from_byte(run.edges[edge as usize]);
            if found.is_some() && found != owed(run, edge, up) {
                let message = format!("edge {edge} is {found:?}, but its upstream {} says otherwise", up.0);
                return broken("edge_has_cause", run, Some(task), message);
            }
        }
    }
    match run.kept.iter().find(|(edge, fact)| run.edges.get(**edge as usize) != Some(&(**fact as u8))) {
        Some((edge, fact)) => broken("edge_has_cause", run, None, format!("edge {edge} was kept as {fact:?} and lost")),
        None => Ok(()),
    }
}

/// Once a task is done, nobody behind it waits for it any more; but under `hold` a failure waits for an operator.
pub fn done_resolves_all_out_edges(run: &Run) -> Held {
    for task in tasks(run) {
        for (edge, up, _) in needs(run, task) {
            let state = run.tasks[up.0 as usize].state;
            let held = state == TaskState::Error && holds_failures(run);
            if state.is_done() && !held && run.edges[edge as usize] == 0 {
                let message = format!("its upstream {} is {state:?} and the edge {edge} between them is open", up.0);
                return broken("done_resolves_all_out_edges", run, Some(task), message);
            }
        }
    }
    Ok(())
}

/// The counts beside a task are those of its edges, and never more than it has.
pub fn counter_matches_edges(run: &Run) -> Held {
    for ix in tasks(run) {
        let (mut accepted, mut refused) = (0, 0);
        for (edge, _, need) in needs(run, ix) {
            match Resolution::from_byte(run.edges[edge as usize]) {
                Some(fact) if need.accepts.contains(fact) => accepted += 1,
                Some(_) => refused += 1,
                None => {}
            }
        }
        let task = &run.tasks[ix.0 as usize];
        if (task.accepted, task.refused) != (accepted, refused) {
            let message = format!(
                "it counts {} accepted and {} refused, its edges say {accepted} and {refused}",
                task.accepted, task.refused
            );
            return broken("counter_matches_edges", run, Some(ix), message);
        }
    }
    Ok(())
}

/// A resolved edge stays as it is, until an operator opens the next generation of a task at one of its ends.
pub fn edge_resolves_once(step: &Step<'_>) -> Held {
    let (before, after) = (step.before, step.after);
    let reopened = |task: TaskIx| {
        let generation = |run: &Run| run.tasks.get(task.0 as usize).map(|t| t.generation);
        generation(before) != generation(after)
    };
    for task in tasks(before) {
        for (edge, up, _) in needs(before, task) {
            let (was, is) = (before.edges[edge as usize], after.edges[edge as usize]);
            if was != 0 && was != is && !reopened(task) && !reopened(up) {
                let message = format!("edge {edge} was resolved as {was} and is now {is}");
                return broken("edge_resolves_once", after, Some(task), message);
            }
        }
    }
    Ok(())
}
