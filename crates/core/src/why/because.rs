//! The reason of one task, read off its state, its timers and its work.

use super::{Act, Because, Escalates, needs};
use crate::event::{TaskIx, TimerKey, TimerKind};
use crate::gate::{Escalation, Gate, Wait};
use crate::plan::{SubRun, Work};
use crate::rule::is_handled;
use crate::run::{Reason, Run};
use crate::state::TaskState;
use crate::time::Time;

/// Why a task is where it is.
pub(super) fn of(run: &Run, ix: TaskIx) -> Because {
    let task = &run.tasks[ix.0 as usize];
    let spec = run.spec_of(ix);
    let max_attempts = spec.retry.most_attempts();
    match task.state {
        TaskState::Pending if run.in_chain(ix) => Because::Before,
        TaskState::Pending => upstream(run, ix),
        TaskState::Enqueued => Because::Unclaimed {
            action: run.action_of(ix).unwrap_or_default().to_owned(),
            paused: run.paused,
            holds: Vec::new(),
            since: task.ready_at,
            until: due(run, ix, TimerKind::Queue).unwrap_or_default(),
        },
        TaskState::InProgress => match &spec.work {
            Work::Gate(gate) => closed(run, ix, gate),
            Work::Sleep(_) => Because::Time { until: due(run, ix, TimerKind::Gate).unwrap_or_default() },
            Work::SubRun(sub) => child(run, ix, sub),
            Work::Item(_) => item(run, ix),
            Work::Spread(_) | Work::Parallel(_) => items(run, ix),
            work if work.is_leased() => at_work(run, ix),
            composite => inside(run, ix, composite),
        },
        TaskState::EnqueuedForOrchestration | TaskState::EnqueuedAsErrorForOrchestration => at_work(run, ix),
        TaskState::WaitingForRetry => Because::Retry {
            attempt: task.attempt.saturating_add(1),
            max_attempts,
            until: due(run, ix, TimerKind::Retry).unwrap_or_default(),
            failure: run.failure_of(ix).cloned(),
        },
        TaskState::Complete => Because::Succeeded { attempt: task.attempt, at: task.completed_at },
        TaskState::ResolvedManually => Because::Resolved { at: task.completed_at },
        TaskState::Error | TaskState::Cancelled | TaskState::Skipped => ended_badly(run, ix),
    }
}

fn upstream(run: &Run, ix: TaskIx) -> Because {
    let scope = run.scope_of(ix);
    let (region, node) = (run.region_of(scope), run.node_of(ix));
    let edges = region.in_degree(node);
    let needed = region.join(node).threshold(edges);
    Because::Upstream { edges, needed, accepted: run.tasks[ix.0 as usize].accepted }
}

fn at_work(run: &Run, ix: TaskIx) -> Because {
    let task = &run.tasks[ix.0 as usize];
    let spec = run.spec_of(ix);
    let attempt_ends = spec.timeouts.attempt.map(|span| task.started_at.plus(span));
    let until = attempt_ends.into_iter().chain(due(run, ix, TimerKind::Overall)).min();
    Because::AtWork {
        attempt: task.attempt,
        max_attempts: spec.retry.most_attempts(),
        worker: None,
        since: task.started_at,
        until: until.unwrap_or_default(),
    }
}

fn child(run: &Run, ix: TaskIx, sub: &SubRun) -> Because {
    let task = &run.tasks[ix.0 as usize];
    let until = due(run, ix, TimerKind::Attempt).into_iter().chain(due(run, ix, TimerKind::Overall)).min();
    Because::Child {
        run: run.last_child(ix).unwrap_or_default(),
        flow: sub.flow.clone(),
        attempt: task.attempt,
        max_attempts: run.spec_of(ix).retry.most_attempts(),
        since: task.started_at,
        until: until.unwrap_or_default(),
    }
}

fn item(run: &Run, ix: TaskIx) -> Because {
    let until = due(run, ix, TimerKind::Attempt).into_iter().chain(due(run, ix, TimerKind::Overall)).min();
    let Some(id) = run.last_item(ix) else { return at_work(run, ix) };
    let title = run.item_fields(ix).map(|fields| fields.title).unwrap_or_default();
    let since = run.tasks[ix.0 as usize].started_at;
    Because::Item { id, title, blocked: false, since, until: until.unwrap_or_default() }
}

