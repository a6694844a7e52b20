//! Tasks: every move is in the table, done stays done, and ready means allowed.

use super::{Allowed, Held, Step, broken, needs, owed, tasks};
use crate::event::{Event, TaskIx, TimerKind};
use crate::gate::Opens;
use crate::plan::{Resolution, Work};
use crate::run::{Reason, Run, Task};
use crate::state::{MOVES, Move, TaskState};
use std::collections::BTreeMap;

/// Every move is in the table, begins where the last one ended, and leads to where the task now is.
pub fn moves_are_legal(step: &Step<'_>) -> Held {
    let fail = |task, message: String| broken("moves_are_legal", step.after, Some(task), message);
    let mut at: BTreeMap<TaskIx, TaskState> = BTreeMap::new();
    for m in &step.changes.moves {
        let was = step.before.tasks.get(m.task.0 as usize).map_or(TaskState::Pending, |t| t.state);
        let here = at.insert(m.task, m.to).unwrap_or(was);
        let legal = MOVES.iter().any(|(from, by, to)| *by == m.by && from.contains(&m.from) && to.contains(&m.to));
        if here != m.from || !legal {
            return fail(m.task, format!("{here:?} went from {:?} to {:?} by {:?}", m.from, m.to, m.by));
        }
    }
    for task in tasks(step.after) {
        let was = step.before.tasks.get(task.0 as usize).map_or(TaskState::Pending, |t| t.state);
        let said = at.get(&task).copied().unwrap_or(was);
        let is = step.after.tasks[task.0 as usize].state;
        if said != is {
            return fail(task, format!("its moves lead to {said:?}, but it is {is:?}"));
        }
    }
    Ok(())
}

/// What is done stays as it ended, with what it made and when, until an operator opens the next generation.
pub fn done_is_final(step: &Step<'_>) -> Held {
    let reruns = matches!(step.event, Event::RunRerunRequested(_));
    let opens = reruns
        || matches!(
            step.event,
            Event::TaskResetForRetry(_) | Event::TaskResolvedManually(_) | Event::TaskCompletedManually(_)
        );
    for ix in tasks(step.before) {
        let (was, is) = (&step.before.tasks[ix.0 as usize], &step.after.tasks[ix.0 as usize]);
        // What follows a task that is done again is done again too, also where it is at work.
        let open = was.state.is_done() || (reruns && was.state != TaskState::Pending);
        if is.generation != was.generation && !(opens && open) {
            let message = format!("{} opened generation {} of {:?}", step.event.name(), is.generation, was.state);
            return broken("done_is_final", step.after, Some(ix), message);
        }
        let ended = |run: &Run, t: &Task| (t.state, t.attempt, t.token, t.completed_at, run.outputs.get(&ix).cloned());
        if was.state.is_done() && is.generation == was.generation && ended(step.before, was) != ended(step.after, is) {
            let message = format!("it was {:?} and was changed by {}", was.state, step.event.name());
            return broken("done_is_final", step.after, Some(ix), message);
        }
    }
    Ok(())
}

/// A task waits while its in-edges leave it open, is ready once they allow it, and is left out once they cannot.
pub fn ready_iff_allowed(run: &Run) -> Held {
    for ix in tasks(run) {
        let task = &run.tasks[ix.0 as usize];
        let allowed = Allowed::of(run, ix);
        let counts = || format!("{} of {} accepted, {} refused", allowed.accepted, allowed.degree, allowed.refused);
        let fail = |what: &str| broken("ready_iff_allowed", run, Some(ix), format!("{what}: {}", counts()));
        match task.state {
            TaskState::Pending if allowed.is_ready() => return fail("it is allowed and not ready"),
            TaskState::Pending if allowed.is_hopeless() => return fail("it is decided against and waits"),
            TaskState::Pending if task.ready_at.known().is_some() => return fail("it waits and was ready"),
            TaskState::Enqueued | TaskState::InProgress | TaskState::WaitingForRetry | TaskState::Error
                if !allowed.is_ready() =>
            {
                return fail("it is or was ready and not allowed");
            }
            _ => {}
        }
        if let Some(Reason::Upstream { task: up, resolution }) = run.reasons.get(&ix)
            && !(allowed.is_hopeless() && refuses(run, ix, *up, *resolution))
        {
            return fail("it was left out for a reason that is not there");
        }
    }
    Ok(())
}

