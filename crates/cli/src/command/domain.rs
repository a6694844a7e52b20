//! `edgewise domain`: queues of domain events, read and acknowledged past any engine, or at a server.

use super::Context;
use crate::args::{DomainAck, DomainCommand, DomainForget, DomainRead};
use crate::clock::Clock;
use crate::exit::Exit;
use crate::looking::{LOOK, until_over};
use crate::output::Row;
use crate::place::Place;
use crate::problem::{Problem, Result};
use crate::shelves::{From, Shelves};
use crate::style::Ink;
use crate::table::Cell;
use edgewise_client::wire::DomainEventAt;
use edgewise_core::Kind;
use edgewise_core::name::Name;
use edgewise_core::time::Time;
use edgewise_engine::engine::wall_clock;
use serde_json::{Value, json};

const QUEUES: [&str; 5] = ["namespace", "events", "consumer", "acknowledged", "behind"];
const EVENTS: [&str; 5] = ["place", "time", "event", "subject", "payload"];

pub(super) fn perform(command: &DomainCommand, context: &mut Context<'_>) -> Result<Exit> {
    match command {
        DomainCommand::List => list(context),
        DomainCommand::Read(args) => read(args, context),
        DomainCommand::Ack(args) => acknowledge(args, context),
        DomainCommand::Forget(args) => forget(args, context),
    }
}

fn list(context: &mut Context<'_>) -> Result<Exit> {
    let queues = Shelves::of(&Place::of(context.config), false)?.namespaces()?;
    if queues.is_empty() && context.printer.for_people() {
        context.printer.say("nothing was published; `publish:` and `emit:` in a flow say what is");
        return Ok(Exit::Ok);
    }
    let mut rows = Vec::new();
    for queue in &queues {
        let own = &queue.consumers;
        let facts = json!({ "namespace": queue.namespace, "events": queue.events, "first": queue.first,
            "last": queue.last, "consumers": own });
        let who = own.iter().map(|c| c.name.clone()).collect::<Vec<_>>().join(", ");
        let least = own.iter().map(|c| c.place).min();
        let behind = least.map_or_else(|| "-".to_owned(), |place| queue.last.saturating_sub(place).to_string());
        let cells = vec![
            Cell::new(queue.namespace.as_str(), Ink::Bold),
            Cell::from(queue.events.to_string()),
            Cell::from(if who.is_empty() { "-".to_owned() } else { who }),
            Cell::from(least.map_or_else(|| "-".to_owned(), |place| place.to_string())),
            Cell::from(behind),
        ];
        rows.push(Row::new(queue.namespace.clone(), cells, &facts)?);
    }
    context.printer.rows(&QUEUES, &rows)?;
    Ok(Exit::Ok)
}

fn read(args: &DomainRead, context: &mut Context<'_>) -> Result<Exit> {
    let shelves = Shelves::of(&Place::of(context.config), false)?;
    let mut from = match &args.consumer {
        Some(consumer) => From::Consumer(consumer.to_string()),
        None => From::Place(args.after.unwrap_or(0)),
    };
    let limit = args.limit as usize;
    let clock = Clock::local(wall_clock());
    if !args.follow {
        let page = shelves.read(&args.namespace, &from, limit)?;
        let rows = page.iter().map(|queued| row(queued, &clock)).collect::<Result<Vec<_>>>()?;
        context.printer.rows(&EVENTS, &rows)?;
        if page.len() == limit && context.printer.for_people() {
            let last = page.last().map_or(0, |queued| queued.place);
            context.printer.say(&format!("there may be more: `--after {last}` goes on"));
        }
        return Ok(Exit::Ok);
    }
    until_over(LOOK, || {
        for queued in shelves.read(&args.namespace, &from, limit)? {
            from = From::Place(queued.place);
            let line = format!("{}  {}  {}", queued.place, when(&queued, &clock), text(&queued, "type"));
            context.printer.one(queued.place.to_string(), &[line], &queued)?;
        }
        context.printer.flush()?;
        Ok(false)
    })?;
    Ok(Exit::Ok)
}

fn text<'e>(queued: &'e DomainEventAt, field: &str) -> &'e str {
    queued.event[field].as_str().unwrap_or_default()
}

fn when(queued: &DomainEventAt, clock: &Clock) -> String {
    let time = text(queued, "time");
    Time::parse(time).map_or_else(|_| time.to_owned(), |at| clock.exact(at))
}

fn row(queued: &DomainEventAt, clock: &Clock) -> Result<Row> {
    let payload = queued.event["data"].get("payload").map(Value::to_string).unwrap_or_default();
    let short: String = payload.chars().take(60).collect();
    let cells = vec![
        Cell::new(queued.place.to_string(), Ink::Dim),
        Cell::from(when(queued, clock)),
        Cell::new(text(queued, "type"), Ink::Bold),
        Cell::from(text(queued, "subject")),
        Cell::new(short, Ink::Dim),
    ];
    Row::new(queued.place.to_string(), cells, queued)
}

fn acknowledge(args: &DomainAck, context: &mut Context<'_>) -> Result<Exit> {
    no_hook(&args.consumer, "choose another name")?;
    let shelves = Shelves::of(&Place::of(context.config), true)?;
    let place = shelves.acknowledge(&args.namespace, &args.consumer, args.place)?;
    let line = format!("{} has dealt with {} up to {place}", args.consumer, args.namespace);
    let facts = json!({ "namespace": args.namespace, "consumer": args.consumer, "place": place });
    context.printer.one(place.to_string(), &[line], &facts)?;
    Ok(Exit::Ok)
}

fn forget(args: &DomainForget, context: &mut Context<'_>) -> Result<Exit> {
    no_hook(&args.consumer, "`edgewise webhook remove` takes a webhook away")?;
    Shelves::of(&Place::of(context.config), true)?.forget(&args.namespace, &args.consumer)?;
    let line = format!("{} is forgotten: {} waits for it no more", args.consumer, args.namespace);
    let facts = json!({ "namespace": args.namespace, "consumer": args.consumer });
    context.printer.one(args.consumer.to_string(), &[line], &facts)?;
    Ok(Exit::Ok)
}

/// Webhooks are consumers too, and look after themselves.
fn no_hook(consumer: &Name, next: &str) -> Result<()> {
    if consumer.starts_with("webhook/") {
        let what = "names of consumers that begin with `webhook/` are those of webhooks";
        return Err(Problem::new(Kind::Invalid, "reserved_name", what).next(next));
    }
    Ok(())
}
