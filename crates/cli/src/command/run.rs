//! `edgewise run`: a flow becomes a run, and the run is followed to its end. Nothing is written before all is checked.

use super::Context;
use super::act::Next;
use super::engine::in_background;
use crate::args::{Mode, Run};
use crate::clock::{Clock, rfc3339};
use crate::exit::Exit;
use crate::flow_file::FlowFile;
use crate::follow::{How, follow};
use crate::live::can_draw;
use crate::place::{Place, runtime};
use crate::problem::{Problem, Result};
use crate::view::{View, there_is_a_ledger};
use edgewise_core::Kind;
use edgewise_core::id::RunId;
use edgewise_core::input;
use edgewise_core::name::Name;
use edgewise_core::plan::Plan;
use edgewise_core::state::Phase;
use edgewise_core::suggest::{nearest, shown};
use edgewise_engine::Door;
use edgewise_engine::command::Start;
use edgewise_engine::engine::wall_clock;
use edgewise_store::Gone;
use serde_json::json;
use serde_json::value::RawValue;
use std::io::IsTerminal;
use std::sync::Arc;

pub(super) fn perform(args: &Run, context: &mut Context<'_>) -> Result<Exit> {
    let start = prepare(args, context)?;
    let keyed = start.key.is_some();
    let place = Place::of(context.config);
    let terminal = std::io::stdout().is_terminal() && context.printer.for_people();
    match args.mode(terminal) {
        Mode::Detach => runtime()?.block_on(detach(start, &place, context)),
        mode => {
            let how = How {
                draw: mode == Mode::Watch && terminal && can_draw(),
                give_up: mode == Mode::Wait,
                timeout: args.timeout,
            };
            let mut gone = None;
            let begin = async |door: &mut Door, context: &mut Context<'_>| {
                let (run, new) = door.start(start).await?;
                gone = if new { None } else { place.reader()?.gone(run)? };
                if gone.is_some() {
                    return Err(Problem::new(Kind::NotFound, "run_gone", "the run is gone"));
                }
                say_if_old(run, new, keyed, context);
                Ok(run)
            };
            let followed = runtime()?.block_on(follow(&place, how, begin, context));
            match gone {
                Some(gone) => tell_gone(&gone, context),
                None => followed,
            }
        }
    }
}

/// Prints the run's id as soon as it is kept, and sees to it that somebody goes on with it.
async fn detach(start: Start, place: &Place, context: &mut Context<'_>) -> Result<Exit> {
    let keyed = start.key.is_some();
    let mut door = place.record().await?;
    let started = door.start(start).await;
    let next = Next::of(&mut door).await;
    door.close().await?;
    let (run, new) = started?;
    if let Some(gone) = if new { None } else { place.reader()?.gone(run)? } {
        return tell_gone(&gone, context);
    }
    say_if_old(run, new, keyed, context);
    context.printer.one(run.to_string(), &[run.to_string()], &json!({ "run": run, "new": new }))?;
    context.printer.flush()?;
    if next != Next::Engine {
        in_background(place, context).await?;
    }
    let id = run.short();
    context.printer.say(&format!("`edgewise watch {id}` follows it, `edgewise cancel {id}` ends it"));
    Ok(Exit::Ok)
}

/// The key is still taken, but of its run only this is known: it is over, and the exit code says how it ended.
fn tell_gone(gone: &Gone, context: &mut Context<'_>) -> Result<Exit> {
    let (run, phase) = (gone.stream.run, gone.state.phase());
    let clock = Clock::local(wall_clock());
    let line = format!(
        "this key has started run {} already: it {} at {} and was taken away at {}; nothing was started",
        run.short(),
        if phase == Phase::Cancelled { "was cancelled" } else { phase.word() },
        clock.short(gone.ended_at),
        clock.short(gone.removed_at)
    );
    context.printer.say(&line);
    context.printer.say(&format!("the key is free from {} on; another key starts a run now", clock.short(gone.until)));
    let value = json!({ "run": run, "new": false, "state": gone.state, "ended_at": rfc3339(gone.ended_at),
        "removed_at": rfc3339(gone.removed_at), "key_free_at": rfc3339(gone.until) });
    context.printer.one(run.to_string(), &[run.to_string()], &value)?;
    Ok(if phase == Phase::Succeeded { Exit::Ok } else { Exit::Failed })
}

fn say_if_old(run: RunId, new: bool, keyed: bool, context: &mut Context<'_>) {
    if !new {
        let who = if keyed { "this key has" } else { "the same flow and input have" };
        context.printer.say(&format!("{who} started run {} already; here it is", run.short()));
    }
}

/// Everything that can be wrong is found here.
fn prepare(args: &Run, context: &mut Context<'_>) -> Result<Start> {
    let (mut plan, children) = match registered(args, context)? {
        Some(plan) => (plan, Vec::new()),
        None => {
            let file = FlowFile::typed(&args.file, context.cwd);
            let compiled = file.one("cannot be run, nothing was started");
            let compiled = compiled.map_err(|problem| or_registered(problem, args, context))?;
            if context.printer.for_people() {
                compiled.warnings.to_string().lines().for_each(|line| context.printer.say(line));
            }
            (Arc::new(compiled.plan), compiled.children)
        }
    };
    if let Some(word) = args.identity {
        Arc::make_mut(&mut plan).naming.identity = word.into();
    }
    let input = RawValue::from_string(inputs(args, &plan)?)
        .map_err(|error| Problem::new(Kind::Bug, "unprintable", "the input has no JSON form").why(error.to_string()))?;
    Ok(Start {
        plan,
        children,
        input,
        by: context.config.who.value.clone(),
        key: args.key.clone(),
        labels: args.label.iter().map(|label| (label.key.to_string(), label.value.clone())).collect(),
    })
}

/// The name that was typed, if no file is called so.
fn name(args: &Run, context: &Context<'_>) -> Option<Name> {
    let name = args.file.to_str().and_then(|typed| Name::parse(typed).ok())?;
    (!context.cwd.join(&args.file).exists() && there_is_a_ledger(context.config).is_ok()).then_some(name)
}

/// The newest plan of a registered flow, if its name was typed.
fn registered(args: &Run, context: &Context<'_>) -> Result<Option<Arc<Plan>>> {
    let Some(name) = name(args, context) else { return Ok(None) };
    let mut view = View::open(context.config)?;
    let flow = view.reader.control()?.flows.get(&name).map(|flow| flow.plan);
    Ok(flow.map(|plan| view.reader.plan(plan)).transpose()?)
}

/// What is no file may be a slip in the name of a registered flow.
fn or_registered(problem: Problem, args: &Run, context: &Context<'_>) -> Problem {
    let Some(name) = name(args, context).filter(|_| problem.kind == Kind::NotFound) else { return problem };
    let control = View::open(context.config).and_then(|mut view| Ok(view.reader.control()?));
    let Some(control) = control.ok().filter(|control| !control.flows.is_empty()) else { return problem };
    match nearest(&name, control.flows.keys().map(Name::as_str)) {
        Some(near) => problem.next(format!("did you mean the registered flow {}? If not, check the path", shown(near))),
        None => problem.next("check the path of the flow; `edgewise flows` lists those that are registered"),
    }
}

/// The whole input: what was typed, read as what the flow declares, completed with defaults.
fn inputs(args: &Run, plan: &Plan) -> Result<String> {
    Ok(input::complete(&plan.inputs, &super::inputs::read(&args.input, &plan.inputs)?)?)
}
