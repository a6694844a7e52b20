//! `edgewise task reset`, `skip`, `cancel`, `resolve`, `complete`: what an operator does to one task.

use super::Context;
use super::act::{self, Act, Moves};
use crate::args;
use crate::exit::Exit;
use crate::problem::Result;
use edgewise_core::id::RunId;
use edgewise_core::name::Name;
use edgewise_engine::command::{Supply, TaskAct};
use edgewise_engine::folder::Ask;

/// Gives a failed task new attempts.
pub(super) fn reset(args: &args::TaskAct, context: &mut Context<'_>) -> Result<Exit> {
    perform(args, &Ask::Reset, ("reset", "was reset already"), context)
}

/// Leaves a task out.
pub(super) fn skip(args: &args::TaskAct, context: &mut Context<'_>) -> Result<Exit> {
    perform(args, &Ask::Skip, ("skipped", "was skipped already"), context)
}

/// Cancels a task.
pub(super) fn cancel(args: &args::TaskAct, context: &mut Context<'_>) -> Result<Exit> {
    perform(args, &Ask::CancelTask, ("cancelled", "was cancelled already"), context)
}

/// Declares a task dealt with, without output.
pub(super) fn resolve(args: &args::TaskAct, context: &mut Context<'_>) -> Result<Exit> {
    perform(args, &Ask::Resolve, ("resolved", "was resolved already"), context)
}

/// Declares a task complete, with an output.
pub(super) fn complete(args: &args::TaskComplete, context: &mut Context<'_>) -> Result<Exit> {
    let ask = |act| Ask::Supply(Supply { act, output: args.with.clone() });
    perform(&args.act, &ask, ("completed", "was completed already"), context)
}

fn perform(
    args: &args::TaskAct,
    ask: &dyn Fn(TaskAct) -> Ask,
    (done, already): (&str, &str),
    context: &mut Context<'_>,
) -> Result<Exit> {
    let ask = |run: RunId, by: Name| ask(TaskAct { run, task: args.task.clone(), by, why: args.why.clone() });
    let act = Act { ask: &ask, done, already, task: Some(&args.task), moves: Moves::Run };
    act::perform(&args.run, &act, context)
}
