//! An instant was reached. Never before its time by the committer's clock, and only once.

use super::{Fold, Ignored};
use crate::event::{Failure, TimerFired, TimerKind};
use crate::gate::OnDeadline;
use crate::plan::Work;
use crate::run::Run;
use crate::state::Move;
use crate::time::Time;
use serde_json::Value;

pub(super) fn check(run: &Run, now: Time, event: &TimerFired) -> Result<(), Ignored> {
    match run.timers.get(&event.timer) {
        None if run.task(event.timer.task).is_none() => Err(Ignored::Unknown),
        // A step of `escalate` has an event of its own, which says who is asked.
        Some(_) if event.timer.kind == TimerKind::Escalation => Err(Ignored::Unknown),
        None => Err(Ignored::Stale),
        Some(due) if *due != event.due => Err(Ignored::Stale),
        Some(due) if *due > now => Err(Ignored::Early),
        Some(_) => Ok(()),
    }
}

pub(super) fn apply(fold: &mut Fold<'_>, event: &TimerFired) {
    fold.clear_timer(event.timer);
    let task = event.timer.task;
    match event.timer.kind {
        TimerKind::Retry if fold.run.is_leasable(task) => fold.enqueue(task, Move::RetryDue),
        TimerKind::Retry => fold.next_child(task, Move::RetryDue),
        TimerKind::Attempt => {
            fold.disown(task);
            let what = if fold.run.item_task(task).is_some() { "item" } else { "sub-run" };
            fold.fail(task, Failure::new("timeout", format!("the {what} took longer than its timeout")));
        }
        TimerKind::Escalation => {}
        TimerKind::Gate => fold.succeed(task, Value::Null),
        TimerKind::Deadline => deadline(fold, event),
        TimerKind::Queue => {
            let failure = Failure::new("queue_timeout", "no worker took the task in time");
            fold.fail_for_good(task, failure, Move::QueueTimeout);
        }
        TimerKind::Overall => {
            let failure = Failure::new("timeout", "the task took longer than its overall timeout");
            fold.fail_for_good(task, failure, Move::OverallTimeout);
        }
    }
}

fn deadline(fold: &mut Fold<'_>, event: &TimerFired) {
    let task = event.timer.task;
    let Work::Gate(gate) = &fold.run.spec_of(task).work else { return };
    let on_deadline = gate.on_deadline;
    // One that shares a gate waits for that no longer.
    fold.disown(task);
    match on_deadline {
        OnDeadline::Open => fold.succeed(task, Value::Null),
        OnDeadline::Reject => fold.fail(task, Failure::new("deadline", "the gate stayed closed until its deadline")),
    }
}
