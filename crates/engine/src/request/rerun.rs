//! Rerun: finished work is opened again, from this commit on. The only act that a cancelled run takes.

use super::{answer, check_text, look_for};
use crate::command::{Answer, Rerun, RerunOf};
use crate::desk::Desk;
use edgewise_core::event::{self, Event, RerunFrom};
use edgewise_core::fold::reopens;
use edgewise_core::{Error, Result};

pub(crate) fn rerun(desk: &mut Desk, act: &Rerun) -> Result<Answer> {
    check_text(act.why.as_deref())?;
    let mut event = wanted(desk, act)?;
    if desk.refuses(act.run, &Event::RunRerunRequested(event.clone())) && desk.has_news(act.run)? {
        // The copy was old: what is to be done again may have another generation.
        event = wanted(desk, act)?;
    }
    let opened = reopens(&desk.whole(act.run)?.run, &event).unwrap_or_default();
    match desk.record(act.run, Event::RunRerunRequested(event)) {
        Ok(()) => Ok(Answer::Reopened(opened)),
        refused => answer(refused, || match &act.from {
            RerunOf::Task(path) => format!("task `{path}` of run {}", act.run),
            _ => format!("run {}", act.run),
        }),
    }
}

/// What is asked for, of the run as it is known here.
fn wanted(desk: &mut Desk, act: &Rerun) -> Result<event::Rerun> {
    let from = match &act.from {
        RerunOf::Start => RerunFrom::Start,
        RerunOf::Failure => RerunFrom::Failure,
        RerunOf::Task(path) => task(desk, act, path)?,
    };
    let generation = desk.whole(act.run)?.run.generation;
    Ok(event::Rerun { by: act.by.clone(), why: act.why.clone(), from, generation })
}

fn task(desk: &mut Desk, act: &Rerun, path: &str) -> Result<RerunFrom> {
    look_for(desk, act.run, path)?;
    let run = &desk.open(act.run)?.run;
    let Some(task) = run.find(path) else {
        let message = format!(
            "run {} has no task `{path}` that could be done again; `edgewise show {}` lists them. What is in a round of \
             a loop or in a spread that is over is done again with all of it",
            act.run,
            act.run.short()
        );
        return Err(Error::not_found("task_not_found", message));
    };
    let generation = run.task(task).map_or(1, |task| task.generation);
    Ok(RerunFrom::Task { task, generation })
}
