//! The one thing worth saying about a task: what it waits for, how it failed, why it was left out.

use super::Beside;
use crate::live::span;
use crate::text;
use edgewise_core::event::{Failure, TaskIx, TimerKey, TimerKind};
use edgewise_core::gate::{Gate, OnDeadline, Wait};
use edgewise_core::id::RunId;
use edgewise_core::name::Name;
use edgewise_core::plan::{Resolution, Work};
use edgewise_core::run::{Reason, Run};
use edgewise_core::state::{Phase, TaskState};
use edgewise_core::time::{Millis, Time};

/// A task that is ready for so long waits for something; before that it is about to begin.
const SOON: Millis = Millis(500);

/// The note of a task; empty if there is nothing to say.
pub(super) fn note(run: &Run, task: TaskIx, phase: Phase, (now, beside): (Time, &Beside)) -> String {
    match (phase, &run.spec_of(task).work) {
        (Phase::Waiting, Work::Gate(gate)) => closed(run, task, gate, now),
        (Phase::Waiting, Work::Sleep(_)) => opens(run, task, now),
        (Phase::Waiting, Work::SubRun(sub)) if run.awaited(task).is_some() => {
            run.last_child(task).map_or(String::new(), |child| below(child, &sub.flow, beside))
        }
        (Phase::Running | Phase::Succeeded, Work::For(_) | Work::While(_)) => round(run, task, phase),
        (Phase::Running, Work::Try(_)) => {
            let caught = run.composites.get(&task).and_then(|state| state.caught.as_ref());
            caught.map_or(String::new(), |f| format!("handles {}", failure(f)))
        }
        (Phase::Waiting, _) => retry(run, task, now),
        (Phase::Ready, _) if run.paused => "waits for `edgewise resume`".into(),
        (Phase::Ready, Work::Action { action, .. }) => worker(run, task, action, now),
        (Phase::Ready, _) => slot(run, task, now),
        (Phase::Failed, _) => run.failure_of(task).map(failure).unwrap_or_default(),
        (Phase::Skipped | Phase::Cancelled, _) => run.reasons.get(&task).map_or(String::new(), |r| left_out(run, r)),
        _ => String::new(),
    }
}

/// `run 6rdswds9 of publish, 3 of 7 tasks`
pub(super) fn below(child: RunId, flow: &Name, beside: &Beside) -> String {
    let far = beside.children.get(&child).map_or(String::new(), |(ended, total)| format!(", {ended} of {total} tasks"));
    format!("run {} of {flow}{far}", child.short())
}

/// `waits for a slot of queue night`, `… of key db (1 at once)`: once it has taken long enough to be of interest.
fn slot(run: &Run, task: TaskIx, now: Time) -> String {
    let ready = run.tasks[task.0 as usize].ready_at.known();
    if ready.is_none_or(|ready| now.since(ready) < SOON) || !run.has_attempts(task) {
        return String::new();
    }
    format!("waits for a slot{}", shared(run, task).map_or(String::new(), |whose| format!(" of {whose}")))
}

/// `waits for a worker that does `mail/send``, and after a while also for which slot, if it shares one.
fn worker(run: &Run, task: TaskIx, action: &Name, now: Time) -> String {
    let slot = Some(slot(run, task, now)).filter(|slot| !slot.is_empty() && shared(run, task).is_some());
    match slot {
        Some(slot) => format!("{slot}, or for a worker that does `{action}`"),
        None => format!("waits for a worker that does `{action}`"),
    }
}

/// `queue night and of key db (1 at once)`: what a task shares with others, if anything.
fn shared(run: &Run, task: TaskIx) -> Option<String> {
    let turn = run.turn(task);
    let queue = turn.queue.map(|queue| format!("queue {queue}"));
    let key = turn.limit.map(|limit| {
        let most = limit.max.map_or(String::new(), |max| format!(" ({max} at once)"));
        format!("key {}{most}", limit.key)
    });
    match (queue, key) {
        (Some(queue), Some(key)) => Some(format!("{queue} and of {key}")),
        (queue, key) => queue.or(key),
    }
}

