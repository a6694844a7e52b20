//! `edgewise pause`: what runs may finish, nothing new starts.

use super::Context;
use super::act::{self, Act, Moves, Reach};
use crate::args::Pause;
use crate::exit::Exit;
use crate::problem::Result;
use edgewise_engine::command::RunAct;
use edgewise_engine::folder::Ask;

pub(super) fn perform(args: &Pause, context: &mut Context<'_>) -> Result<Exit> {
    let ask = |run, by| Ask::Pause(RunAct { run, by, why: args.why.clone() });
    let act = Act { ask: &ask, done: "paused", already: "was paused already", task: None, moves: Moves::Nothing };
    act::perform_on(&args.which, &act, Reach::Open, context)
}
