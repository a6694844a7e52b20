//! `edgewise resume`: a paused run goes on.

use super::Context;
use super::act::{self, Act, Moves, Reach};
use crate::args::Resume;
use crate::exit::Exit;
use crate::problem::Result;
use edgewise_engine::command::RunAct;
use edgewise_engine::folder::Ask;

pub(super) fn perform(args: &Resume, context: &mut Context<'_>) -> Result<Exit> {
    let ask = |run, by| Ask::Resume(RunAct { run, by, why: args.why.clone() });
    let act = Act { ask: &ask, done: "resumed", already: "was not paused", task: None, moves: Moves::Run };
    act::perform_on(&args.which, &act, Reach::Open, context)
}
