//! Pause: no new leases for now; what runs goes on.

use super::act_on_run;
use crate::command::{Answer, RunAct};
use crate::desk::Desk;
use edgewise_core::Result;
use edgewise_core::event::Event;

pub(crate) fn pause(desk: &mut Desk, act: &RunAct) -> Result<Answer> {
    act_on_run(desk, act, Event::RunPauseRequested)
}
