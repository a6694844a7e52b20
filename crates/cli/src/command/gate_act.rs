//! `edgewise gate approve`, `withdraw`, `reject`, `satisfy`: what people answer to a gate, of a run or of items.

use super::Context;
use super::act::{self, Act, Moves};
use crate::args::{self, gate_of_run};
use crate::exit::Exit;
use crate::problem::Result;
use edgewise_core::id::RunId;
use edgewise_core::name::Name;
use edgewise_core::work::{self, Op};
use edgewise_engine::command::{GateAct, Satisfy};
use edgewise_engine::folder::Ask;
use serde_json::value::RawValue;

/// Says yes.
pub(super) fn approve(args: &args::GateAct, context: &mut Context<'_>) -> Result<Exit> {
    answer(args, (Ask::Approve, Op::Approve, Moves::Run), ("approved", "was approved by you already"), context)
}

/// Takes a yes back.
pub(super) fn withdraw(args: &args::GateAct, context: &mut Context<'_>) -> Result<Exit> {
    answer(
        args,
        (Ask::Withdraw, Op::Withdraw, Moves::Nothing),
        ("withdrew your approval of", "was not approved by you"),
        context,
    )
}

/// Says no.
pub(super) fn reject(args: &args::GateAct, context: &mut Context<'_>) -> Result<Exit> {
    answer(args, (Ask::Reject, Op::Reject, Moves::Run), ("rejected", "was rejected already"), context)
}

/// Opens what waits for something outside.
pub(super) fn satisfy(args: &args::GateOpen, context: &mut Context<'_>) -> Result<Exit> {
    let Some((run, task)) = gate_of_run(&args.what, args.task.as_ref())? else {
        return super::work::gate_satisfy(args, context);
    };
    let output = args.with.as_ref().and_then(|value| RawValue::from_string(value.to_string()).ok());
    let ask = |run: RunId, by: Name| {
        let act = GateAct { run, task: task.clone(), by, comment: args.comment.clone() };
        Ask::Satisfy(Satisfy { act, generation: None, delivery: None, output: output.clone() })
    };
    let act = Act { ask: &ask, done: "opened", already: "was open already", task: Some(&task), moves: Moves::Run };
    act::perform(&run, &act, context)
}

/// What is asked about a gate of a run, and about one of items; and what can go on because of it.
type Words = (fn(GateAct) -> Ask, fn(work::Act) -> Op, Moves);

fn answer(
    args: &args::GateAct,
    (ask, op, moves): Words,
    (done, already): (&str, &str),
    context: &mut Context<'_>,
) -> Result<Exit> {
    let Some((run, task)) = gate_of_run(&args.what, args.task.as_ref())? else {
        return super::work::gate_act(args, op, context);
    };
    let ask = |run: RunId, by: Name| ask(GateAct { run, task: task.clone(), by, comment: args.comment.clone() });
    let act = Act { ask: &ask, done, already, task: Some(&task), moves };
    act::perform(&run, &act, context)
}
