//! `edgewise flows show` and `edgewise flows url`: what begins a registered flow, and the address that does.

use super::Context;
use super::address::Wanted;
use crate::args::{FlowName, FlowUrl};
use crate::clock::{Clock, rfc3339};
use crate::exit::Exit;
use crate::problem::{Problem, Result};
use crate::shelves::named;
use crate::style::Ink;
use crate::text;
use crate::view::View;
use edgewise_core::Kind;
use edgewise_core::control::{Control, Registered};
use edgewise_core::name::Name;
use edgewise_engine::engine::wall_clock;
use edgewise_server::hook::{Of, flow_in_address};
use serde_json::json;

pub(super) fn show(args: &FlowName, context: &mut Context<'_>) -> Result<Exit> {
    let mut view = View::open(context.config)?;
    let control = view.reader.control()?;
    let (name, flow) = (&args.flow, known(&control, &args.flow)?);
    let plan = view.reader.plan(flow.plan)?;
    let schedules: Vec<&Name> =
        control.schedules.iter().filter(|(_, s)| s.schedule.flow == *name).map(|(name, _)| name).collect();
    let (style, clock) = (context.printer.out_style, Clock::local(wall_clock()));
    let mut lines = vec![format!("{}  version {}", style.paint(Ink::Bold, name.as_str()), flow.version)];
    let mut about =
        |name: &str, value: String| lines.push(format!("  {} {value}", style.paint(Ink::Dim, &text::pad(name, 11))));
    about("registered", format!("{} by {}", clock.short(flow.at), flow.by));
    about("plan", flow.plan.to_string());
    for input in &plan.inputs {
        let must = if input.required { ", required" } else { "" };
        about("input", format!("{}: {}{must}", input.name, input.kind));
    }
    for schedule in &schedules {
        about("begun by", format!("schedule {schedule}"));
    }
    if let Some(hook) = &flow.hook {
        let into = hook.into.as_ref().map(|into| format!(", whose body is the input {into}")).unwrap_or_default();
        about("begun by", format!("a call of its address{into}: `edgewise flows url {name}`"));
    }
    let facts = json!({
        "flow": name, "plan": flow.plan, "version": flow.version, "by": flow.by, "registered_at": rfc3339(flow.at),
        "inputs": plan.inputs, "schedules": schedules, "webhook": flow.hook,
    });
    context.printer.one(name.to_string(), &lines, &facts)?;
    Ok(Exit::Ok)
}

pub(super) fn url(args: &FlowUrl, context: &mut Context<'_>) -> Result<Exit> {
    let control = View::open(context.config)?.reader.control()?;
    let flow = &args.flow;
    if known(&control, flow)?.hook.is_none() {
        let what = format!("flow {flow} has no address");
        let next = "write `on: { webhook: {} }` into it and register it again";
        return Err(Problem::new(Kind::Invalid, "no_webhook", what).next(next));
    }
    let (named, route) = (flow_in_address(flow), named("flows", flow.as_str(), "url"));
    let wanted = Wanted { of: Of::Flow, named: &named, route, expires: args.expires, server: args.server.as_deref() };
    let (url, expires_at) = wanted.make(context)?;
    let facts = json!({ "flow": flow, "url": url, "expires_at": expires_at });
    context.printer.one(url.clone(), std::slice::from_ref(&url), &facts)?;
    context.printer.say("whoever has this address can begin runs of the flow, as long as its text says `on: webhook`");
    Ok(Exit::Ok)
}

fn known<'c>(control: &'c Control, flow: &Name) -> Result<&'c Registered> {
    control.flows.get(flow).ok_or_else(|| {
        let what = format!("no flow is registered as {flow}");
        Problem::new(Kind::NotFound, "flow_not_found", what).next("`edgewise flows` lists them")
    })
}
