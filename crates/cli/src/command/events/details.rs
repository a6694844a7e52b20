//! What a person wants to know of an event besides its name and its task.

use crate::style::Ink;
use edgewise_core::event::{Approved, Event, GateEscalated, Request, Rerun, RerunFrom, TaskAct, TimerKind, Unfrozen};
use edgewise_core::name::Name;
use edgewise_core::run::Run;

/// A few words, and their colour.
pub(super) fn of(run: &Run, event: &Event) -> (String, Ink) {
    let plain = |text: String| (text, Ink::Plain);
    match event {
        Event::RunTriggered(e) => plain(format!("flow {}, by {}, rules {}", e.flow, e.by, e.rules)),
        Event::RunCancelRequested(e)
        | Event::RunPauseRequested(e)
        | Event::RunResumeRequested(e)
        | Event::RunResolvedManually(e)
        | Event::RunGivenUp(e)
        | Event::RunFrozen(e) => (request(e), Ink::Wait),
        Event::RunUnfrozen(e) => (unfrozen(e), Ink::Wait),
        Event::RunRerunRequested(e) => (rerun(e), Ink::Wait),
        Event::PlanCreated(_) | Event::RunAdvanced(_) => plain(format!("{} tasks", run.total())),
        Event::DispatchEnqueued(e) => plain(format!("attempt {}, to {}", e.attempt, e.worker)),
        Event::DispatchReturned(e) => plain(format!("attempt {} came back, not spent", e.attempt)),
        Event::TaskHeartbeat(e) => plain(format!("attempt {}: {}", e.attempt.attempt, e.progress)),
        Event::TaskFinished(e) => match &e.error {
            Some(failure) => (format!("attempt {}: {}: {}", e.attempt, failure.kind, failure.message), Ink::Bad),
            None => {
                let output = e.output.as_ref().map_or_else(|| "null".into(), ToString::to_string);
                (format!("attempt {}: {output}", e.attempt), Ink::Good)
            }
        },
        Event::TimerFired(e) => plain(timer(e.timer.kind).to_owned()),
        Event::ApprovalGiven(e) | Event::ApprovalWithdrawn(e) => plain(answer(e)),
        Event::GateRejected(e) => (answer(e), Ink::Bad),
        Event::GateSatisfied(e) => {
            let output = e.output.as_ref().map(|output| format!(": {output}")).unwrap_or_default();
            (said(&e.by, e.comment.as_deref()) + &output, Ink::Good)
        }
        Event::GateEscalated(e) => (escalated(run, e), Ink::Wait),
        Event::TaskCompletedManually(e) => (format!("{}: {}", act(&e.act), e.output), Ink::Wait),
        Event::TaskResolvedManually(e)
        | Event::TaskResetForRetry(e)
        | Event::TaskSkipRequested(e)
        | Event::TaskCancelRequested(e) => (act(e), Ink::Wait),
        Event::LinkRequested(e) => plain(format!("waited for by `{}` of run {}", e.path, e.run)),
        Event::LinkResolved(e) => match &e.error {
            Some(failure) => (format!("run {}: {}: {}", e.run.short(), failure.kind, failure.message), Ink::Bad),
            None => (format!("run {} {}", e.run.short(), e.state.phase().word()), Ink::Good),
        },
        Event::Unknown(_) => ("of a newer program, folded to nothing".into(), Ink::Dim),
    }
}

fn escalated(run: &Run, e: &GateEscalated) -> String {
    let step = run.escalation(e.task, e.step);
    let people: Vec<&str> = step.into_iter().flat_map(|step| &step.to).map(Name::as_str).collect();
    format!("step {}, asks {}", e.step, people.join(", "))
}

fn request(e: &Request) -> String {
    said(&e.by, e.why.as_deref())
}

fn unfrozen(e: &Unfrozen) -> String {
    let was = e.mark.as_ref().map(|mark| format!("; it was marked: {mark}")).unwrap_or_default();
    said(&e.by, e.why.as_deref()) + &was
}

fn rerun(e: &Rerun) -> String {
    let from = match e.from {
        RerunFrom::Start => "the whole run",
        RerunFrom::Failure => "from what failed",
        RerunFrom::Task { .. } => "from this task",
    };
    format!("{from}, {}", said(&e.by, e.why.as_deref()))
}

fn answer(e: &Approved) -> String {
    said(&e.by, e.comment.as_deref())
}

fn act(e: &TaskAct) -> String {
    said(&e.by, e.why.as_deref())
}

fn said(by: &str, words: Option<&str>) -> String {
    words.map_or_else(|| format!("by {by}"), |words| format!("by {by}: {words}"))
}

fn timer(kind: TimerKind) -> &'static str {
    match kind {
        TimerKind::Retry => "the next attempt is due",
        TimerKind::Gate => "the gate's time has come",
        TimerKind::Deadline => "the gate's deadline has passed",
        TimerKind::Queue => "nobody took it in time",
        TimerKind::Overall => "it took too long altogether",
        TimerKind::Attempt => "the sub-run took too long",
        TimerKind::Escalation => "more people are asked",
    }
}
