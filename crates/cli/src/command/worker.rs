//! `edgewise worker`: workers that are called with their tasks.

use super::Context;
use crate::args::{WorkerAdd, WorkerCommand};
use crate::clock::rfc3339;
use crate::exit::Exit;
use crate::output::Row;
use crate::place::Place;
use crate::problem::Result;
use crate::shelves;
use crate::style::Ink;
use crate::table::Cell;
use edgewise_core::name::Name;
use edgewise_engine::engine::wall_clock;
use edgewise_engine::entropy::Entropy;
use edgewise_engine::push::{PushWorker, PushWorkers, Wanted};
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

fn workers(context: &Context<'_>, writes: bool) -> Result<PushWorkers> {
    Ok(PushWorkers::new(shelves::here(&Place::of(context.config), writes)?))
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
    let (_, secret) = workers(context, true)?.add(wanted, &mut Entropy::from_system()?, wall_clock())?;
    told(name, &secret.text(), context)
}

fn rotate(name: &Name, context: &mut Context<'_>) -> Result<Exit> {
    let secret = workers(context, true)?.rotate(name, &mut Entropy::from_system()?, wall_clock())?;
    told(name, &secret.text(), context)
}

/// Shows a secret, once.
fn told(name: &Name, secret: &str, context: &mut Context<'_>) -> Result<Exit> {
    context.printer.one(name.as_str(), &[format!("{name}  {secret}")], &json!({ "name": name, "secret": secret }))?;
    context.printer.say("keep the secret safe: it is not shown again, and calls are signed with it");
    Ok(Exit::Ok)
}

fn facts(worker: &PushWorker) -> Value {
    json!({ "name": worker.name, "url": worker.url, "actions": worker.actions, "queues": worker.queues,
        "slots": worker.slots, "lease_ms": worker.lease.0, "timeout_ms": worker.patience.0, "off": worker.off,
        "made_at": rfc3339(worker.at) })
}

fn words(names: &[Name]) -> String {
    names.iter().map(Name::as_str).collect::<Vec<_>>().join(", ")
}

fn list(context: &mut Context<'_>) -> Result<Exit> {
    let all = workers(context, false)?.list()?;
    if all.is_empty() && context.printer.for_people() {
        context.printer.say("there are no push workers; `edgewise worker add NAME URL --action ACTION` makes one");
        return Ok(Exit::Ok);
    }
    let row = |worker: &PushWorker| {
        let cells = vec![
            Cell::new(worker.name.as_str(), Ink::Bold),
            Cell::from(worker.url.as_str()),
            Cell::from(words(&worker.actions)),
            Cell::from(worker.queues.as_deref().map_or_else(|| "all".to_owned(), words)),
            Cell::from(worker.slots.to_string()),
            Cell::from(worker.off.as_deref().unwrap_or("on")),
        ];
        Row::new(worker.name.to_string(), cells, &facts(worker))
    };
    let rows = all.iter().map(row).collect::<Result<Vec<_>>>()?;
    context.printer.rows(&WORKERS, &rows)?;
    Ok(Exit::Ok)
}

fn show(name: &Name, context: &mut Context<'_>) -> Result<Exit> {
    let worker = workers(context, false)?.find(name)?;
    let lines = [
        format!("{name}  {}", worker.off.as_deref().unwrap_or("on")),
        format!("  called at   {}", worker.url),
        format!("  actions     {}", words(&worker.actions)),
        format!("  queues      {}", worker.queues.as_deref().map_or_else(|| "all".to_owned(), words)),
        format!("  slots       {}", worker.slots),
        format!("  a lease     {}", worker.lease),
        format!("  a call      {} at most", worker.patience),
        format!("  made        {}", rfc3339(worker.at).unwrap_or_default()),
    ];
    context.printer.one(name.as_str(), &lines, &facts(&worker))?;
    Ok(Exit::Ok)
}

fn pause(name: &Name, context: &mut Context<'_>) -> Result<Exit> {
    workers(context, true)?.pause(name, "paused")?;
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
