//! Set queue: slots, a rate, a pause. Holds from this commit on, for every engine; what is at work goes on.

use crate::command::{Answer, SetQueue};
use crate::desk::Desk;
use crate::queues::{QueueSettings, key_of};
use edgewise_core::control::{ControlEvent, SettingChanged};
use edgewise_core::{Error, Result, limits};
use serde_json::json;

pub(crate) fn set_queue(desk: &mut Desk, asked: &SetQueue) -> Result<Answer> {
    super::check_text(asked.why.as_deref())?;
    let key = key_of(&asked.queue)?;
    let known = desk.newest_control()?.settings.contains_key(&key);
    let was = desk.queue(&asked.queue);
    let value = match asked.change.map(|change| change.of(was)) {
        Some(is) if is == was => return Ok(Answer::Already),
        Some(is) => Some(json!(checked(is)?)),
        None if known => None,
        None => return Ok(Answer::Already),
    };
    let change = SettingChanged { key, value, by: asked.by.clone(), why: asked.why.clone() };
    super::answer(desk.record_control(ControlEvent::SettingChanged(change)), || format!("queue {}", asked.queue))
}

fn checked(set: QueueSettings) -> Result<QueueSettings> {
    if set.slots.is_some_and(|slots| !(1..=limits::SLOTS).contains(&slots)) {
        let message = format!("a queue has 1 to {} slots; pause it to let nothing begin", limits::SLOTS);
        return Err(Error::invalid("bad_slots", message));
    }
    Ok(set)
}