/// `opens in 3s`, or `edgewise gate approve k3f9x2ab release --as lead (by 2 of lead, quality; 2h00m left)`: what
/// people would type stands first, since a narrow terminal cuts the end off.
fn closed(run: &Run, task: TaskIx, gate: &Gate, now: Time) -> String {
    let deadline = due(run, task, TimerKind::Deadline, now).map_or(String::new(), |left| match gate.on_deadline {
        OnDeadline::Open => format!("; opens by itself in {left}"),
        OnDeadline::Reject => format!("; {left} left"),
    });
    let answered = |how: &str| format!("edgewise gate {how} {} {}", run.id.short(), text::quoted(&run.path(task)));
    match &gate.wait {
        Wait::Approval { from, count } => {
            let (who, as_whom) = approvers(run, task, from, *count);
            format!("{}{as_whom} (by {who}{deadline})", answered("approve"))
        }
        Wait::After(_) | Wait::Until(_) => opens(run, task, now) + &deadline,
        Wait::Webhook => format!("{} (opens when its address is called{deadline})", answered("url")),
        Wait::External { system, id } => {
            let id = run.external(task).ok().flatten().map_or_else(|| id.shown(), |(_, id)| id);
            format!("{} (opens when {system} says so of {id}{deadline})", answered("satisfy"))
        }
        Wait::Shared { gate } => {
            let id = run.shared_gate(task).ok().flatten().map_or_else(|| gate.shown(), |id| id.to_string());
            format!("edgewise gate show {id} (opens with it{deadline})")
        }
    }
}

fn opens(run: &Run, task: TaskIx, now: Time) -> String {
    due(run, task, TimerKind::Gate, now).map_or(String::new(), |left| format!("opens in {left}"))
}

/// `round 3`, or `3 rounds` once there are no more; a loop over a list has a bar that says how many there are.
fn round(run: &Run, task: TaskIx, phase: Phase) -> String {
    let Some(made) = run.composites.get(&task).map(edgewise_core::run::Composite::made) else { return String::new() };
    match (phase, made) {
        (Phase::Running, 0) => String::new(),
        (Phase::Running, made) => format!("round {made}"),
        (_, 1) => "1 round".into(),
        (_, made) => format!("{made} rounds"),
    }
}

/// Whose approval is still wanted, and how one of them would say who they are.
fn approvers(run: &Run, task: TaskIx, from: &[Name], count: u32) -> (String, String) {
    let given = run.approvals.get(&task).map_or(&[][..], Vec::as_slice);
    let open: Vec<&str> = from.iter().filter(|n| given.iter().all(|a| a.by != **n)).map(Name::as_str).collect();
    let left = (count as usize).saturating_sub(given.len());
    let who = match (open.as_slice(), left) {
        ([], 1) => "anybody".to_owned(),
        ([], _) => format!("{left} people"),
        (all, _) if all.len() == left => all.join(" and "),
        (several, _) => format!("{left} of {}", several.join(", ")),
    };
    let given = if given.is_empty() { String::new() } else { format!(", {} given", given.len()) };
    (who + &given, open.first().map_or(String::new(), |name| format!(" --as {name}")))
}

/// `attempt 2 of 3 in 3s: exit_1`
fn retry(run: &Run, task: TaskIx, now: Time) -> String {
    let (entry, spec) = (&run.tasks[task.0 as usize], run.spec_of(task));
    if entry.state != TaskState::WaitingForRetry {
        return String::new();
    }
    let left = due(run, task, TimerKind::Retry, now).map_or(String::new(), |left| format!(" in {left}"));
    let why = run.failure_of(task).map_or(String::new(), |f| format!(": {}", failure(f)));
    format!("attempt {} of {}{left}{why}", entry.attempt + 1, spec.retry.max_attempts)
}

/// `exit_1: the last line that was said`
pub(crate) fn failure(failure: &Failure) -> String {
    // The type says already which code a command ended with; what it said last tells most.
    let exited = failure.kind.starts_with("exit_");
    let said = match failure.message.split_once(": ") {
        Some((_, said)) if exited => said,
        None if exited => "",
        _ => &failure.message,
    };
    match said.lines().rev().find(|line| !line.trim().is_empty()) {
        Some(line) => format!("{}: {}", failure.kind, line.trim()),
        None => failure.kind.clone(),
    }
}

fn left_out(run: &Run, reason: &Reason) -> String {
    match reason {
        Reason::Failed(why) => failure(why),
        Reason::Upstream { task, resolution } => {
            let how = match resolution {
                Resolution::Success => "succeeded",
                Resolution::Failed => "failed",
                Resolution::Skipped => "was skipped",
                Resolution::Cancelled => "was cancelled",
            };
            format!("{} {how}", run.path(*task))
        }
        Reason::When => "its `when` is false".into(),
        Reason::BecauseOf { task } => format!("{} failed", run.path(*task)),
        Reason::Operator(asked) => match &asked.why {
            Some(why) => format!("by {}: {why}", asked.by),
            None => format!("by {}", asked.by),
        },
    }
}

fn due(run: &Run, task: TaskIx, kind: TimerKind, now: Time) -> Option<String> {
    let mut set = run.timers.range(TimerKey::all_of(task));
    let (_, due) = set.find(|(key, _)| key.kind == kind)?;
    // In whole seconds: tenths would make the view restless.
    let left = due.since(now).0.div_ceil(1_000) * 1_000;
    Some(if left < 10_000 { format!("{}s", left / 1_000) } else { span(edgewise_core::time::Millis(left)) })
}
