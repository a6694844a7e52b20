//! `edgewise resolve`: a run is declared dealt with; what is open in it is cancelled.

use super::Context;
use super::act::{self, Act, Moves, Reach};
use crate::args::Resolve;
use crate::exit::Exit;
use crate::problem::Result;
use edgewise_engine::command::RunAct;
use edgewise_engine::folder::Ask;

pub(super) fn perform(args: &Resolve, context: &mut Context<'_>) -> Result<Exit> {
    let ask = |run, by| Ask::ResolveRun(RunAct { run, by, why: args.why.clone() });
    let act = Act { ask: &ask, done: "resolved", already: "was resolved already", task: None, moves: Moves::Parent };
    act::perform_on(&args.which, &act, Reach::Any, context)
}
