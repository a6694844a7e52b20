//! Timing: where the time of a run went, and which tasks decided when it ended.
//!
//! Everything is read off the ledger, of each task in its newest generation:
//!
//! - It **waited** while it was ready and nobody worked on it: for a worker, for its next attempt, and, if it is a
//!   gate, for the world. It **ran** while a lease on it lived; a composite while it had begun and not ended.
//! - Its **decider** is the task whose end made it ready. In a graph: of the upstreams that had ended by then, on edges
//!   that it accepted, the last to end. In a chain: the statement before it; for the first one of a round or
//!   handler, the last of the scope before. What is first in its scope has the decider of the composite around it.
//! - The **critical path** goes from what ended last to its decider, and so on back to the start. A composite stands on
//!   it as what ended last inside of it. Of several that ended by the same event, what was not cancelled goes first, then
//!   what was ready earlier. In a run that is not over, whatever is at work counts as ending now.
//! - Its **slack** is how much later it could have ended without the run ending later, if everything else had taken as
//!   long as it did. For a join that could do without some upstreams, it is at least that.
//!
//! On the critical path slack is zero, but where an operator opened work again: the path goes on before the time that
//! this took, and says so as `held`.

mod path;
mod slack;
mod watch;

use crate::event::TaskIx;
use crate::history::Stream;
use crate::id::RunId;
use crate::run::Run;
use crate::time::{Millis, Time};
use serde::Serialize;
use watch::Watched;

/// Where the time of a run went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Timing {
    /// Which run.
    pub run: RunId,
    /// When it was asked for.
    #[serde(serialize_with = "crate::why::instant")]
    pub from: Time,
    /// When it ended, or the instant that was asked about.
    #[serde(serialize_with = "crate::why::instant")]
    pub until: Time,
    /// Whether it has ended.
    pub over: bool,
    /// The critical path, from the start.
    pub critical_path: Vec<Link>,
    /// Every task that became ready: each composite followed by what is inside of it.
    pub tasks: Vec<Timed>,
}

/// A task on the critical path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Link {
    /// Which task.
    #[serde(skip)]
    pub task: TaskIx,
    /// Its printed name.
    #[serde(rename = "task")]
    pub path: String,
    /// How long after its decider ended it became ready.
    #[serde(rename = "held_ms")]
    pub held: Millis,
    /// How long it took from there on.
    #[serde(rename = "took_ms")]
    pub took: Millis,
}

/// When one task was what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Timed {
    /// Which task.
    #[serde(skip)]
    pub task: TaskIx,
    /// Its printed name.
    #[serde(rename = "task")]
    pub path: String,
    /// How many composites it is inside of.
    pub depth: u32,
    /// When it became ready.
    #[serde(serialize_with = "crate::why::instant")]
    pub ready_at: Time,
    /// When it ended; not yet if it is at work.
    #[serde(serialize_with = "crate::why::instant")]
    pub ended_at: Time,
    /// Attempts that began.
    pub attempts: u16,
    /// How long it was ready and nobody worked on it.
    #[serde(rename = "waited_ms")]
    pub waited: Millis,
    /// How long somebody worked on it, or what is inside of it went on.
    #[serde(rename = "ran_ms")]
    pub ran: Millis,
    /// How much later it could have ended; unknown while it has not.
    #[serde(rename = "slack_ms", skip_serializing_if = "Option::is_none")]
    pub slack: Option<Millis>,
    /// Whether it, or something inside of it, is on the critical path.
    pub critical: bool,
}

impl Timing {
    /// Of all that a stream says; what is not over is looked at as of `now`.
    pub fn of(stream: &Stream<'_>, now: Time) -> Self {
        let watched = Watched::of(stream, now);
        let run = &watched.run;
        let critical = path::of(&watched);
        let latest = slack::latest_ends(&watched);
        let mut on_path = vec![false; watched.tasks.len()];
        for task in &critical {
            mark(run, *task, &mut on_path);
        }
        let timed = in_order(&watched).into_iter().map(|(task, depth)| {
            let (n, times) = (task.0 as usize, &watched.tasks[task.0 as usize]);
            Timed {
                task,
                path: run.path(task),
                depth,
                ready_at: times.ready_at,
                ended_at: times.done_at,
                attempts: run.tasks[n].attempt,
                waited: times.waited,
                ran: times.ran,
                slack: times.is_done().then(|| latest[n].since(times.done_at)),
                critical: on_path[n],
            }
        });
        Self {
            run: run.id,
            from: watched.from,
            until: watched.until,
            over: run.state.is_done(),
            critical_path: links(&watched, &critical),
            tasks: timed.collect(),
        }
    }

    /// How long it took, or has taken so far.
    pub fn took(&self) -> Millis {
        self.until.since(self.from)
    }
}

/// The tasks that became ready, each composite followed by what is inside of it, with how deep they are.
fn in_order(watched: &Watched) -> Vec<(TaskIx, u32)> {
    let mut ordered = Vec::new();
    let root = if watched.run.scopes.is_empty() { Vec::new() } else { watched.tasks_of(0).collect() };
    let mut left: Vec<(TaskIx, u32)> = root.into_iter().rev().map(|task| (task, 0)).collect();
    while let Some((task, depth)) = left.pop() {
        if watched.tasks[task.0 as usize].was_ready() {
            ordered.push((task, depth));
        }
        let scopes = watched.inner.get(&task).into_iter().flatten().rev();
        left.extend(scopes.flat_map(|scope| watched.tasks_of(*scope).rev()).map(|task| (task, depth + 1)));
    }
    ordered
}

/// A task and what it is inside of.
fn mark(run: &Run, mut task: TaskIx, on_path: &mut [bool]) {
    loop {
        on_path[task.0 as usize] = true;
        if run.tasks[task.0 as usize].scope == 0 {
            return;
        }
        task = run.scope_of(task).parent;
    }
}

fn links(watched: &Watched, critical: &[TaskIx]) -> Vec<Link> {
    let mut before = watched.from;
    let mut links = Vec::with_capacity(critical.len());
    for task in critical {
        let times = &watched.tasks[task.0 as usize];
        let end = watched.end_of(*task);
        let (held, took) = (times.ready_at.since(before), end.since(times.ready_at));
        links.push(Link { task: *task, path: watched.run.path(*task), held, took });
        before = before.max(end);
    }
    links
}
