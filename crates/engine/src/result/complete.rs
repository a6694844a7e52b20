//! Complete: how attempts ended. A repeated report gets the first answer again; a stale one changes nothing.

use crate::command::{Answer, Finish};
use crate::desk::Desk;
use crate::nesting::is_deep;
use edgewise_core::event::{Event, Failure, TaskFinished};
use edgewise_core::fold::Ignored;
use edgewise_core::id::RunId;
use edgewise_core::{Error, Kind, Result, limits};
use serde_json::value::RawValue;

pub(crate) fn complete(desk: &mut Desk, reports: &[Finish]) -> Result<Answer> {
    let mut each = Vec::with_capacity(reports.len());
    let mut unread = None;
    for report in reports {
        match one(desk, report) {
            // Nobody can say now whether it counts: all are said again, and those that counted do no harm.
            Err(error) if error.kind == Kind::Unavailable => unread = Some(error),
            answer => each.push(answer),
        }
    }
    unread.map_or(Ok(Answer::Completed(each)), Err)
}

fn one(desk: &mut Desk, report: &Finish) -> Result<()> {
    let lease = &report.lease;
    let attempt = lease.attempt();
    desk.open_for(lease)?;
    let (output, error) = match &report.outcome {
        Ok(output) => match output.as_deref().map(check_reported) {
            Some(Err(failure)) => (None, Some(failure)),
            _ => (output.clone(), None),
        },
        Err(failure) => {
            let mut failure = failure.clone();
            failure.cut_causes();
            (None, Some(failure))
        }
    };
    let event = TaskFinished {
        task: attempt.task,
        generation: attempt.generation,
        attempt: attempt.attempt,
        token: attempt.token,
        output,
        error,
    };
    let decided = desk.decide(lease.run, Event::TaskFinished(event.clone()))?;
    match if decided == Err(Ignored::Unknown) { from_row(desk, lease.run, &event)? } else { decided } {
        Ok(()) | Err(Ignored::Duplicate) => Ok(()),
        Err(Ignored::Unknown) => {
            let message = format!("run {} has no task number {}", lease.run, lease.task.0);
            Err(Error::not_found("task_not_found", message))
        }
        Err(_) => {
            let message = format!(
                "attempt {} of task {} of run {} is over: another attempt, a timeout or a cancel came first. Drop the result",
                lease.attempt, lease.task.0, lease.run
            );
            Err(Error::stale("attempt_over", message))
        }
    }
}

/// The run does not know the task. If that is because a loop is past it, its row answers as the run did.
fn from_row(desk: &mut Desk, run: RunId, report: &TaskFinished) -> Result<std::result::Result<(), Ignored>> {
    let stream = desk.home.stream(run);
    let row = desk.projections.task(&stream, report.task)?;
    Ok(Err(row.map_or(Ignored::Unknown, |row| row.answer_again(report))))
}

/// What a worker reports is bound in depth as well: a run may be around it later, with an output around that.
fn check_reported(raw: &RawValue) -> std::result::Result<(), Failure> {
    check_output(raw)?;
    if is_deep(raw.get()) {
        let message = format!("the output is nested deeper than {} levels: make it flatter", limits::DEPTH);
        return Err(Failure::new("bad_output", message));
    }
    Ok(())
}

/// What a worker made must fit the limits; else its attempt has failed.
pub(crate) fn check_output(raw: &RawValue) -> std::result::Result<(), Failure> {
    if raw.get().len() > limits::OUTPUT_BYTES {
        let message = format!("the output has {} bytes, at most {} are allowed", raw.get().len(), limits::OUTPUT_BYTES);
        return Err(Failure::new("output_too_large", message));
    }
    match serde_json::from_str::<serde_json::Value>(raw.get()) {
        Ok(_) => Ok(()),
        Err(error) => Err(Failure::new("bad_output", format!("the output cannot be read as JSON: {error}"))),
    }
}
