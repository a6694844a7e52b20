//! Supply: a task is complete with an output that an operator gives in place of its own.

use super::act_on_task;
use crate::command::{Answer, Supply};
use crate::desk::Desk;
use crate::nesting;
use edgewise_core::event::{Event, TaskCompletedManually};
use edgewise_core::{Error, Result, limits};

pub(crate) fn supply(desk: &mut Desk, supply: &Supply) -> Result<Answer> {
    let output = &supply.output;
    if output.get().len() > limits::OUTPUT_BYTES {
        let message =
            format!("the output has {} bytes, at most {} are allowed", output.get().len(), limits::OUTPUT_BYTES);
        return Err(Error::limit("output_too_large", message));
    }
    nesting::check_text("the output", output.get())?;
    let event = |act| Event::TaskCompletedManually(TaskCompletedManually { act, output: output.clone() });
    act_on_task(desk, &supply.act, event)
}
