//! Skip: a task is left out; what follows is skipped too unless it accepts that.

use super::act_on_task;
use crate::command::{Answer, TaskAct};
use crate::desk::Desk;
use edgewise_core::Result;
use edgewise_core::event::Event;

pub(crate) fn skip(desk: &mut Desk, act: &TaskAct) -> Result<Answer> {
    act_on_task(desk, act, Event::TaskSkipRequested)
}
