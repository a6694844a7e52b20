//! What people ask of runs: one command, one file.

mod approve;
mod cancel;
mod cancel_task;
mod change_setting;
mod freeze;
mod give_up;
mod pause;
mod register;
mod reject;
mod rerun;
mod reset;
mod resolve;
mod resolve_run;
mod resume;
mod satisfy;
mod set_queue;
mod set_schedule;
mod skip;
mod start;
mod supply;
mod unfreeze;
mod withdraw;

pub(crate) use approve::approve;
pub(crate) use cancel::cancel;
pub(crate) use cancel_task::cancel_task;
pub(crate) use change_setting::change_setting;
pub(crate) use freeze::freeze;
pub(crate) use give_up::give_up;
pub(crate) use pause::pause;
pub(crate) use register::register;
pub(crate) use reject::reject;
pub(crate) use rerun::rerun;
pub(crate) use reset::reset;
pub(crate) use resolve::resolve;
pub(crate) use resolve_run::resolve_run;
pub(crate) use resume::resume;
pub(crate) use satisfy::satisfy;
pub(crate) use set_queue::set_queue;
pub(crate) use set_schedule::set_schedule;
pub(crate) use skip::skip;
pub(crate) use start::{Encoded, run_of_key, start, start_stored};
pub(crate) use supply::supply;
pub(crate) use unfreeze::unfreeze;
pub(crate) use withdraw::withdraw;

use crate::command::{Answer, GateAct, RunAct, TaskAct};
use crate::desk::Desk;
use edgewise_core::event::{Approved, Event, Request, TaskAct as Acted, TaskIx, TimerKey, TimerKind};
use edgewise_core::fold::{Ignored, Refusal};
use edgewise_core::id::RunId;
use edgewise_core::{Error, Result, limits};

/// Records something about a run, and says why if it does not count.
fn act_on_run(desk: &mut Desk, act: &RunAct, event: impl FnOnce(Request) -> Event) -> Result<Answer> {
    desk.open(act.run)?;
    check_text(act.why.as_deref())?;
    let event = event(Request { by: act.by.clone(), why: act.why.clone() });
    answer(desk.decide(act.run, event)?, || format!("run {}", act.run))
}

/// Records what a person says to a gate.
fn act_on_gate(desk: &mut Desk, act: &GateAct, event: impl Fn(Approved) -> Event) -> Result<Answer> {
    check_text(act.comment.as_deref())?;
    let (by, comment) = (&act.by, &act.comment);
    let event = |(task, generation)| event(Approved { task, generation, by: by.clone(), comment: comment.clone() });
    match decide_on_gate(desk, act, event)? {
        Err(Ignored::Denied) => Err(denied(desk, act)),
        other => answer(other, || format!("gate `{}` of run {}", act.task, act.run)),
    }
}

/// The same, whatever is said.
fn decide_on_gate(desk: &mut Desk, act: &GateAct, event: impl Fn((TaskIx, u16)) -> Event) -> Result<Verdict> {
    let (task, _) = find_task(desk, act.run, &act.task)?;
    past_deadline(desk, act.run, task)?;
    decide(desk, act.run, &act.task, event)
}

/// A gate whose deadline has passed is over for whoever comes now, also if nobody was there to say so at its time.
fn past_deadline(desk: &mut Desk, run: RunId, task: TaskIx) -> Result<()> {
    let now = desk.now;
    let state = &desk.open(run)?.run;
    let mut timers = state.timers.range(TimerKey::all_of(task));
    if let Some((timer, due)) = timers.find(|(timer, due)| timer.kind == TimerKind::Deadline && **due <= now) {
        let event = state.fired(*timer, *due);
        let _ = desk.record(run, event);
    }
    Ok(())
}

/// Whether a fact counts.
type Verdict = std::result::Result<(), Ignored>;

/// Decides on a task as it is now. Whoever is refused is looked for again if the copy of the run was old: the task may
/// have another generation.
fn decide(desk: &mut Desk, run: RunId, path: &str, event: impl Fn((TaskIx, u16)) -> Event) -> Result<Verdict> {
    let mut found = find_task(desk, run, path)?;
    if desk.refuses(run, &event(found)) && desk.has_news(run)? {
        found = find_task(desk, run, path)?;
    }
    Ok(desk.record(run, event(found)))
}

