//! Satisfy: what a gate waits for outside is so. Whoever called an address means the generation it was made for; whoever
//! else says so means the gate that waits now.

use super::{answer, check_text, decide_on_gate};
use crate::command::{Answer, Satisfy};
use crate::desk::Desk;
use crate::nesting;
use edgewise_core::event::{Event, GateSatisfied};
use edgewise_core::{Error, Result, limits};

pub(crate) fn satisfy(desk: &mut Desk, asked: &Satisfy) -> Result<Answer> {
    let Satisfy { act, generation, delivery, output } = asked;
    check_text(act.comment.as_deref())?;
    check_text(delivery.as_deref())?;
    if let Some(output) = output.as_ref().filter(|output| output.get().len() > limits::OUTPUT_BYTES) {
        let message =
            format!("what came has {} bytes, at most {} are allowed", output.get().len(), limits::OUTPUT_BYTES);
        return Err(Error::limit("output_too_large", message));
    }
    output.iter().try_for_each(|output| nesting::check_text("what came", output.get()))?;
    let event = |(task, now)| {
        Event::GateSatisfied(GateSatisfied {
            task,
            generation: generation.unwrap_or(now),
            by: act.by.clone(),
            comment: act.comment.clone(),
            delivery: delivery.clone(),
            output: output.clone(),
        })
    };
    answer(decide_on_gate(desk, act, event)?, || format!("gate `{}` of run {}", act.task, act.run))
}
