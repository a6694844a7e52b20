//! `edgewise cancel`: nothing of a run starts any more, and what runs is told to stop.

use super::Context;
use super::act::{self, Act, Moves, Reach};
use crate::args::Cancel;
use crate::exit::Exit;
use crate::problem::Result;
use edgewise_engine::command::RunAct;
use edgewise_engine::folder::Ask;

pub(super) fn perform(args: &Cancel, context: &mut Context<'_>) -> Result<Exit> {
    let ask = |run, by| Ask::Cancel(RunAct { run, by, why: args.why.clone() });
    let act = Act { ask: &ask, done: "cancelled", already: "was cancelled already", task: None, moves: Moves::Parent };
    act::perform_on(&args.which, &act, Reach::Open, context)
}
