//! `edgewise domain`: queues of domain events, read and acknowledged past any engine.

use super::Context;
use crate::args::{DomainAck, DomainCommand, DomainRead};
use crate::clock::{Clock, rfc3339};
use crate::exit::Exit;
use crate::looking::{LOOK, until_over};
use crate::output::Row;
use crate::place::Place;
use crate::problem::{Problem, Result};
use crate::style::Ink;
use crate::table::Cell;
use edgewise_core::Kind;
use edgewise_engine::Home;
use edgewise_engine::engine::wall_clock;
use edgewise_engine::publish::Shelf;
use edgewise_store::{Queued, Space, sqlite};
use serde_json::{Value, json};

const QUEUES: [&str; 5] = ["namespace", "events", "consumer", "acknowledged", "behind"];
const EVENTS: [&str; 5] = ["place", "time", "event", "subject", "payload"];

pub(super) fn perform(command: &DomainCommand, context: &mut Context<'_>) -> Result<Exit> {
    match command {
        DomainCommand::List => list(context),
        DomainCommand::Read(args) => read(args, context),
        DomainCommand::Ack(args) => acknowledge(args, context),
    }
}

/// The queues of the folder. Whoever only looks changes nothing, also not an older ledger.
pub(super) fn shelf(context: &Context<'_>, writes: bool) -> Result<Shelf> {
    let place = Place::of(context.config);
    place.there_are_runs()?;
    let Home { tenant, workspace } = Home::local();
    let dir = place.folder.dir();
    let ledger = if writes { sqlite::open_ledger(dir) } else { sqlite::open_ledger_reader(dir) };
    Ok(Shelf::new(Box::new(ledger?), Space { tenant, workspace }))
}

fn list(context: &mut Context<'_>) -> Result<Exit> {
    let (queues, consumers) =
        shelf(context, false)?.with(|ledger, space| Ok((ledger.namespaces(space)?, ledger.consumers(space)?)))?;
    if queues.is_empty() && consumers.is_empty() && context.printer.for_people() {
        context.printer.say("nothing was published; `publish:` and `emit:` in a flow say what is");
        return Ok(Exit::Ok);
    }
    let mut rows = Vec::new();
    for queue in &queues {
        let own: Vec<_> = consumers.iter().filter(|consumer| consumer.namespace == queue.name).collect();
        let facts = json!({ "namespace": queue.name, "events": queue.events, "first": queue.first, "last": queue.last,
            "consumers": own.iter().map(|c| json!({ "name": c.name, "place": c.place, "at": rfc3339(c.at) })).collect::<Vec<_>>() });
        let who = own.iter().map(|c| c.name.clone()).collect::<Vec<_>>().join(", ");
        let least = own.iter().map(|c| c.place).min();
        let behind = least.map_or_else(|| "-".to_owned(), |place| queue.last.saturating_sub(place).to_string());
        let cells = vec![
            Cell::new(queue.name.as_str(), Ink::Bold),
            Cell::from(queue.events.to_string()),
            Cell::from(if who.is_empty() { "-".to_owned() } else { who }),
            Cell::from(least.map_or_else(|| "-".to_owned(), |place| place.to_string())),
            Cell::from(behind),
        ];
        rows.push(Row::new(queue.name.to_string(), cells, &facts)?);
    }
    context.printer.rows(&QUEUES, &rows)?;
    Ok(Exit::Ok)
}

fn read(args: &DomainRead, context: &mut Context<'_>) -> Result<Exit> {
    let shelf = shelf(context, false)?;
    let mut after = args.after.unwrap_or(0);
    if let Some(consumer) = &args.consumer {
        after = shelf.next(&args.namespace, consumer, 1)?.acknowledged;
    }
    let limit = args.limit as usize;
    let clock = Clock::local(wall_clock());
    if !args.follow {
        let page = shelf.read(&args.namespace, after, limit)?;
        let rows = page.iter().map(|queued| row(queued, &clock)).collect::<Result<Vec<_>>>()?;
        context.printer.rows(&EVENTS, &rows)?;
        if page.len() == limit && context.printer.for_people() {
            let last = page.last().map_or(0, |queued| queued.place);
            context.printer.say(&format!("there may be more: `--after {last}` goes on"));
        }
        return Ok(Exit::Ok);
    }
    until_over(LOOK, || {
        for queued in shelf.read(&args.namespace, after, limit)? {
            after = queued.place;
            let line = format!("{}  {}  {}", queued.place, clock.exact(queued.event.at), queued.event.name);
            context.printer.one(queued.place.to_string(), &[line], &told(&queued)?)?;
        }
        context.printer.flush()?;
        Ok(false)
    })?;
    Ok(Exit::Ok)
}

/// The place, and the event as it travels.
fn told(queued: &Queued) -> Result<Value> {
    let event: Value = serde_json::from_str(&queued.event.body).map_err(|error| {
        Problem::new(Kind::Corrupt, "damaged_row", format!("the event at {} is damaged", queued.place))
            .why(error.to_string())
            .next("restore a backup")
    })?;
    Ok(json!({ "place": queued.place, "event": event }))
}

fn row(queued: &Queued, clock: &Clock) -> Result<Row> {
    let told = told(queued)?;
    let event = &told["event"];
    let payload = event["data"].get("payload").map(Value::to_string).unwrap_or_default();
    let short: String = payload.chars().take(60).collect();
    let cells = vec![
        Cell::new(queued.place.to_string(), Ink::Dim),
        Cell::from(clock.exact(queued.event.at)),
        Cell::new(queued.event.name.as_str(), Ink::Bold),
        Cell::from(event["subject"].as_str().unwrap_or_default()),
        Cell::new(short, Ink::Dim),
    ];
    Row::new(queued.place.to_string(), cells, &told)
}

fn acknowledge(args: &DomainAck, context: &mut Context<'_>) -> Result<Exit> {
    if args.consumer.starts_with("webhook/") {
        let what = "names of consumers that begin with `webhook/` are those of webhooks";
        return Err(Problem::new(Kind::Invalid, "reserved_name", what).next("choose another name"));
    }
    let place = shelf(context, true)?.acknowledge(&args.namespace, &args.consumer, args.place, wall_clock())?;
    let line = format!("{} has dealt with {} up to {place}", args.consumer, args.namespace);
    let facts = json!({ "namespace": args.namespace, "consumer": args.consumer, "place": place });
    context.printer.one(place.to_string(), &[line], &facts)?;
    Ok(Exit::Ok)
}
