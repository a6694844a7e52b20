//! `edgewise run`: a flow becomes a run, and the run is followed to its end. Nothing is written before all is checked.

use super::Context;
use super::engine::in_background;
use crate::args::{Mode, Run};
use crate::exit::Exit;
use crate::flow_file::FlowFile;
use crate::follow::{How, follow};
use crate::live::can_draw;
use crate::place::{Place, runtime};
use crate::problem::{Problem, Result};
use crate::view::{View, there_is_a_ledger};
use edgewise_core::Kind;
use edgewise_core::id::RunId;
use edgewise_core::input::{self, InputType};
use edgewise_core::name::Name;
use edgewise_core::plan::Plan;
use edgewise_engine::Door;
use edgewise_engine::command::Start;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::io::IsTerminal;
use std::sync::Arc;

pub(super) fn perform(args: &Run, context: &mut Context<'_>) -> Result<Exit> {
    let start = prepare(args, context)?;
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
            let begin = async |door: &mut Door, context: &mut Context<'_>| {
                let (run, new) = door.start(start).await?;
                say_if_old(run, new, context);
                Ok(run)
            };
            runtime()?.block_on(follow(&place, how, begin, context))
        }
    }
}

/// Prints the run's id as soon as it is kept, and sees to it that somebody goes on with it.
async fn detach(start: Start, place: &Place, context: &mut Context<'_>) -> Result<Exit> {
    let mut door = place.record().await?;
    let started = door.start(start).await;
    let cared_for = door.engine().is_none() && door.is_background().await.unwrap_or(false);
    door.close().await?;
    let (run, new) = started?;
    say_if_old(run, new, context);
    context.printer.one(run.to_string(), &[run.to_string()], &json!({ "run": run, "new": new }))?;
    context.printer.flush()?;
    if !cared_for {
        in_background(place, context).await?;
    }
    let id = run.short();
    context.printer.say(&format!("`edgewise watch {id}` follows it, `edgewise cancel {id}` ends it"));
    Ok(Exit::Ok)
}

fn say_if_old(run: RunId, new: bool, context: &mut Context<'_>) {
    if !new {
        context.printer.say(&format!("this key has started run {} already; here it is", run.short()));
    }
}

/// Everything that can be wrong is found here.
fn prepare(args: &Run, context: &mut Context<'_>) -> Result<Start> {
    let plan = match registered(args, context)? {
        Some(plan) => plan,
        None => {
            let file = FlowFile::typed(&args.file, context.cwd);
            let compiled = file.one("cannot be run, nothing was started")?;
            if context.printer.for_people() {
                compiled.warnings.to_string().lines().for_each(|line| context.printer.say(line));
            }
            Arc::new(compiled.plan)
        }
    };
    let input = RawValue::from_string(inputs(args, &plan)?)
        .map_err(|error| Problem::new(Kind::Bug, "unprintable", "the input has no JSON form").why(error.to_string()))?;
    Ok(Start {
        plan,
        input,
        by: context.config.who.value.clone(),
        key: args.key.clone(),
        labels: args.label.iter().map(|label| (label.key.to_string(), label.value.clone())).collect(),
    })
}

/// The newest plan of a registered flow, if its name was typed and no file is called so.
fn registered(args: &Run, context: &Context<'_>) -> Result<Option<Arc<Plan>>> {
    let name = args.file.to_str().and_then(|typed| Name::parse(typed).ok());
    let (Some(name), false) = (name, context.cwd.join(&args.file).exists()) else { return Ok(None) };
    if there_is_a_ledger(&context.config.dir.value).is_err() {
        return Ok(None);
    }
    let mut view = View::open(context.config)?;
    let flow = view.reader.control()?.flows.get(&name).map(|flow| flow.plan);
    Ok(flow.map(|plan| view.reader.plan(plan)).transpose()?)
}

/// The whole input: what was typed, read as what the flow declares, completed with defaults.
fn inputs(args: &Run, plan: &Plan) -> Result<String> {
    let mut given = Map::new();
    for typed in &args.input {
        let declared = plan.inputs.iter().find(|declared| declared.name == typed.name);
        let as_text = declared.is_none_or(|d| matches!(d.kind, InputType::String | InputType::Any));
        let value = match &typed.value {
            // `jobs=4` for a number means the number: the flow says so.
            Value::String(text) if !as_text => input::parse_argument(&plan.inputs, &typed.name, text)?,
            value => value.clone(),
        };
        if given.insert(typed.name.to_string(), value).is_some() {
            let what = format!("the input `{}` is given twice", typed.name);
            return Err(Problem::new(Kind::Invalid, "bad_input", what).next("give it once"));
        }
    }
    Ok(input::complete(&plan.inputs, &given)?)
}
