//! `edgewise queues`: what waits where, who holds what, and how much of it may begin.

use super::Context;
use super::schedule::record;
use crate::args::{QueueAct, QueueSet, Queues, QueuesCommand};
use crate::exit::Exit;
use crate::output::Row;
use crate::place::Place;
use crate::problem::Result;
use crate::remote::Remote;
use crate::style::Ink;
use crate::table::Cell;
use crate::view::View;
use edgewise_engine::command::SetQueue;
use edgewise_engine::folder::Ask;
use edgewise_engine::queues::QueueChange;
use edgewise_engine::shares::{LimitUse, QueueUse, Shares};
use serde::Serialize;
use serde_json::json;

const HEADER: [&str; 6] = ["", "name", "used", "waiting", "set aside", "set or held by"];
/// Holders that a line names, at most.
const SHOWN: usize = 3;

/// A queue or a limit, for programs.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Listed<'a> {
    Queue(&'a QueueUse),
    Limit(&'a LimitUse),
}

pub(super) fn perform(args: &Queues, context: &mut Context<'_>) -> Result<Exit> {
    let pause = |paused| QueueChange { paused: Some(paused), ..QueueChange::default() };
    match &args.command {
        None => list(context),
        Some(QueuesCommand::Set(QueueSet { act, slots, rate })) => {
            let change = QueueChange { slots: *slots, rate: *rate, paused: None };
            set(act, Some(change), ("set", "is set so already"), context)
        }
        Some(QueuesCommand::Pause(act)) => set(act, Some(pause(true)), ("paused", "was paused already"), context),
        Some(QueuesCommand::Resume(act)) => set(act, Some(pause(false)), ("resumed", "was not paused"), context),
        Some(QueuesCommand::Unset(act)) => set(act, None, ("unset", "was not set"), context),
    }
}

fn set(
    act: &QueueAct,
    change: Option<QueueChange>,
    (done, already): (&str, &str),
    context: &mut Context<'_>,
) -> Result<Exit> {
    let (queue, by, why) = (act.queue.clone(), context.config.who.value.clone(), act.why.clone());
    let ask = Ask::SetQueue(SetQueue { queue: queue.clone(), change, by, why });
    let (changed, _) = record(&Place::of(context.config), ask)?;
    let line = if changed { format!("{done} queue {queue}") } else { format!("queue {queue} {already}") };
    context.printer.one(queue.to_string(), &[line], &json!({ "queue": queue, "changed": changed }))?;
    Ok(Exit::Ok)
}

/// What is shared, as the engine that shares it out was told. A server knows what it was started with.
fn shares(context: &Context<'_>) -> Result<Shares> {
    match Remote::of(context.config)? {
        Some(remote) => remote.asker()?.get("/api/v1/queues"),
        None => Ok(View::open(context.config)?.reader.shares(&context.config.queues.value)?),
    }
}

fn list(context: &mut Context<'_>) -> Result<Exit> {
    let shares = shares(context)?;
    let queues =
        shares.queues.iter().map(|queue| Row::new(queue.queue.as_str(), of_queue(queue), &Listed::Queue(queue)));
    let limits = shares.limits.iter().map(|limit| Row::new(&limit.key, of_limit(limit), &Listed::Limit(limit)));
    let rows = queues.chain(limits).collect::<Result<Vec<Row>>>()?;
    if rows.is_empty() && context.printer.for_people() {
        context.printer.say("nothing waits, nothing is at work, and no queue is set");
        return Ok(Exit::Ok);
    }
    context.printer.rows(&HEADER, &rows)?;
    Ok(Exit::Ok)
}

fn of_queue(queue: &QueueUse) -> Vec<Cell> {
    let bounds = queue.rate.map_or(String::new(), |rate| format!(", {rate}"));
    let used = queue.slots.map_or(queue.used.to_string(), |slots| format!("{} of {slots}", queue.used));
    let full = queue.slots.is_some_and(|slots| queue.used >= slots);
    let paused = queue.paused.then(|| "paused".to_owned());
    let set = queue.set.as_ref().map(|set| {
        let why = set.why.as_ref().map_or(String::new(), |why| format!(" ({why})"));
        format!("set by {}{why}", set.by)
    });
    let note = paused.into_iter().chain(set).collect::<Vec<_>>().join(", ");
    vec![
        Cell::new("queue", Ink::Dim),
        Cell::new(queue.queue.as_str(), Ink::Bold),
        Cell::new(used + &bounds, if full { Ink::Wait } else { Ink::Plain }),
        Cell::from(queue.waiting.to_string()),
        Cell::from(queue.aside.to_string()),
        Cell::new(note, Ink::Wait),
    ]
}

fn of_limit(limit: &LimitUse) -> Vec<Cell> {
    let bounds = limit.rate.map_or(String::new(), |rate| format!(", {rate}"));
    let used = limit.max.map_or(limit.used.to_string(), |max| format!("{} of {max}", limit.used));
    let full = limit.max.is_some_and(|max| limit.used >= max);
    let named = limit.holders.iter().take(SHOWN).map(|holder| format!("{} {}", holder.run.short(), holder.task));
    let mut named: Vec<String> = named.collect();
    if limit.used as usize > named.len() {
        named.push(format!("{} more", limit.used as usize - named.len()));
    }
    vec![
        Cell::new("limit", Ink::Dim),
        Cell::new(&limit.key, Ink::Bold),
        Cell::new(used + &bounds, if full { Ink::Wait } else { Ink::Plain }),
        Cell::from(limit.waiting.to_string()),
        Cell::from(if full { limit.waiting } else { 0 }.to_string()),
        Cell::from(named.join(", ")),
    ]
}
