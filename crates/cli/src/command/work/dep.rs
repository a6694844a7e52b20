//! `edgewise dep`: what waits for what.

use super::board::Board;
use super::{act, said, spelled, tree};
use crate::args::{Dep, DepAdd, DepCommand, DepList, DepRemove, DepTree, Toward};
use crate::command::Context;
use crate::exit::Exit;
use crate::output::Row;
use crate::problem::Result;
use crate::style::Ink;
use crate::table::Cell;
use edgewise_core::work::{Depend, Dependency, DependencyKind, Direction, Op, When};
use serde_json::{Value, json};

pub(crate) fn perform(args: &Dep, context: &mut Context<'_>) -> Result<Exit> {
    match &args.command {
        Some(DepCommand::Add(add)) => one(add, context),
        Some(DepCommand::Remove(remove)) => take_away(remove, context),
        Some(DepCommand::List(list)) => bonds(list, context),
        Some(DepCommand::Tree(args)) => draw(args, context),
        Some(DepCommand::Cycles(_)) => cycles(context),
        None => between(args, context),
    }
}

fn depend(id: String, on: String, kind: Option<DependencyKind>, when: When, metadata: Option<Value>) -> Op {
    Op::Depend(Box::new(Depend { id, on: Some(on), kind, when, gate: None, metadata }))
}

/// `dep A B`: A waits for B.
fn one(args: &DepAdd, context: &mut Context<'_>) -> Result<Exit> {
    let (id, on) = (act::typed(&args.id, context)?, act::typed(&args.on, context)?);
    let metadata =
        args.metadata.iter().map(|one| (one.name.to_string(), one.value.clone())).collect::<serde_json::Map<_, _>>();
    let metadata = (!metadata.is_empty()).then_some(Value::Object(metadata));
    act::perform(&[depend(id, on, kind(args.kind.as_deref())?, args.when.into(), metadata)], context)?;
    Ok(Exit::Ok)
}

/// `dep A --needs B --blocks C`: the same from both ends.
fn between(args: &Dep, context: &mut Context<'_>) -> Result<Exit> {
    let id = act::typed(args.id.as_deref().unwrap_or_default(), context)?;
    let mut ops = Vec::new();
    for other in &args.needs {
        ops.push(depend(id.clone(), act::typed(other, context)?, None, args.when.into(), None));
    }
    for other in &args.blocks {
        ops.push(depend(act::typed(other, context)?, id.clone(), None, args.when.into(), None));
    }
    act::perform(&ops, context)?;
    Ok(Exit::Ok)
}

fn take_away(args: &DepRemove, context: &mut Context<'_>) -> Result<Exit> {
    let id = act::typed(&args.id, context)?;
    let on = args.on.as_ref().map(|on| act::typed(on, context)).transpose()?;
    act::perform(&[Op::Undepend { id, on, kind: kind(args.kind.as_deref())? }], context)?;
    Ok(Exit::Ok)
}

/// Read here and not with the rest of the line, so that the refusal has its own code.
fn kind(text: Option<&str>) -> Result<Option<DependencyKind>> {
    Ok(text.map(DependencyKind::parse).transpose()?)
}

fn bonds(args: &DepList, context: &mut Context<'_>) -> Result<Exit> {
    let kind = kind(args.kind.as_deref())?;
    let board = Board::open(context)?;
    let id = board.find(&args.id)?;
    let mut all: Vec<&Dependency> = Vec::new();
    // What it relates to is seen from both ends.
    let down = |one: &&Dependency| args.direction != Toward::Up || one.kind == DependencyKind::RelatesTo;
    all.extend(board.needs(id.as_str()).into_iter().filter(down));
    if args.direction != Toward::Down {
        all.extend(board.needed_by(id.as_str()));
    }
    all.retain(|one| kind.is_none_or(|kind| one.kind == kind));
    if all.is_empty() && context.printer.for_people() {
        context.printer.say(&format!("{id} has no dependencies of that sort"));
        return Ok(Exit::Ok);
    }
    let mut rows = Vec::new();
    for one in all {
        let forward = one.source == id;
        let (verb, other) = match forward {
            true => (said::verb(one.kind), one.target.to_string()),
            false => (said::verb_back(one.kind), one.source.to_string()),
        };
        let title = board.work.item(&other).map(|item| item.fields.title.clone());
        let title = title.or_else(|| board.work.gate(&other).map(|gate| said::opens(&gate.wait))).unwrap_or_default();
        let mut value = json!(one);
        spelled::spelled(&mut value);
        let cells = vec![
            Cell::new(id.as_str(), Ink::Bold),
            Cell::from(verb),
            Cell::new(&other, Ink::Bold),
            Cell::new(one.kind.name(), Ink::Dim),
            Cell::from(title),
        ];
        rows.push(Row::new(format!("{} {} {}", one.source, one.target, one.kind.name()), cells, &value)?);
    }
    context.printer.rows(&["id", "", "other", "type", "title"], &rows)?;
    Ok(Exit::Ok)
}

fn draw(args: &DepTree, context: &mut Context<'_>) -> Result<Exit> {
    let board = Board::open(context)?;
    let id = board.find(&args.id)?;
    let style = context.printer.out_style;
    let (mut lines, mut value) = (Vec::new(), serde_json::Map::new());
    for (way, name, not) in
        [(Direction::Dependencies, "waits for", Toward::Up), (Direction::Dependents, "is waited for by", Toward::Down)]
    {
        if args.direction == not {
            continue;
        }
        let tree = board.work.tree(id.as_str(), way, args.depth.into());
        if args.direction == Toward::Both {
            lines.push(style.paint(Ink::Dim, name));
        }
        lines.extend(tree::lines(&board, &tree, style));
        let key = if way == Direction::Dependencies { "dependencies" } else { "dependents" };
        value.insert(key.to_owned(), json!(tree));
    }
    context.printer.one(id.to_string(), &lines, &value)?;
    Ok(Exit::Ok)
}

/// Every write refuses cycles, so this looks at all of it once more.
fn cycles(context: &mut Context<'_>) -> Result<Exit> {
    let board = Board::open(context)?;
    let cycles = board.work.cycles();
    if cycles.is_empty() && context.printer.for_people() {
        context.printer.say("there are no cycles");
        return Ok(Exit::Ok);
    }
    let mut rows = Vec::new();
    for cycle in &cycles {
        let path: Vec<String> = cycle.iter().map(ToString::to_string).collect();
        rows.push(Row::new(path.join(" "), vec![Cell::new(path.join(" waits for "), Ink::Bad)], cycle)?);
    }
    context.printer.rows(&["cycle"], &rows)?;
    Ok(if cycles.is_empty() { Exit::Ok } else { Exit::Failed })
}
