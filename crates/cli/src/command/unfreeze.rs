//! `edgewise unfreeze`: a frozen run goes on, unless it is damaged.

use super::Context;
use super::act::{self, Act, Moves, Reach};
use crate::args::Unfreeze;
use crate::exit::Exit;
use crate::problem::Result;
use edgewise_engine::command::RunAct;
use edgewise_engine::folder::Ask;

pub(super) fn perform(args: &Unfreeze, context: &mut Context<'_>) -> Result<Exit> {
    let ask = |run, by| Ask::Unfreeze(RunAct { run, by, why: args.why.clone() });
    let act = Act { ask: &ask, done: "unfroze", already: "was not frozen", task: None, moves: Moves::Run };
    act::perform_on(&args.which, &act, Reach::Any, context)
}
