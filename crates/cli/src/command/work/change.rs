//! `edgewise update`, `close`, `reopen`, `delete`: several items at once are one commit.

use super::act;
use crate::args;
use crate::command::Context;
use crate::exit::Exit;
use crate::problem::{Problem, Result};
use edgewise_core::Kind;
use edgewise_core::work::{Act, Change, Close, CloseOp, Op, ReopenOp};
use edgewise_engine::engine::wall_clock;

/// Changes items.
pub(crate) fn update(args: &args::Update, context: &mut Context<'_>) -> Result<Exit> {
    let change = change(args)?;
    let parent = args.parent.as_ref().map(|id| act::typed(id, context)).transpose()?;
    let moves = parent.is_some() || args.no_parent;
    if change == Change::default() && !moves {
        return Err(Problem::new(Kind::Invalid, "nothing_to_change", "nothing was said that could be different")
            .next("see `edgewise update --help`"));
    }
    let mut ops = Vec::new();
    for id in &args.ids {
        let id = act::typed(id, context)?;
        if change != Change::default() {
            ops.push(Op::Update { id: id.clone(), change: Box::new(change.clone()) });
        }
        if moves {
            ops.push(Op::Move { id, parent: parent.clone() });
        }
    }
    act::perform(&ops, context)?;
    Ok(Exit::Ok)
}

fn change(args: &args::Update) -> Result<Change> {
    let now = wall_clock();
    let or_none = |given: Option<edgewise_core::time::Time>, none: bool| given.map(Some).or(none.then_some(None));
    Ok(Change {
        title: args.title.clone(),
        priority: args.priority,
        task_type: args.task_type.map(Into::into),
        status: args.status.map(Into::into),
        phase: args.phase.map(Into::into),
        assignee: args.assignee.clone().map(Some).or(args.unassign.then_some(None)),
        owner: args.owner.clone().map(Some).or(args.no_owner.then_some(None)),
        tag: args.tag.iter().cloned().collect(),
        untag: args.untag.iter().cloned().collect(),
        deadline: or_none(args.deadline.map(|at| at.instant(now)), args.no_deadline),
        scheduled_for: or_none(args.scheduled_for.map(|at| at.instant(now)), args.no_schedule),
        external_ref: args.external_ref.clone().map(Some),
        auto_complete: args.auto_complete,
        description: act::words(args.description.as_ref())?,
        acceptance: args.acceptance.clone(),
        metadata: args.metadata.iter().map(|one| (one.name.to_string(), one.value.clone())).collect(),
    })
}

/// Closes items, and takes the next one if that is asked for.
pub(crate) fn close(args: &args::Close, context: &mut Context<'_>) -> Result<Exit> {
    let how = match (args.failed, args.cancelled) {
        (true, _) => Close::Failed,
        (_, true) => Close::Cancelled,
        _ => Close::Done,
    };
    let mut ops = Vec::new();
    for id in &args.ids {
        let (id, why) = (act::typed(id, context)?, args.reason.clone());
        ops.push(Op::Close(CloseOp { id, how, force: args.force, token: args.token, why }));
    }
    if args.claim_next {
        let mut filter = args.filters.filter(wall_clock());
        filter.parent = filter.parent.map(|id| act::typed(&id, context)).transpose()?;
        filter.plan = filter.plan.map(|id| act::typed(&id, context)).transpose()?;
        ops.push(Op::ClaimNext { filter: Box::new(filter), lease: args.lease });
    }
    act::perform(&ops, context)?;
    Ok(Exit::Ok)
}

/// Opens closed items again.
pub(crate) fn reopen(args: &args::Reopen, context: &mut Context<'_>) -> Result<Exit> {
    let (force, why) = (args.force, &args.reason);
    let op = |id: &String| Ok(Op::Reopen(ReopenOp { id: act::typed(id, context)?, force, why: why.clone() }));
    let ops = args.ids.iter().map(op).collect::<Result<Vec<_>>>()?;
    act::perform(&ops, context)?;
    Ok(Exit::Ok)
}

/// Takes items away.
pub(crate) fn delete(args: &args::Delete, context: &mut Context<'_>) -> Result<Exit> {
    each(&args.ids, args.reason.as_ref(), Op::Delete, context)
}

fn each(ids: &[String], why: Option<&String>, op: fn(Act) -> Op, context: &mut Context<'_>) -> Result<Exit> {
    let ops = ids.iter().map(|id| Ok(op(Act { id: act::typed(id, context)?, why: why.cloned() })));
    let ops = ops.collect::<Result<Vec<_>>>()?;
    act::perform(&ops, context)?;
    Ok(Exit::Ok)
}