fn closed(run: &Run, ix: TaskIx, gate: &Gate) -> Because {
    let deadline = due(run, ix, TimerKind::Deadline).unwrap_or_default();
    let on_deadline = gate.on_deadline;
    match &gate.wait {
        Wait::After(_) | Wait::Until(_) => Because::Time { until: due(run, ix, TimerKind::Gate).unwrap_or_default() },
        Wait::Approval { from, count } => Because::Approval {
            count: *count,
            from: from.clone(),
            have: run.approvals.get(&ix).into_iter().flatten().map(|a| a.by.clone()).collect(),
            escalates: escalates(run, ix, gate),
            deadline,
            on_deadline,
        },
        Wait::Webhook => Because::Webhook { deadline, on_deadline },
        Wait::Shared { gate } => {
            let known = run.shared_gate(ix).ok().flatten().map(|id| id.to_string());
            Because::Shared { gate: known.unwrap_or_else(|| gate.shown()), deadline, on_deadline }
        }
        Wait::External { system, id } => {
            let known = run.external(ix).ok().flatten().map(|(_, id)| id);
            Because::External { system: system.clone(), id: known.unwrap_or_else(|| id.shown()), deadline, on_deadline }
        }
    }
}

fn escalates(run: &Run, ix: TaskIx, gate: &Gate) -> Vec<Escalates> {
    let reached = run.tasks[ix.0 as usize].ready_at;
    let told = run.escalated.get(&ix).into_iter().flatten().copied().chain(std::iter::repeat(Time::NEVER));
    let one = |(step, told): (&Escalation, Time)| Escalates { at: reached.plus(step.after), to: step.to.clone(), told };
    gate.escalate.iter().zip(told).map(one).collect()
}

fn items(run: &Run, ix: TaskIx) -> Because {
    run.composites.get(&ix).map_or(Because::Unknown, |state| Because::Items {
        total: state.total,
        done: state.done,
        failed: state.failed,
    })
}

/// Where a composite of a program is at work.
fn inside(run: &Run, ix: TaskIx, work: &Work) -> Because {
    let last = run.composites.get(&ix).map_or(0, |state| state.made().saturating_sub(1));
    let scope = match work {
        Work::For(_) => format!("round {} of {}", last + 1, run.composites.get(&ix).map_or(0, |state| state.total)),
        Work::While(_) => format!("round {}", last + 1),
        Work::Branch(_) => format!("arm {}", last + 1),
        Work::Try(_) if last > 0 => format!("handler {last}"),
        Work::Try(_) => "its body".into(),
        _ => "its function".into(),
    };
    Because::Inside { scope }
}

fn ended_badly(run: &Run, ix: TaskIx) -> Because {
    let task = &run.tasks[ix.0 as usize];
    match run.reasons.get(&ix) {
        Some(Reason::Failed(failure)) => Because::Failed {
            failure: (**failure).clone(),
            attempt: task.attempt,
            max_attempts: run.spec_of(ix).retry.most_attempts(),
            handled: is_handled(run, ix),
            held: needs::is_held(run, ix),
        },
        Some(Reason::Upstream { resolution, .. }) => Because::LeftOut { resolution: *resolution },
        Some(Reason::BecauseOf { .. }) => Because::Stopped,
        Some(Reason::When) => Because::When,
        Some(Reason::Operator(asked)) => Because::Told(Act::from(&**asked)),
        None => match run.cancel.as_ref().or(run.resolved.as_ref()) {
            Some(asked) => Because::RunEnded(asked.into()),
            None if run.in_chain(ix) && task.state == TaskState::Skipped => Because::NotReached,
            None => Because::Unknown,
        },
    }
}

/// When a timer of a task is due, if it is set.
fn due(run: &Run, task: TaskIx, kind: TimerKind) -> Option<Time> {
    run.timers.range(TimerKey::all_of(task)).find(|(key, _)| key.kind == kind).map(|(_, due)| *due)
}
