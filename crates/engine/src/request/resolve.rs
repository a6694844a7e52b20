//! Resolve: a task is declared dealt with, without output. Whoever reads it gets null.

use super::act_on_task;
use crate::command::{Answer, TaskAct};
use crate::desk::Desk;
use edgewise_core::Result;
use edgewise_core::event::Event;

pub(crate) fn resolve(desk: &mut Desk, act: &TaskAct) -> Result<Answer> {
    act_on_task(desk, act, Event::TaskResolvedManually)
}
