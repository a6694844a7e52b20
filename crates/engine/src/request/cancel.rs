//! Cancel: nothing of the run may start any more, from this commit on.

use super::act_on_run;
use crate::command::{Answer, RunAct};
use crate::desk::Desk;
use edgewise_core::Result;
use edgewise_core::event::Event;

pub(crate) fn cancel(desk: &mut Desk, act: &RunAct) -> Result<Answer> {
    act_on_run(desk, act, Event::RunCancelRequested)
}
