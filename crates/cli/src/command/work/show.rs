//! `edgewise show` of an item or a gate: what was said of it, and what binds it.

use super::board::Board;
use super::{facts, gate, look, said};
use crate::clock::Clock;
use crate::command::Context;
use crate::exit::Exit;
use crate::problem::Result;
use crate::style::{Ink, Style};
use crate::text;
use edgewise_core::work::{Item, ItemId, ItemKind};

pub(crate) fn perform(board: &Board, id: &ItemId, context: &mut Context<'_>) -> Result<Exit> {
    let Some(item) = board.work.item(id.as_str()) else { return gate::print(board, id, context) };
    if !context.printer.for_people() {
        let value = facts::whole(&board.work, board.now, item)?;
        context.printer.one(id.to_string(), &[], &value)?;
        return Ok(Exit::Ok);
    }
    print(board, item, context)?;
    Ok(Exit::Ok)
}

/// An item for people.
pub(crate) fn print(board: &Board, item: &Item, context: &mut Context<'_>) -> Result<()> {
    let style = context.printer.out_style;
    lines(board, item, style).iter().try_for_each(|line| context.printer.raw(line))
}

fn lines(board: &Board, item: &Item, style: Style) -> Vec<String> {
    let clock = Clock::local(board.now);
    let standing = board.standing(item);
    let id = style.paint(Ink::Bold, item.id.as_str());
    let seen = look::seen(item, &standing);
    let state = style.paint(look::ink_of(seen), &look::standing(item, &standing, &clock));
    let mut lines =
        vec![format!("{} {id}  {}  {state}", look::sign(item, &standing, style), text::escape(&item.fields.title))];
    for (name, value) in about(board, item, &clock) {
        lines.push(format!("  {} {}", style.paint(Ink::Dim, &text::pad(name, 11)), text::escape(&value)));
    }
    let details = item.fields.details.as_deref();
    for (name, words) in
        [("", details.map(|d| &d.description)), ("counts as done when", details.map(|d| &d.acceptance))]
    {
        let Some(words) = words.filter(|words| !words.is_empty()) else { continue };
        lines.push(String::new());
        if !name.is_empty() {
            lines.push(format!("  {}", style.paint(Ink::Dim, name)));
        }
        lines.extend(words.lines().map(|line| format!("  {}", text::escape_log(line))));
    }
    if item.kind == ItemKind::Message {
        lines.extend(thread(board, item, &clock, style));
        return lines;
    }
    let bound = bound(board, item, style);
    if !bound.is_empty() {
        lines.push(String::new());
        lines.extend(bound);
    }
    lines
}

/// The whole conversation that a message is of, the first word first.
fn thread(board: &Board, item: &Item, clock: &Clock, style: Style) -> Vec<String> {
    let messages = board.work.thread(item.id.as_str());
    if messages.len() < 2 {
        return Vec::new();
    }
    let line = |message: &&Item| {
        let ink = if message.id == item.id { Ink::Bold } else { Ink::Plain };
        let title = style.paint(ink, &text::escape(&message.fields.title));
        let when = style.paint(Ink::Dim, &format!("{} {}", clock.short(message.created_at), message.created_by));
        format!("  {when}  {}  {title}", message.id)
    };
    std::iter::once(String::new()).chain(messages.iter().map(line)).collect()
}

/// What was said of it, name by name.
fn about(board: &Board, item: &Item, clock: &Clock) -> Vec<(&'static str, String)> {
    let fields = &item.fields;
    let effective = board.effective(&item.id);
    let mut kind = look::kind_word(item.kind).to_owned();
    if kind == "task" {
        look::type_word(fields.task_type).clone_into(&mut kind);
    }
    kind += &item.phase.map(|phase| format!(", {}", look::phase_word(phase))).unwrap_or_default();
    let urgent = match effective < fields.priority {
        true => format!("{}, counts as {effective} because of what waits for it", fields.priority),
        false => fields.priority.to_string(),
    };
    let name = |name: &Option<edgewise_core::name::Name>| name.as_ref().map(ToString::to_string).unwrap_or_default();
    let tags: Vec<String> = fields.tags.iter().map(ToString::to_string).collect();
    let made = format!("{} by {}", clock.short(item.created_at), item.created_by);
    let closed = item.closed.as_ref().map(|closed| {
        let why = closed.why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
        format!("{} {} by {}{why}", look::close_word(closed.how), clock.short(closed.at), closed.by)
    });
    let waiter = item.waiter.as_ref().map(|waiter| format!("run {} waits for it", waiter.run.short()));
    let all = [
        ("kind", kind),
        ("priority", if item.kind == ItemKind::Message { String::new() } else { urgent }),
        ("assignee", name(&fields.assignee)),
        ("owner", name(&fields.owner)),
        ("tags", tags.join(", ")),
        ("deadline", fields.deadline.map(|at| clock.short(at)).unwrap_or_default()),
        ("not before", fields.scheduled_for.map(|at| clock.short(at)).unwrap_or_default()),
        ("elsewhere", fields.external_ref.clone().unwrap_or_default()),
        ("ephemeral", fields.ephemeral.map(|span| format!("goes away after {span}")).unwrap_or_default()),
        ("run", waiter.unwrap_or_default()),
        ("made", made),
        ("closed", closed.unwrap_or_default()),
    ];
    all.into_iter().filter(|(_, value)| !value.is_empty()).collect()
}

/// What binds it to others, from its side.
fn bound(board: &Board, item: &Item, style: Style) -> Vec<String> {
    let id = item.id.as_str();
    let mut lines = Vec::new();
    for one in board.needs(id) {
        let (verb, other) = match one.source == item.id {
            true => (said::verb(one.kind), one.target.as_str()),
            false => (said::verb_back(one.kind), one.source.as_str()),
        };
        lines.push(bond(board, verb, other, style));
    }
    for one in board.needed_by(id) {
        lines.push(bond(board, said::verb_back(one.kind), one.source.as_str(), style));
    }
    lines
}

fn bond(board: &Board, verb: &str, other: &str, style: Style) -> String {
    let verb = style.paint(Ink::Dim, verb);
    match board.work.item(other) {
        Some(item) => {
            let sign = look::sign(item, &board.standing(item), style);
            format!("  {verb} {sign} {}  {}", style.paint(Ink::Bold, other), text::escape(&item.fields.title))
        }
        None => {
            let title = board.work.gate(other).map(|gate| said::opens(&gate.wait)).unwrap_or_default();
            format!("  {verb} {}  {}", style.paint(Ink::Bold, &text::escape(other)), text::escape(&title))
                .trim_end()
                .to_owned()
        }
    }
}
