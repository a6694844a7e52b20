//! Who or what can move a task that does not move by itself, and how.

use super::Because;
use crate::event::TaskIx;
use crate::gate::OnDeadline;
use crate::run::{COMMAND_ACTION, Run};
use crate::state::{RunState, TaskState};
use crate::time::Time;
use serde::Serialize;

/// Somebody or something that can move a task or a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "who", rename_all = "snake_case")]
pub enum Mover {
    /// The clock.
    Clock {
        /// When.
        #[serde(serialize_with = "super::instant")]
        at: Time,
        /// What happens then.
        then: &'static str,
    },
    /// A worker that offers an action. Whether there is one cannot be known from the run.
    Worker {
        /// Which action.
        action: String,
    },
    /// An engine: commands run within one, and runs are planned and advanced by one.
    Engine,
    /// The worker that has the lease.
    Holder,
    /// A person, with what they would type.
    Person {
        /// Who; anybody if absent.
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// The command.
        command: String,
    },
}

/// Of a run that waits for none of its tasks.
pub(super) fn of_run(run: &Run) -> Vec<Mover> {
    let mut movers = Vec::new();
    if matches!(run.state, RunState::Pending | RunState::Initializing) || run.is_advancing() {
        movers.push(Mover::Engine);
    }
    // Where tasks are ready, each of them says so itself.
    let ready = run.counts[TaskState::Enqueued as usize] > 0;
    if run.paused && !ready && !run.state.is_done() {
        movers.push(resume(run));
    }
    movers
}

/// Of a task.
pub(super) fn of_task(run: &Run, task: TaskIx, because: &Because) -> Vec<Mover> {
    match because {
        Because::Unclaimed { action, paused, until, .. } => {
            let mover = match action.as_str() {
                _ if *paused => resume(run),
                COMMAND_ACTION => Mover::Engine,
                _ => Mover::Worker { action: action.clone() },
            };
            with_clock(vec![mover], *until, "it fails as queue_timeout")
        }
        Because::AtWork { until, .. } => with_clock(vec![Mover::Holder], *until, "it ends as timeout"),
        Because::Retry { until, .. } => with_clock(Vec::new(), *until, "the next attempt is due"),
        Because::Time { until } => with_clock(Vec::new(), *until, "the gate opens"),
        Because::Approval { deadline, on_deadline, escalates, .. } => {
            let then = match on_deadline {
                OnDeadline::Reject => "the gate is rejected",
                OnDeadline::Open => "the gate opens",
            };
            let mut movers = approvers(run, task, because);
            movers.extend(escalates.iter().map(|step| Mover::Clock { at: step.at, then: "more people may approve" }));
            with_clock(movers, *deadline, then)
        }
        Because::Items { .. } if run.advancing.contains(&task) => vec![Mover::Engine],
        Because::Failed { held: true, .. } => {
            vec![Mover::Person { name: None, command: format!("edgewise cancel {}", run.id.short()) }]
        }
        _ => Vec::new(),
    }
}

fn resume(run: &Run) -> Mover {
    Mover::Person { name: None, command: format!("edgewise resume {}", run.id.short()) }
}

fn with_clock(mut movers: Vec<Mover>, at: Time, then: &'static str) -> Vec<Mover> {
    movers.extend(at.known().map(|at| Mover::Clock { at, then }));
    movers
}

/// One for each person who may still say yes.
fn approvers(run: &Run, task: TaskIx, because: &Because) -> Vec<Mover> {
    let Because::Approval { from, have, escalates, .. } = because else { return Vec::new() };
    let command = format!("edgewise gate approve {} {}", run.id.short(), quoted(&run.path(task)));
    if from.is_empty() {
        return vec![Mover::Person { name: None, command }];
    }
    let left = from.iter().chain(escalates.iter().flat_map(|step| &step.to)).filter(|name| !have.contains(name));
    left.map(|name| Mover::Person { name: Some(name.to_string()), command: format!("{command} --as {name}") }).collect()
}

/// A path as a shell takes it. Names have no quotes in them.
fn quoted(path: &str) -> String {
    if path.contains(['[', ']', '(', ')', '#', '!']) { format!("'{path}'") } else { path.to_owned() }
}
