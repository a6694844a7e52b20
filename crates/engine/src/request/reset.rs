//! Reset: a failed task gets new attempts, in its next generation.

use super::act_on_task;
use crate::command::{Answer, TaskAct};
use crate::desk::Desk;
use edgewise_core::Result;
use edgewise_core::event::Event;

pub(crate) fn reset(desk: &mut Desk, act: &TaskAct) -> Result<Answer> {
    act_on_task(desk, act, Event::TaskResetForRetry)
}
