//! Who or what can move a task that does not move by itself, and how.

use super::{Because, Closed, Hold, Shared};
use crate::event::{TaskIx, TimerKey, TimerKind};
use crate::gate::{Gate, OnDeadline};
use crate::id::RunId;
use crate::name::Name;
use crate::plan::Work;
use crate::run::{COMMAND_ACTION, HTTP_ACTION, Run};
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
    /// An attempt that ends, and with it frees a slot.
    Slot {
        /// Of which run.
        run: RunId,
        /// Its task.
        task: String,
        /// What would end it.
        command: String,
    },
    /// Whoever sets queues.
    Setting {
        /// Which queue.
        queue: Name,
    },
    /// A run that ends.
    Run {
        /// Which.
        run: RunId,
    },
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
    if run.frozen.is_some() {
        let command = format!("edgewise unfreeze {}", run.id.short());
        return vec![Mover::Person { name: None, command }];
    }
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

/// Of a task: whoever could do something about it, then what time will.
pub(super) fn of_task(run: &Run, task: TaskIx, because: &Because) -> Vec<Mover> {
    let mut movers = match because {
        Because::Unclaimed { paused: true, .. } => vec![resume(run)],
        Because::Unclaimed { holds, .. } if !holds.is_empty() => holds.iter().flat_map(opens).collect(),
        Because::Unclaimed { action, .. } if is_engines(action) => vec![Mover::Engine],
        Because::Unclaimed { action, .. } => vec![Mover::Worker { action: action.clone() }],
        Because::AtWork { .. } => vec![Mover::Holder],
        Because::Approval { escalates, .. } => {
            let mut movers = approvers(run, task, because);
            let later = escalates.iter().filter(|step| step.told.known().is_none());
            movers.extend(later.map(|step| Mover::Clock { at: step.at, then: "more people may approve" }));
            movers
        }
        Because::Webhook { .. } => vec![anybody(run, task, "url"), anybody(run, task, "satisfy")],
        Because::External { .. } => vec![anybody(run, task, "satisfy")],
        Because::Shared { gate, .. } => {
            vec![Mover::Person { name: None, command: format!("edgewise gate show {gate}") }]
        }
        Because::Child { .. } => child(run, task),
        Because::Item { id, blocked, .. } => {
            let does = if *blocked { "why" } else { "close" };
            vec![Mover::Person { name: None, command: format!("edgewise {does} {id}") }]
        }
        Because::Items { .. } if run.advancing.contains(&task) => vec![Mover::Engine],
        Because::Failed { held: true, .. } => who_decides(run, task),
        _ => Vec::new(),
    };
    movers.extend(clocks(run, task, because));
    movers
}

/// Whether an engine does it itself, with no worker but its own.
pub(super) fn is_engines(action: &str) -> bool {
    action == COMMAND_ACTION || action == HTTP_ACTION
}

/// Who or what would let a task go on that something shared holds.
fn opens(hold: &Hold) -> Vec<Mover> {
    match (&hold.closed, &hold.of) {
        (Closed::Paused, Shared::Queue(queue)) => vec![Mover::Setting { queue: queue.clone() }],
        (Closed::Paused, Shared::Key(_)) => Vec::new(),
        (Closed::Full { holders, .. }, _) => {
            let slot = |run: RunId, task: &str| {
                let command = format!("edgewise task cancel {} {}", run.short(), quoted(task));
                Mover::Slot { run, task: task.to_owned(), command }
            };
            holders.iter().map(|holder| slot(holder.run, &holder.task)).collect()
        }
        (Closed::Rate { opens, .. }, _) => vec![Mover::Clock { at: *opens, then: "the next one may begin" }],
    }
}

/// Who decides on a failure that holds the rest.
fn who_decides(run: &Run, task: TaskIx) -> Vec<Mover> {
    let id = run.id.short();
    let reset = format!("edgewise task reset {id} '{}'", run.path(task));
    [reset, format!("edgewise give-up {id}")].map(|command| Mover::Person { name: None, command }).to_vec()
}

/// Every instant that would change something for a task, the earliest first.
fn clocks(run: &Run, task: TaskIx, because: &Because) -> Vec<Mover> {
    let spec = run.spec_of(task);
    // Steps of `escalate` are said with who is asked.
    let set = run.timers.range(TimerKey::all_of(task)).filter(|(key, _)| key.kind != TimerKind::Escalation);
    let mut found: Vec<(Time, &'static str)> = set.map(|(key, due)| (*due, then(key.kind, &spec.work))).collect();
    if let (Because::AtWork { since, .. }, Some(bound)) = (because, spec.timeouts.attempt) {
        found.push((since.plus(bound), "the attempt ends as timeout"));
    }
    found.sort_unstable();
    found.into_iter().map(|(at, then)| Mover::Clock { at, then }).collect()
}

fn then(kind: TimerKind, work: &Work) -> &'static str {
    match (kind, work) {
        (TimerKind::Retry, _) => "the next attempt is due",
        (TimerKind::Gate, _) => "the gate opens",
        (TimerKind::Deadline, Work::Gate(Gate { on_deadline: OnDeadline::Open, .. })) => "the gate opens",
        (TimerKind::Deadline, _) => "the gate is rejected",
        (TimerKind::Queue, _) => "it fails as queue_timeout",
        (TimerKind::Attempt, _) => "the attempt ends as timeout",
        (TimerKind::Overall, _) => "it fails as timeout",
        (TimerKind::Escalation, _) => "more people may approve",
    }
}

/// The child moves it, once there is one: a run that is paused begins nothing.
fn child(run: &Run, task: TaskIx) -> Vec<Mover> {
    let child = run.last_child(task).map(|child| Mover::Run { run: child });
    let paused = run.paused.then(|| resume(run));
    paused.into_iter().chain(child).collect()
}

fn resume(run: &Run) -> Mover {
    Mover::Person { name: None, command: format!("edgewise resume {}", run.id.short()) }
}

/// What anybody would do about a gate.
fn anybody(run: &Run, task: TaskIx, what: &str) -> Mover {
    Mover::Person {
        name: None,
        command: format!("edgewise gate {what} {} {}", run.id.short(), quoted(&run.path(task))),
    }
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