/// Records what an operator does to a task, in the generation it has now.
fn act_on_task(desk: &mut Desk, act: &TaskAct, event: impl Fn(Acted) -> Event) -> Result<Answer> {
    check_text(act.why.as_deref())?;
    let event = |(task, generation)| event(Acted { task, generation, by: act.by.clone(), why: act.why.clone() });
    let verdict = decide(desk, act.run, &act.task, event)?;
    answer(verdict, || format!("task `{}` of run {}", act.task, act.run))
}

/// Has what a path names on the desk, if there is such a thing.
fn look_for(desk: &mut Desk, run: RunId, path: &str) -> Result<()> {
    let cached = desk.open(run)?;
    if cached.run.find(path).is_some() {
        return Ok(());
    }
    if !cached.is_whole() && cached.run.is_put_by(path) {
        desk.whole(run)?;
    } else {
        desk.has_news(run)?;
    }
    Ok(())
}

/// The task of a path, and its generation.
fn find_task(desk: &mut Desk, run: RunId, path: &str) -> Result<(TaskIx, u16)> {
    look_for(desk, run, path)?;
    let state = &desk.open(run)?.run;
    match state.find(path) {
        Some(task) => Ok((task, state.task(task).map_or(1, |t| t.generation))),
        None => {
            let message = format!("run {run} has no task `{path}`; `edgewise show {}` lists them", run.short());
            Err(Error::not_found("task_not_found", message))
        }
    }
}

fn denied(desk: &mut Desk, act: &GateAct) -> Error {
    let work = desk.open(act.run).ok().and_then(|c| Some(c.run.spec_of(c.run.find(&act.task)?).work.clone()));
    let allowed = match work {
        Some(edgewise_core::plan::Work::Gate(gate)) => match gate.wait {
            edgewise_core::gate::Wait::Approval { from, .. } => {
                let later = gate.escalate.iter().flat_map(|step| step.to.iter().map(move |who| (who, step.after)));
                let first = from.iter().map(ToString::to_string);
                first.chain(later.map(|(who, after)| format!("{who} (after {after})"))).collect::<Vec<_>>().join(", ")
            }
            // Nobody is named by these, and so nobody is denied.
            edgewise_core::gate::Wait::After(_)
            | edgewise_core::gate::Wait::Until(_)
            | edgewise_core::gate::Wait::Webhook
            | edgewise_core::gate::Wait::External { .. }
            | edgewise_core::gate::Wait::Shared { .. } => String::new(),
        },
        _ => String::new(),
    };
    let message =
        format!("{} may not speak to gate `{}`: it is for {allowed}. Say who you are with --as NAME", act.by, act.task);
    Error::denied("not_an_approver", message)
}

/// The answer to a person whose fact counted, or did not.
fn answer(verdict: Verdict, what: impl Fn() -> String) -> Result<Answer> {
    match verdict {
        Ok(()) => Ok(Answer::Done),
        Err(Ignored::Duplicate) => Ok(Answer::Already),
        Err(Ignored::Refused(Refusal { code, why })) => Err(Error::conflict(code, format!("{}: {why}", what()))),
        Err(Ignored::Stale) => Err(Error::stale("stale", format!("{}: it has moved on since you looked", what()))),
        Err(Ignored::Early) => Err(Error::conflict("too_early", format!("{}: it is too early", what()))),
        Err(Ignored::Denied) => Err(Error::denied("denied", format!("{}: you may not do this", what()))),
        Err(Ignored::Unknown) => Err(Error::not_found("not_found", format!("{}: there is no such thing", what()))),
    }
}

fn check_text(text: Option<&str>) -> Result<()> {
    match text {
        Some(text) if text.len() > limits::COMMENT_BYTES => {
            let message = format!("a comment has at most {} bytes, this one has {}", limits::COMMENT_BYTES, text.len());
            Err(Error::limit("comment_too_long", message))
        }
        _ => Ok(()),
    }
}
