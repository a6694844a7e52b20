//! `edgewise gate approve`, `withdraw`, `reject`: what people answer to a gate.

use super::Context;
use super::act::{self, Act};
use crate::args;
use crate::exit::Exit;
use crate::problem::Result;
use edgewise_core::id::RunId;
use edgewise_core::name::Name;
use edgewise_engine::command::GateAct;
use edgewise_engine::folder::Ask;

/// Says yes.
pub(super) fn approve(args: &args::GateAct, context: &mut Context<'_>) -> Result<Exit> {
    answer(args, Ask::Approve, ("approved", "was approved by you already"), context)
}

/// Takes a yes back.
pub(super) fn withdraw(args: &args::GateAct, context: &mut Context<'_>) -> Result<Exit> {
    answer(args, Ask::Withdraw, ("withdrew your approval of", "was not approved by you"), context)
}

/// Says no.
pub(super) fn reject(args: &args::GateAct, context: &mut Context<'_>) -> Result<Exit> {
    answer(args, Ask::Reject, ("rejected", "was rejected already"), context)
}

fn answer(
    args: &args::GateAct,
    ask: fn(GateAct) -> Ask,
    (done, already): (&str, &str),
    context: &mut Context<'_>,
) -> Result<Exit> {
    let ask = |run: RunId, by: Name| ask(GateAct { run, task: args.task.clone(), by, comment: args.comment.clone() });
    let act = Act { ask: &ask, done, already, task: Some(&args.task), moves: true };
    act::perform(&args.run, &act, context)
}
