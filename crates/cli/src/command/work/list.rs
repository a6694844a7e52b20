//! `edgewise list`: items, one line each.

use super::board::Board;
use super::{act, facts, look};
use crate::args::{Filters, List};
use crate::clock::Clock;
use crate::command::Context;
use crate::exit::Exit;
use crate::output::Row;
use crate::problem::Result;
use crate::style::Ink;
use crate::table::Cell;
use edgewise_core::name::Name;
use edgewise_core::time::Time;
use edgewise_core::work::{Filter, ItemKind, Status};
use edgewise_engine::work::ItemView;

/// What a list shows.
pub(crate) const HEADER: [&str; 5] = ["id", "p", "who", "state", "title"];
/// What people mean by items if they name no kind.
const KINDS: [ItemKind; 3] = [ItemKind::Task, ItemKind::Plan, ItemKind::Instance];
/// Everything but what is deleted.
const ALL: [Status; 6] =
    [Status::Open, Status::InProgress, Status::Deferred, Status::Backlog, Status::Review, Status::Closed];

pub(crate) fn perform(args: &List, context: &mut Context<'_>) -> Result<Exit> {
    let board = Board::open(context)?;
    let mut filter = filter(&args.filters, board.now, context)?;
    filter.kinds =
        if args.kind.is_empty() { KINDS.into() } else { args.kind.iter().map(|word| (*word).into()).collect() };
    filter.status = if args.all { ALL.into() } else { args.status.iter().map(|word| (*word).into()).collect() };
    filter.text.clone_from(&args.text);
    let views: Vec<ItemView> = board.work.list(&filter)?.into_iter().map(|item| board.view(item)).collect();
    let none = match board.work.is_empty() {
        true => "there is no item yet: `edgewise add 'TITLE'` makes one",
        false => "no item is like that",
    };
    print(&views, board.now, none, context)
}

/// The filter that was typed, with `@` replaced.
pub(crate) fn filter(filters: &Filters, now: Time, context: &Context<'_>) -> Result<Filter> {
    let mut filter = filters.filter(now);
    filter.parent = filter.parent.map(|id| act::typed(&id, context)).transpose()?;
    filter.plan = filter.plan.map(|id| act::typed(&id, context)).transpose()?;
    Ok(filter)
}

/// Prints items as a list; says something else if there are none.
pub(crate) fn print(views: &[ItemView], now: Time, none: &str, context: &mut Context<'_>) -> Result<Exit> {
    if views.is_empty() && context.printer.for_people() {
        context.printer.say(none);
        return Ok(Exit::Ok);
    }
    let clock = Clock::local(now);
    let rows: Vec<Row> = views.iter().map(|view| row(view, &clock, context)).collect::<Result<_>>()?;
    context.printer.rows(&HEADER, &rows)?;
    Ok(Exit::Ok)
}

fn row(view: &ItemView, clock: &Clock, context: &Context<'_>) -> Result<Row> {
    let id = view.item.id.to_string();
    match context.printer.for_people() {
        true => Row::new(id, cells(view, clock, context), &()),
        false => Row::new(id, Vec::new(), &facts::item(view)?),
    }
}

/// `ew-7k2  3>1  ann  ◌ ready  Mend the login #web`
fn cells(view: &ItemView, clock: &Clock, context: &Context<'_>) -> Vec<Cell> {
    let (item, effective) = (&view.item, view.effective_priority);
    let seen = look::seen(item, &view.standing);
    let style = context.printer.out_style;
    let state = format!("{} {}", style.glyph(seen), look::standing(item, &view.standing, clock));
    let mut title = item.fields.title.clone();
    if item.kind != ItemKind::Task {
        title = format!("[{}] {title}", look::kind_word(item.kind));
    }
    for tag in &item.fields.tags {
        title += &format!(" #{tag}");
    }
    vec![
        Cell::new(item.id.as_str(), Ink::Bold),
        Cell::new(look::priority(item.fields.priority, effective), if effective == 1 { Ink::Wait } else { Ink::Plain }),
        Cell::from(item.fields.assignee.as_ref().map(Name::as_str).unwrap_or_default()),
        Cell::new(state, look::ink_of(seen)),
        Cell::from(title),
    ]
}
