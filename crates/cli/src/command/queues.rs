//! `edgewise queues`: what waits where, who holds what.

use super::Context;
use crate::exit::Exit;
use crate::output::Row;
use crate::problem::Result;
use crate::style::Ink;
use crate::table::Cell;
use crate::view::View;
use edgewise_engine::shares::{LimitUse, QueueUse};
use serde::Serialize;

const HEADER: [&str; 6] = ["", "name", "used", "waiting", "set aside", "held by"];
/// Holders that a line names, at most.
const SHOWN: usize = 3;

/// A queue or a limit, for programs.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Listed<'a> {
    Queue(&'a QueueUse),
    Limit(&'a LimitUse),
}

pub(super) fn perform(context: &mut Context<'_>) -> Result<Exit> {
    let mut view = View::open(context.config)?;
    let shares = view.reader.shares(&context.config.queues.value)?;
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
    let note = if queue.paused { "paused" } else { "" };
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
