//! Cancel a task: what follows is cancelled too unless it accepts that; the rest of the run goes on.

use super::act_on_task;
use crate::command::{Answer, TaskAct};
use crate::desk::Desk;
use edgewise_core::Result;
use edgewise_core::event::Event;

pub(crate) fn cancel_task(desk: &mut Desk, act: &TaskAct) -> Result<Answer> {
    act_on_task(desk, act, Event::TaskCancelRequested)
}