fn refuses(run: &Run, task: TaskIx, by: TaskIx, with: Resolution) -> bool {
    needs(run, task)
        .any(|(edge, up, need)| up == by && owed(run, edge, up) == Some(with) && !need.accepts.contains(with))
}

/// Whatever is not done waits for something that will come: an upstream, a worker, a timer, a person, a scope.
pub fn no_forgotten_task(run: &Run) -> Held {
    for ix in tasks(run) {
        let task = &run.tasks[ix.0 as usize];
        let timer = |kind: TimerKind| run.timers.keys().any(|k| k.task == ix && k.kind == kind);
        let waits = match task.state {
            TaskState::Pending if run.in_chain(ix) => run.chains.contains_key(&task.scope),
            TaskState::Pending => needs(run, ix).any(|(edge, up, _)| owed(run, edge, up).is_none()),
            TaskState::Enqueued => run.outbox_row(ix).is_some(),
            TaskState::InProgress => match &run.spec_of(ix).work {
                work if work.is_leased() => task.attempt > 0,
                work if work.is_linked() => task.attempt > 0 && run.outbox_row(ix).is_some(),
                Work::Sleep(_) => timer(TimerKind::Gate),
                Work::Gate(gate) => gate.wait.opens() != Opens::Itself || timer(TimerKind::Gate),
                _ => {
                    let open = |s: u32| !run.has_ended(s);
                    run.advancing.contains(&ix) || run.composites.get(&ix).is_some_and(|s| s.scopes().any(open))
                }
            },
            TaskState::WaitingForRetry => timer(TimerKind::Retry),
            TaskState::EnqueuedForOrchestration | TaskState::EnqueuedAsErrorForOrchestration => false,
            _ => true,
        };
        if !waits {
            let message = format!("it is {:?} and nothing that could come would move it", task.state);
            return broken("no_forgotten_task", run, Some(ix), message);
        }
    }
    Ok(())
}

/// Whatever did not succeed says why, and when it ended.
pub fn skip_has_reason(run: &Run) -> Held {
    for ix in tasks(run) {
        let task = &run.tasks[ix.0 as usize];
        let reason = run.reasons.get(&ix);
        let stopped = run.cancel.is_some() || run.resolved.is_some();
        let good = match task.state {
            TaskState::Skipped => {
                matches!(reason, Some(Reason::Upstream { resolution, .. }) if *resolution != Resolution::Cancelled)
                    || matches!(reason, Some(Reason::Operator(_) | Reason::When))
                    || (reason.is_none() && run.in_chain(ix) && task.ready_at.known().is_none())
            }
            TaskState::Cancelled => match reason {
                Some(Reason::Upstream { resolution, .. }) => *resolution == Resolution::Cancelled,
                Some(Reason::BecauseOf { .. } | Reason::Operator(_)) => true,
                // What was dropped before a rerun forgot the stop keeps no facts.
                Some(Reason::Failed(_) | Reason::When) | None => stopped || run.sealed(ix).is_some(),
            },
            TaskState::Error => matches!(reason, Some(Reason::Failed(_))),
            TaskState::Complete | TaskState::ResolvedManually => reason.is_none(),
            _ => matches!(reason, None | Some(Reason::Failed(_))),
        };
        if !good || task.state.is_done() != task.completed_at.known().is_some() {
            let message = format!("it is {:?} since {:?} because of {reason:?}", task.state, task.completed_at);
            return broken("skip_has_reason", run, Some(ix), message);
        }
    }
    Ok(())
}

/// Whether a move is a result being received.
pub(super) fn is_outcome(by: Move) -> bool {
    matches!(by, Move::Succeeded | Move::Failed)
}
