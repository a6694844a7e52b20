//! `edgewise give-up`: the failures that a run holds stand, and what waits for them is decided.

use super::Context;
use super::act::{self, Act, Moves, Reach};
use crate::args::GiveUp;
use crate::exit::Exit;
use crate::problem::Result;
use edgewise_engine::command::RunAct;
use edgewise_engine::folder::Ask;

pub(super) fn perform(args: &GiveUp, context: &mut Context<'_>) -> Result<Exit> {
    let ask = |run, by| Ask::GiveUp(RunAct { run, by, why: args.why.clone() });
    let act = Act { ask: &ask, done: "gave up", already: "was given up already", task: None, moves: Moves::Run };
    act::perform_on(&args.which, &act, Reach::Open, context)
}
