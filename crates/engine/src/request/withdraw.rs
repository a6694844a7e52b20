//! Withdraw: a person takes their yes back before the gate opens.

use super::act_on_gate;
use crate::command::{Answer, GateAct};
use crate::desk::Desk;
use edgewise_core::Result;
use edgewise_core::event::Event;

pub(crate) fn withdraw(desk: &mut Desk, act: &GateAct) -> Result<Answer> {
    act_on_gate(desk, act, Event::ApprovalWithdrawn)
}
