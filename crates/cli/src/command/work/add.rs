//! `edgewise add`: a new item, or the items of a flow.

use super::import::counted;
use super::{act, template, unknown};
use crate::args;
use crate::command::Context;
use crate::exit::Exit;
use crate::flow_file::FlowFile;
use crate::output::Row;
use crate::problem::Result;
use crate::table::Cell;
use edgewise_core::work::{Add, Depend, DependencyKind, Details, Done, ItemKind, Op, Phase, When};
use edgewise_engine::engine::wall_clock;
use std::path::Path;

/// What a new item is called behind it in the same commit.
const NEW: &str = "new";

pub(crate) fn perform(args: &args::Add, context: &mut Context<'_>) -> Result<Exit> {
    let add = asked(args, context)?;
    if let Some(file) = &args.template {
        return of_flow(file, add, args, context);
    }
    let mut ops = vec![Op::Add(Box::new(Add { name: Some(NEW.to_owned()), ..add }))];
    ops.extend(waiters(args, NEW, context)?);
    let done = act::perform(&ops, context)?;
    act::touched(&done, context);
    Ok(Exit::Ok)
}

/// Those that wait for what is new.
fn waiters(args: &args::Add, name: &str, context: &Context<'_>) -> Result<Vec<Op>> {
    let wait = |id: &String| {
        let (kind, when, on) = (Some(DependencyKind::Blocks), When::Success, Some(format!("${name}")));
        let id = act::typed(id, context)?;
        Ok(Op::Depend(Box::new(Depend { id, on, kind, when, gate: None, metadata: None })))
    };
    args.blocks.iter().map(wait).collect()
}

fn asked(args: &args::Add, context: &Context<'_>) -> Result<Add> {
    let now = wall_clock();
    let typed = |text: &String| act::typed(text, context);
    let kind = args.kind.map(ItemKind::from).unwrap_or_default();
    let phase = match (kind, args.draft) {
        (_, true) => Some(Phase::Draft),
        // An instance is pending until something in it is begun.
        (ItemKind::Plan, false) => Some(Phase::Active),
        _ => None,
    };
    Ok(Add {
        title: args.title.clone().unwrap_or_default(),
        id: args.id.clone(),
        kind: if args.draft { ItemKind::Plan } else { kind },
        phase,
        priority: args.priority,
        task_type: args.task_type.map(Into::into).unwrap_or_default(),
        assignee: args.assignee.clone(),
        owner: args.owner.clone(),
        tags: args.tag.iter().cloned().collect(),
        deadline: args.deadline.map(|at| at.instant(now)),
        scheduled_for: args.scheduled_for.map(|at| at.instant(now)),
        external_ref: args.external_ref.clone(),
        auto_complete: args.auto_complete,
        ephemeral: args.ephemeral,
        details: Details {
            description: act::words(args.description.as_ref())?.unwrap_or_default(),
            acceptance: args.acceptance.clone().unwrap_or_default(),
            metadata: args.metadata.iter().map(|one| (one.name.to_string(), one.value.clone())).collect(),
        },
        parent: args.parent.as_ref().map(typed).transpose()?,
        needs: args.needs.iter().map(typed).collect::<Result<_>>()?,
        replies_to: args.replies_to.as_ref().map(typed).transpose()?,
        ..Add::default()
    })
}

/// An item for each task of a flow.
fn of_flow(file: &Path, root: Add, args: &args::Add, context: &mut Context<'_>) -> Result<Exit> {
    let compiled = FlowFile::typed(file, context.cwd).one("makes no items: it is no valid flow")?;
    let mut ops = template::ops(&compiled.plan, root)?;
    let made = |op: &Op| matches!(op, Op::Add(_) | Op::MakeGate { .. });
    let (items, gates) = ops.iter().fold((0, 0), |(items, gates), op| match op {
        Op::Add(_) => (items + 1, gates),
        Op::MakeGate { .. } => (items, gates + 1),
        _ => (items, gates),
    });
    ops.extend(waiters(args, template::ROOT, context)?);
    let done = act::act(&ops, None, context)?;
    let Some(root) = done.first().and_then(|done| done.id.clone()) else { return Ok(Exit::Ok) };
    act::touched(&done, context);
    let warnings = unknown::warnings(&ops, &done, context);
    if context.printer.for_people() {
        let with = if gates == 0 { String::new() } else { format!(" and {}", counted(gates, "gate", "gates")) };
        let items = counted(items - 1, "item", "items");
        let line = format!("added {root}: {items}{with} from {}", file.display());
        context.printer.raw(&crate::text::escape(&line))?;
        let ephemeral = if args.ephemeral.is_some() { " --ephemeral" } else { "" };
        context.printer.say(&format!(
            "`edgewise dep tree {root}` shows them, `edgewise ready --plan {root}{ephemeral}` what can begin"
        ));
    } else {
        let row = |((op, one), warnings): ((&Op, &Done), &Vec<String>)| {
            let id = one.id.as_ref().filter(|_| made(op))?;
            Row::new(id.to_string(), vec![Cell::from(id.as_str())], &act::value(op, one, warnings).ok()?).ok()
        };
        let rows: Vec<Row> = ops.iter().zip(&done).zip(&warnings).filter_map(row).collect();
        context.printer.rows(&["id"], &rows)?;
    }
    warnings.iter().flatten().for_each(|warning| context.printer.say(warning));
    Ok(Exit::Ok)
}
