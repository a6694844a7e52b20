//! `edgewise rerun`: finished work is opened again, and the run is followed to its end as by `run`.

use super::Context;
use super::engine::in_background;
use crate::args::{Mode, Rerun};
use crate::exit::Exit;
use crate::follow::{How, follow};
use crate::live::can_draw;
use crate::place::{Place, runtime};
use crate::problem::{Problem, Result};
use edgewise_core::Kind;
use edgewise_core::id::RunId;
use edgewise_core::state::RunState;
use edgewise_engine::Door;
use edgewise_engine::command::{self, RerunOf};
use serde_json::json;
use std::io::IsTerminal;

pub(super) fn perform(args: &Rerun, context: &mut Context<'_>) -> Result<Exit> {
    let place = Place::of(context.config);
    let run = place.find(&args.run)?;
    let from = what(args, run, &place)?;
    let rerun = command::Rerun { run, from, by: context.config.who.value.clone(), why: args.why.clone() };
    let terminal = std::io::stdout().is_terminal() && context.printer.for_people();
    match args.mode(terminal) {
        Mode::Detach => runtime()?.block_on(detach(rerun, &place, context)),
        mode => {
            let how = How {
                draw: mode == Mode::Watch && terminal && can_draw(),
                give_up: mode == Mode::Wait,
                timeout: args.timeout,
            };
            let begin = async |door: &mut Door, context: &mut Context<'_>| {
                let opened = door.rerun(rerun).await?;
                context.printer.say(&opened_words(run, opened));
                Ok(run)
            };
            runtime()?.block_on(follow(&place, how, begin, context))
        }
    }
}

/// What was asked for; of a run that did not end well, what failed or was stopped.
fn what(args: &Rerun, run: RunId, place: &Place) -> Result<RerunOf> {
    if let Some(task) = &args.task {
        return Ok(RerunOf::Task(task.clone()));
    }
    if args.whole {
        return Ok(RerunOf::Start);
    }
    let state = place.reader()?.run(run)?.state;
    if args.from_failure || matches!(state, RunState::Error | RunState::Cancelled) {
        return Ok(RerunOf::Failure);
    }
    let is = if state.is_done() { "ended well" } else { "is not over" };
    Err(Problem::new(
        Kind::Conflict,
        "nothing_failed",
        format!("run {} {is}: say what is to be done again", run.short()),
    )
    .next("--task PATH for one task and what follows it, --whole for everything once it is over"))
}

/// Says it as soon as it is kept, and sees to it that somebody goes on with the run.
async fn detach(rerun: command::Rerun, place: &Place, context: &mut Context<'_>) -> Result<Exit> {
    let run = rerun.run;
    let mut door = place.record().await?;
    let opened = door.rerun(rerun).await;
    let cared_for = door.engine().is_none() && door.is_background().await.unwrap_or(false);
    door.close().await?;
    let opened = opened?;
    let line = opened_words(run, opened);
    context.printer.one(run.to_string(), &[line], &json!({ "run": run, "opened": opened }))?;
    context.printer.flush()?;
    if !cared_for {
        in_background(place, context).await?;
    }
    let id = run.short();
    context.printer.say(&format!("`edgewise watch {id}` follows it, `edgewise cancel {id}` ends it"));
    Ok(Exit::Ok)
}

fn opened_words(run: RunId, opened: u32) -> String {
    let tasks = if opened == 1 { "1 task".to_owned() } else { format!("{opened} tasks") };
    format!("opened {tasks} of run {} again", run.short())
}
