//! `edgewise freeze`: nothing but reading works on a run until it is unfrozen.

use super::Context;
use super::act::{self, Act, Moves, Reach};
use crate::args::Freeze;
use crate::exit::Exit;
use crate::problem::Result;
use edgewise_engine::command::RunAct;
use edgewise_engine::folder::Ask;

pub(super) fn perform(args: &Freeze, context: &mut Context<'_>) -> Result<Exit> {
    let ask = |run, by| Ask::Freeze(RunAct { run, by, why: args.why.clone() });
    let act = Act { ask: &ask, done: "froze", already: "was frozen already", task: None, moves: Moves::Nothing };
    act::perform_on(&args.which, &act, Reach::Any, context)
}
