//! `edgewise register` and `edgewise flows`: flows under their names.

use super::Context;
use super::flow_hook;
use super::schedule::{hint, record};
use crate::args::{Flows, FlowsCommand, Register};
use crate::clock::{Clock, rfc3339};
use crate::exit::Exit;
use crate::flow_file::FlowFile;
use crate::output::Row;
use crate::place::Place;
use crate::problem::{Problem, Result};
use crate::style::Ink;
use crate::table::Cell;
use crate::view::View;
use edgewise_core::Kind;
use edgewise_engine::command::Register as Registration;
use edgewise_engine::engine::wall_clock;
use edgewise_engine::folder::Ask;
use serde_json::json;
use std::sync::Arc;

const HEADER: [&str; 5] = ["flow", "version", "schedules", "registered", "by"];

pub(super) fn register(args: &Register, context: &mut Context<'_>) -> Result<Exit> {
    let file = FlowFile::typed(&args.file, context.cwd);
    let flows = file.all()?.map_err(|problems| {
        let what = format!("{} cannot be registered, nothing was changed", file.shown);
        Problem::new(Kind::Invalid, "invalid_flow", what).why(problems.to_string().trim_end())
    })?;
    let place = Place::of(context.config);
    let (mut scheduled, mut alone) = (false, false);
    for compiled in flows {
        let (flow, schedules, hook) = (compiled.plan.flow.clone(), compiled.schedules, compiled.hook);
        let webhook = hook.is_some();
        scheduled |= !schedules.is_empty();
        let names: Vec<_> = schedules.keys().cloned().collect();
        let by = context.config.who.value.clone();
        let plan = Arc::new(compiled.plan);
        let (done, by_itself) =
            record(&place, Ask::Register(Registration { plan, children: compiled.children, schedules, hook, by }))?;
        alone |= by_itself;
        let with = match names.len() {
            0 => String::new(),
            1 => " with 1 schedule".into(),
            n => format!(" with {n} schedules"),
        };
        let line = if done { format!("registered {flow}{with}") } else { format!("{flow} was registered so already") };
        let value = json!({ "flow": flow, "changed": done, "schedules": names, "webhook": webhook });
        context.printer.one(flow.to_string(), &[line], &value)?;
        if webhook {
            context.printer.say(&format!("a call of its address begins it: `edgewise flows url {flow}`"));
        }
    }
    if scheduled && alone {
        hint(context);
    }
    Ok(Exit::Ok)
}

/// `edgewise flows`: the list, or what is asked about one of them.
pub(super) fn flows(args: &Flows, context: &mut Context<'_>) -> Result<Exit> {
    match &args.command {
        None => list(context),
        Some(FlowsCommand::Show(args)) => flow_hook::show(args, context),
        Some(FlowsCommand::Url(args)) => flow_hook::url(args, context),
    }
}

fn list(context: &mut Context<'_>) -> Result<Exit> {
    let control = View::open(context.config)?.reader.control()?;
    let clock = Clock::local(wall_clock());
    let row = |(name, flow): (&edgewise_core::name::Name, &edgewise_core::control::Registered)| {
        let schedules: Vec<_> =
            control.schedules.iter().filter(|(_, s)| s.schedule.flow == *name).map(|(name, _)| name.clone()).collect();
        let cells = vec![
            Cell::new(name.as_str(), Ink::Bold),
            Cell::from(flow.version.to_string()),
            Cell::from(schedules.len().to_string()),
            Cell::from(clock.short(flow.at)),
            Cell::new(flow.by.as_str(), Ink::Dim),
        ];
        let value = json!({
            "flow": name, "plan": flow.plan, "version": flow.version, "by": flow.by,
            "registered_at": rfc3339(flow.at), "schedules": schedules, "webhook": flow.hook.is_some(),
        });
        Row::new(name.to_string(), cells, &value)
    };
    let rows = control.flows.iter().map(row).collect::<Result<Vec<Row>>>()?;
    if rows.is_empty() && context.printer.for_people() {
        context.printer.say("no flow is registered");
        context.printer.say("next: edgewise register FILE");
        return Ok(Exit::Ok);
    }
    context.printer.rows(&HEADER, &rows)?;
    Ok(Exit::Ok)
}
