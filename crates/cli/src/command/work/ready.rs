//! `edgewise ready`: what somebody can begin with, the most urgent first; and taking the first of it.

use super::board::{self, Board};
use super::{act, facts, list, look};
use crate::args::Ready;
use crate::clock::Clock;
use crate::command::Context;
use crate::exit::Exit;
use crate::problem::Result;
use crate::style::Ink;
use crate::text;
use edgewise_core::work::part::Extent;
use edgewise_core::work::{Filter, Item, Op, Standing};
use edgewise_engine::engine::wall_clock;
use serde_json::json;
use std::collections::BTreeMap;

/// Most items that are not ready and explained.
const EXPLAINED: usize = 20;

pub(crate) fn perform(args: &Ready, context: &mut Context<'_>) -> Result<Exit> {
    if args.claim {
        return claim(args, context);
    }
    let filter = list::filter(&args.filters, wall_clock(), context)?;
    if args.explain {
        return explain(&filter, context);
    }
    let (views, now) = board::ready(&filter, context)?;
    let exit = list::print(&views, now, "nothing is ready", context)?;
    if views.is_empty() && context.printer.for_people() && board::has_items(context)? {
        context.printer.say("`edgewise blocked` shows what is in the way, `edgewise ready --explain` all of it");
    }
    Ok(exit)
}

/// Exit code 3 says that there was nothing to take, so that a script can stop.
fn claim(args: &Ready, context: &mut Context<'_>) -> Result<Exit> {
    let filter = Box::new(list::filter(&args.filters, wall_clock(), context)?);
    let ops = vec![Op::ClaimNext { filter, lease: args.lease }];
    let done = act::act(&ops, None, context)?;
    let Some(id) = done.first().and_then(|done| done.id.clone()) else {
        if context.printer.for_people() {
            context.printer.say("nothing is ready");
        } else if !context.printer.quiet {
            act::tell(&ops, &done, context)?;
        }
        return Ok(Exit::NotFound);
    };
    act::tell(&ops, &done, context)?;
    if context.printer.for_people() {
        let (board, id) = Board::about(id.as_str(), Extent::Bonds, context)?;
        super::show::print(&board, board.item(&id)?, context)?;
    }
    Ok(Exit::Ok)
}

/// Why each stands where it does, and why the others are not here.
fn explain(filter: &Filter, context: &mut Context<'_>) -> Result<Exit> {
    let board = &Board::open(context)?;
    let items = board.work.ready(board.now, filter, Some(&context.config.who.value))?;
    let everything = Filter { limit: None, ..filter.clone() };
    let others: Vec<&Item> =
        board.work.list(&everything)?.into_iter().filter(|item| board.standing(item) != Standing::Ready).collect();
    if !context.printer.for_people() {
        let ready: Vec<_> = items.iter().map(|item| Ok(facts::item(&board.view(item))?)).collect::<Result<_>>()?;
        let not: Vec<_> = others.iter().map(|item| Ok(facts::item(&board.view(item))?)).collect::<Result<_>>()?;
        let ids: Vec<&str> = items.iter().map(|item| item.id.as_str()).collect();
        context.printer.one(ids.join("\n"), &[], &json!({ "ready": ready, "notReady": not }))?;
        return Ok(Exit::Ok);
    }
    let style = context.printer.out_style;
    for item in &items {
        let sign = look::sign(item, &Standing::Ready, style);
        let head = format!("{sign} {}  {}", style.paint(Ink::Bold, item.id.as_str()), text::escape(&item.fields.title));
        context.printer.raw(&head)?;
        context.printer.raw(&format!("  {}", style.paint(Ink::Dim, &place(board, item))))?;
    }
    let clock = Clock::local(board.now);
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    others.iter().for_each(|item| *kinds.entry(facts::word(&board.standing(item))).or_default() += 1);
    if !kinds.is_empty() {
        let counts: Vec<String> = kinds.iter().map(|(word, count)| format!("{count} {word}")).collect();
        context.printer.raw(&format!(
            "{}not ready: {}",
            if items.is_empty() { "" } else { "\n" },
            counts.join(", ")
        ))?;
    }
    for item in others.iter().take(EXPLAINED) {
        context.printer.raw(&not_ready(board, item, &clock, context))?;
    }
    if others.len() > EXPLAINED {
        context.printer.say(&format!("and {} more: `edgewise blocked`", others.len() - EXPLAINED));
    }
    Ok(Exit::Ok)
}

fn not_ready(board: &Board, item: &Item, clock: &Clock, context: &Context<'_>) -> String {
    let style = context.printer.out_style;
    let standing = board.standing(item);
    let because: Vec<String> = board.work.blockers(item.id.as_str()).iter().map(look::blocker).collect();
    let why = match because.is_empty() {
        true => look::standing(item, &standing, clock),
        false => format!("waits for {}", because.join(", ")),
    };
    let sign = look::sign(item, &standing, style);
    let line = format!(
        "{sign} {}  {}  {}",
        style.paint(Ink::Bold, item.id.as_str()),
        text::escape(&item.fields.title),
        text::escape(&why)
    );
    context.printer.columns.map_or(line.clone(), |columns| text::cut(&line, columns, style.cut_mark()))
}

/// `priority 3, counts as 1 because ew-b waits for it; nobody has it`
fn place(board: &Board, item: &Item) -> String {
    let effective = board.effective(&item.id);
    let own = item.fields.priority;
    let mut told = format!("priority {own}");
    if effective < own {
        let waiters = board.needed_by(item.id.as_str()).into_iter().map(|one| &one.source);
        let urgent = waiters.filter(|id| board.effective(id) == effective).map(ToString::to_string);
        let named: Vec<String> = urgent.take(3).collect();
        told += &format!(
            ", counts as {effective} because of {}",
            if named.is_empty() { "what is around it".to_owned() } else { named.join(", ") }
        );
    }
    match &item.fields.assignee {
        Some(name) => told += &format!("; {name} is to do it"),
        None => told += "; nobody's yet",
    }
    told
}
