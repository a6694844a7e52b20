//! `edgewise gate approve`, `withdraw`, `reject`: what people answer to a gate, of a run or of items.

use super::Context;
use super::act::{self, Act};
use crate::args::{self, Meant, RunRef};
use crate::exit::Exit;
use crate::problem::Result;
use edgewise_core::id::RunId;
use edgewise_core::name::Name;
use edgewise_core::work::{self, Op};
use edgewise_engine::command::GateAct;
use edgewise_engine::folder::Ask;

/// Says yes.
pub(super) fn approve(args: &args::GateAct, context: &mut Context<'_>) -> Result<Exit> {
    answer(args, (Ask::Approve, Op::Approve), ("approved", "was approved by you already"), context)
}

/// Takes a yes back.
pub(super) fn withdraw(args: &args::GateAct, context: &mut Context<'_>) -> Result<Exit> {
    answer(args, (Ask::Withdraw, Op::Withdraw), ("withdrew your approval of", "was not approved by you"), context)
}

/// Says no.
pub(super) fn reject(args: &args::GateAct, context: &mut Context<'_>) -> Result<Exit> {
    answer(args, (Ask::Reject, Op::Reject), ("rejected", "was rejected already"), context)
}

/// What is asked about a gate of a run, and about one of items.
type Words = (fn(GateAct) -> Ask, fn(work::Act) -> Op);

fn answer(
    args: &args::GateAct,
    (ask, op): Words,
    (done, already): (&str, &str),
    context: &mut Context<'_>,
) -> Result<Exit> {
    let (run, task) = match (&args.what, &args.task) {
        (Meant::Task(run, task), None) => (run.clone(), task.clone()),
        (what, Some(task)) => (RunRef::parse(&what.to_string())?, task.clone()),
        (_, None) => return super::work::gate_act(args, op, context),
    };
    let ask = |run: RunId, by: Name| ask(GateAct { run, task: task.clone(), by, comment: args.comment.clone() });
    let act = Act { ask: &ask, done, already, task: Some(&task), moves: true };
    act::perform(&run, &act, context)
}
