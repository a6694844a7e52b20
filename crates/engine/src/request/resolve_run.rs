//! Resolve a run: it is declared dealt with; what is open in it is cancelled.

use super::act_on_run;
use crate::command::{Answer, RunAct};
use crate::desk::Desk;
use edgewise_core::Result;
use edgewise_core::event::Event;

pub(crate) fn resolve_run(desk: &mut Desk, act: &RunAct) -> Result<Answer> {
    act_on_run(desk, act, Event::RunResolvedManually)
}
