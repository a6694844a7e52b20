//! `edgewise rerun`: finished work is opened again, also in the runs that failed below, and the run is followed to its end
//! as by `run`.

use super::Context;
use super::act::{self, Act, Moves, Next, Reach};
use super::engine::in_background;
use crate::args::{Mode, Rerun};
use crate::exit::Exit;
use crate::follow::{How, follow};
use crate::live::can_draw;
use crate::place::{Place, runtime};
use crate::problem::{Problem, Result};
use crate::text;
use edgewise_core::Kind;
use edgewise_core::event::Event;
use edgewise_core::history::Entry;
use edgewise_core::id::RunId;
use edgewise_core::name::Name;
use edgewise_core::run::Run;
use edgewise_core::state::RunState;
use edgewise_core::time::Time;
use edgewise_engine::Door;
use edgewise_engine::command::{self, RerunOf};
use edgewise_engine::folder::Ask;
use edgewise_engine::reader::{Past, Reader};
use serde_json::json;
use std::collections::VecDeque;
use std::io::IsTerminal;

pub(super) fn perform(args: &Rerun, context: &mut Context<'_>) -> Result<Exit> {
    let place = Place::of(context.config);
    let Some(run) = &args.which.run else { return many(args, &place, context) };
    let run = place.find(run)?;
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
                words_of(&below(run, &place)).iter().for_each(|line| context.printer.say(line));
                Ok(run)
            };
            runtime()?.block_on(follow(&place, how, begin, context))
        }
    }
}

/// All that a search finds: each is recorded by itself, then somebody goes on with them.
fn many(args: &Rerun, place: &Place, context: &mut Context<'_>) -> Result<Exit> {
    let from = match &args.task {
        Some(task) => RerunOf::Task(task.clone()),
        None if args.whole => RerunOf::Start,
        None => RerunOf::Failure,
    };
    let ask = |run, by| Ask::Rerun(command::Rerun { run, from: from.clone(), by, why: args.why.clone() });
    let act = Act { ask: &ask, done: "reopened", already: "was reopened already", task: None, moves: Moves::Nothing };
    let (exit, reopened) = act::perform_on_all(&args.which, &act, Reach::Any, context)?;
    if reopened > 0 {
        context.printer.flush()?;
        runtime()?.block_on(leave_to_an_engine(place, context))?;
    }
    Ok(exit)
}

/// Sees to it that somebody goes on after this process has ended.
async fn leave_to_an_engine(place: &Place, context: &mut Context<'_>) -> Result<()> {
    let mut door = place.record().await?;
    let next = Next::of(&mut door).await;
    door.close().await?;
    if next == Next::Engine { Ok(()) } else { in_background(place, context).await }
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
    let next = Next::of(&mut door).await;
    door.close().await?;
    let opened = opened?;
    let below = below(run, place);
    let lines: Vec<String> = std::iter::once(opened_words(run, opened)).chain(words_of(&below)).collect();
    let runs: Vec<RunId> = below.iter().map(|below| below.run).collect();
    context.printer.one(run.to_string(), &lines, &json!({ "run": run, "opened": opened, "runs": runs }))?;
    context.printer.flush()?;
    if next != Next::Engine {
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

/// A run that goes on because a task of another one does.
struct Below {
    run: RunId,
    flow: Name,
    path: String,
}

/// More are only counted.
const SHOWN: usize = 10;

/// The runs of tasks that go on with them, and the runs of theirs.
fn below(run: RunId, place: &Place) -> Vec<Below> {
    let (mut found, mut next) = (Vec::new(), VecDeque::from([(run, Time::NEVER)]));
    // What was asked for is done, also if it cannot be read just now.
    let Ok(mut reader) = place.reader() else { return found };
    while let Some((above, since)) = next.pop_front() {
        let Ok((run, opened)) = just_opened(&mut reader, above, since) else { continue };
        let waiting = run.adopted.iter().filter(|(task, _)| run.awaited(**task).is_some());
        found.extend(waiting.filter_map(|(task, adopted)| {
            next.push_back((adopted.run, opened));
            Some(Below { run: adopted.run, flow: run.sub_run(*task)?.flow.clone(), path: run.path(*task) })
        }));
    }
    found
}

/// A run as it was right after it was opened again, and when that was: it may be far by now. As it is if it was not.
fn just_opened(reader: &mut Reader, id: RunId, since: Time) -> edgewise_core::Result<(Run, Time)> {
    let run = reader.run(id)?;
    if run.adopted.is_empty() {
        return Ok((run, since));
    }
    let is_it = |entry: &Entry| matches!(entry.event, Event::RunRerunRequested(_)) && entry.stamp.at >= since;
    match reader.ledger(id)?.into_iter().rev().find(is_it) {
        Some(Entry { seq, stamp, .. }) => Ok((reader.as_of(id, Past::Seq(seq))?, stamp.at)),
        None => Ok((run, since)),
    }
}

fn words_of(below: &[Below]) -> Vec<String> {
    let told = |below: &Below| {
        format!("run {} of {}, which `{}` waits for, goes on", below.run.short(), below.flow, text::escape(&below.path))
    };
    let mut lines: Vec<String> = below.iter().take(SHOWN).map(told).collect();
    if below.len() > SHOWN {
        lines.push(format!("and {} runs more", below.len() - SHOWN));
    }
    lines
}
