//! From a run to a sketch: the plan's, with how each node and edge is doing.
//!
//! A node within a spread stands for a task in each scope: they are counted in one pass over all tasks, however many
//! there are.

use super::of_plan::{ARM, Drawn};
use super::tally::Tally;
use super::{Count, Head, Node, Now, Sketch};
use crate::event::TaskIx;
use crate::plan::{Resolution, Work};
use crate::run::{GONE_SCOPE, Run, Scope, resolution_of};
use crate::state::Phase;

impl Sketch {
    /// What is to be drawn of a run.
    pub fn of_run(run: &Run) -> Self {
        let mut drawn = Drawn::of(&run.plan);
        let tallies = tallies(run, &drawn);
        let facts = facts(run, &drawn);
        let root = run.plan.root().len();
        for (number, tally) in tallies.iter().enumerate() {
            let now = if number < root as usize && run.planned {
                of_root(run, TaskIx(number as u32))
            } else {
                of_many(
                    tally,
                    drawn.sketch.nodes[number].inside.and_then(|group| drawn.sketch.nodes[group as usize].now),
                )
            };
            drawn.sketch.nodes[number].now = Some(now);
            if number < root as usize && run.planned {
                let child = run.last_child(TaskIx(number as u32)).map(|child| format!(": {}", child.short()));
                drawn.sketch.nodes[number].note += &child.unwrap_or_default();
            }
        }
        for (edge, fact) in drawn.sketch.edges.iter_mut().zip(facts) {
            edge.resolution = fact;
        }
        let done = drawn.sketch.nodes[..root as usize].iter().filter(|node| node.now.is_some_and(is_done)).count();
        drawn.sketch.run =
            Some(Head { id: run.id, state: run.state, paused: run.paused, done: done as u32, total: root });
        drawn.sketch
    }
}

fn is_done(now: Now) -> bool {
    matches!(now.phase, Phase::Succeeded | Phase::Failed | Phase::Skipped | Phase::Cancelled)
}

/// How many tasks of each node are in which phase.
fn tallies(run: &Run, drawn: &Drawn<'_>) -> Vec<Tally> {
    let mut tallies = vec![Tally::default(); drawn.sketch.nodes.len()];
    for scope in run.scopes.iter().filter(|scope| **scope != GONE_SCOPE) {
        let Some((first, _)) = drawn.first[scope.region as usize] else { continue };
        for node in 0..run.region_of(scope).len() {
            tallies[(first + node) as usize].add(run.phase_of(TaskIx(scope.task + node)));
        }
    }
    // The box of an arm stands for no task of its own: it is as what is in it.
    let arm = |node: &Node| node.inside.filter(|group| drawn.sketch.nodes[*group as usize].kind == ARM);
    for (number, group) in drawn.sketch.nodes.iter().enumerate().filter_map(|(n, node)| Some((n, arm(node)?))) {
        let inner = tallies[number];
        tallies[group as usize].absorb(&inner);
    }
    tallies
}

/// How each edge ended, where all scopes that have it agree.
fn facts(run: &Run, drawn: &Drawn<'_>) -> Vec<Option<Resolution>> {
    // The outer `None` is an edge of which no scope has spoken yet.
    let mut facts: Vec<Option<Option<Resolution>>> = vec![None; drawn.sketch.edges.len()];
    for scope in run.scopes.iter().filter(|scope| **scope != GONE_SCOPE) {
        if run.region_of(scope).script().is_some() {
            steps(run, drawn, scope, &mut facts);
            continue;
        }
        let Some((_, first)) = drawn.first[scope.region as usize] else { continue };
        for edge in 0..run.region_of(scope).edge_count() {
            let fact = run.resolution(scope, edge);
            let known = &mut facts[(first + edge) as usize];
            *known = Some(if known.is_none_or(|before| before == fact) { fact } else { None });
        }
    }
    facts.into_iter().map(Option::flatten).collect()
}

/// What follows a statement of a chain is reached by its end.
fn steps(run: &Run, drawn: &Drawn<'_>, scope: &Scope, facts: &mut [Option<Option<Resolution>>]) {
    let Some((_, first)) = drawn.first[scope.region as usize] else { return };
    for node in 1..run.region_of(scope).len() {
        let fact = resolution_of(run.tasks[(scope.task + node - 1) as usize].state);
        let known = &mut facts[(first + node - 1) as usize];
        *known = Some(if known.is_none_or(|before| before == fact) { fact } else { None });
    }
}

/// A node of the root is one task. The root is made first, so its tasks have the numbers of its nodes.
fn of_root(run: &Run, task: TaskIx) -> Now {
    let leased = run.has_attempts(task);
    let at_once = matches!(run.spec_of(task).work, Work::Spread(_) | Work::Parallel(_));
    let items = run.composites.get(&task).filter(|_| at_once).map(|spread| {
        let scopes = spread.scopes().map(|scope| &run.scopes[scope as usize]);
        let at_work = |scope: &&crate::run::Scope| {
            scope.open > 0
                && (0..run.region_of(scope).len()).any(|n| run.phase_of(TaskIx(scope.task + n)) == Phase::Running)
        };
        let running = scopes.filter(at_work).count() as u32;
        Count { done: spread.done, failed: spread.failed, running, total: spread.total }
    });
    Now {
        phase: run.phase_of(task),
        attempt: if leased { run.tasks[task.0 as usize].attempt } else { 0 },
        max_attempts: if leased { run.spec_of(task).retry.most_attempts() } else { 0 },
        count: items,
    }
}

/// A node that stands for many; where there is none yet, it is as its group, or blocked.
fn of_many(tally: &Tally, group: Option<Now>) -> Now {
    let none = match group {
        Some(Now { phase: Phase::Cancelled, .. }) => Phase::Cancelled,
        Some(now) if is_done(now) => Phase::Skipped,
        _ => Phase::Blocked,
    };
    let count = (tally.total() > 0).then(|| tally.count());
    Now { phase: tally.phase().unwrap_or(none), attempt: 0, max_attempts: 0, count }
}
