//! Set queue: slots, a rate, a pause. Holds from this commit on; what is at work goes on.

use crate::command::Answer;
use crate::desk::Desk;
use crate::queues::QueueSettings;
use edgewise_core::name::Name;
use edgewise_core::{Error, Result, limits};

pub(crate) fn set_queue(desk: &mut Desk, name: &Name, set: QueueSettings) -> Result<Answer> {
    if set.slots.is_some_and(|slots| !(1..=limits::SLOTS).contains(&slots)) {
        let message = format!("a queue has 1 to {} slots; pause it to let nothing begin", limits::SLOTS);
        return Err(Error::invalid("bad_slots", message));
    }
    desk.set_queue(name, set);
    Ok(Answer::Done)
}
