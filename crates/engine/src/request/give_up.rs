//! Give up: the failures that a run holds stand, and what waited for them is decided.

use super::act_on_run;
use crate::command::{Answer, RunAct};
use crate::desk::Desk;
use edgewise_core::Result;
use edgewise_core::event::Event;

pub(crate) fn give_up(desk: &mut Desk, act: &RunAct) -> Result<Answer> {
    act_on_run(desk, act, Event::RunGivenUp)
}
