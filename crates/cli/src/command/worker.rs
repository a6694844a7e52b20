//! `edgewise worker`: workers that are called with their tasks.

use super::Context;
use crate::args::{WorkerAdd, WorkerCommand};
use crate::exit::Exit;
use crate::output::Row;
use crate::place::Place;
use crate::problem::Result;
use crate::push_workers::Workers;
use crate::style::Ink;
use crate::table::Cell;
use edgewise_core::name::Name;
use edgewise_core::time::Millis;
use edgewise_engine::push::Wanted;
use serde_json::{Value, json};

const WORKERS: [&str; 6] = ["name", "url", "actions", "queues", "slots", "state"];

pub(super) fn perform(command: &WorkerCommand, context: &mut Context<'_>) -> Result<Exit> {
    match command {
        WorkerCommand::Add(args) => add(args, context),
        WorkerCommand::List => list(context),
        WorkerCommand::Show { name } => show(name, context),
        WorkerCommand::Pause { name } => pause(name, context),
        WorkerCommand::Resume { name } => resume(name, context),
        WorkerCommand::Rotate { name } => rotate(name, context),
        WorkerCommand::Remove { name } => remove(name, context),
    }
}

fn workers(context: &Context<'_>, writes: bool) -> Result<Workers> {
    Workers::of(&Place::of(context.config), writes)
}

fn add(args: &WorkerAdd, context: &mut Context<'_>) -> Result<Exit> {
    let WorkerAdd { name, url, actions, queues, slots, lease, timeout } = args;
    let wanted = Wanted {
        name: name.clone(),
        url: url.clone(),
        actions: actions.clone(),
        queues: (!queues.is_empty()).then(|| queues.clone()),
        slots: *slots,
        lease: *lease,
        patience: *timeout,
    };
    let secret = workers(context, true)?.add(wanted)?;
    told(name, &secret, context)
}

fn rotate(name: &Name, context: &mut Context<'_>) -> Result<Exit> {
    let secret = workers(context, true)?.rotate(name)?;
    told(name, &secret, context)
}

/// Shows a secret, once.
fn told(name: &Name, secret: &str, context: &mut Context<'_>) -> Result<Exit> {
    context.printer.one(name.as_str(), &[format!("{name}  {secret}")], &json!({ "name": name, "secret": secret }))?;
    context.printer.say("keep the secret safe: it is not shown again, and calls are signed with it");
    Ok(Exit::Ok)
}

/// A field of what is known of a worker, as a person reads it.
fn said(worker: &Value, field: &str) -> String {
    match (&worker[field], field) {
        (Value::Null, "queues") => "all".to_owned(),
        (Value::Null, "off") => "on".to_owned(),
        (Value::Array(names), _) => names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
        (Value::String(text), _) => text.clone(),
        (other, _) => other.to_string(),
    }
}

fn list(context: &mut Context<'_>) -> Result<Exit> {
    let all = workers(context, false)?.list()?;
    if all.is_empty() && context.printer.for_people() {
        context.printer.say("there are no push workers; `edgewise worker add NAME URL --action ACTION` makes one");
        return Ok(Exit::Ok);
    }
    let row = |worker: &Value| {
        let rest = ["url", "actions", "queues", "slots", "off"].map(|field| Cell::from(said(worker, field)));
        let cells = std::iter::once(Cell::new(said(worker, "name"), Ink::Bold)).chain(rest).collect();
        Row::new(said(worker, "name"), cells, worker)
    };
    let rows = all.iter().map(row).collect::<Result<Vec<_>>>()?;
    context.printer.rows(&WORKERS, &rows)?;
    Ok(Exit::Ok)
}

fn show(name: &Name, context: &mut Context<'_>) -> Result<Exit> {
    let worker = workers(context, false)?.show(name)?;
    let span = |field: &str| Millis(worker[field].as_u64().unwrap_or_default());
    let mut lines = vec![
        format!("{name}  {}", said(&worker, "off")),
        format!("  called at   {}", said(&worker, "url")),
        format!("  actions     {}", said(&worker, "actions")),
        format!("  queues      {}", said(&worker, "queues")),
        format!("  slots       {}", said(&worker, "slots")),
        format!("  a lease     {}", span("lease_ms")),
        format!("  a call      {} at most", span("timeout_ms")),
        format!("  made        {}", said(&worker, "made_at")),
    ];
    // Only a server knows how it is reached.
    let live = [("at_work", "at work"), ("trouble", "trouble"), ("held_off_until", "left alone until")];
    let known = live.iter().filter(|(field, _)| !worker[*field].is_null() && worker[*field] != 0);
    lines.extend(known.map(|(field, words)| format!("  {words:<10}  {}", said(&worker, field))));
    context.printer.one(name.as_str(), &lines, &worker)?;
    Ok(Exit::Ok)
}

fn pause(name: &Name, context: &mut Context<'_>) -> Result<Exit> {
    workers(context, true)?.pause(name)?;
    done(name, "is given nothing for now", &json!({ "name": name, "paused": true }), context)
}

fn resume(name: &Name, context: &mut Context<'_>) -> Result<Exit> {
    workers(context, true)?.resume(name)?;
    done(name, "is given tasks again", &json!({ "name": name, "paused": false }), context)
}

fn remove(name: &Name, context: &mut Context<'_>) -> Result<Exit> {
    workers(context, true)?.remove(name)?;
    done(name, "is not called any more", &json!({ "name": name, "removed": true }), context)
}

fn done(name: &Name, what: &str, facts: &Value, context: &mut Context<'_>) -> Result<Exit> {
    context.printer.one(name.as_str(), &[format!("{name} {what}")], facts)?;
    Ok(Exit::Ok)
}
