//! Change a setting of the workspace, or take it away.

use crate::command::Answer;
use crate::desk::Desk;
use edgewise_core::control::{ControlEvent, HOOK_SECRET, SettingChanged};
use edgewise_core::{Error, Result, limits};

pub(crate) fn change_setting(desk: &mut Desk, change: &SettingChanged) -> Result<Answer> {
    let bytes = change.value.as_ref().map_or(0, |value| value.to_string().len());
    if bytes > limits::SETTING_BYTES {
        let message = format!("a setting has at most {} bytes, this one has {bytes}", limits::SETTING_BYTES);
        return Err(Error::limit("setting_too_large", message));
    }
    let known = desk.newest_control()?.settings.contains_key(&change.key);
    if known && change.key.as_str() == HOOK_SECRET && change.value.is_some() {
        return Ok(Answer::Already);
    }
    let verdict = desk.record_control(ControlEvent::SettingChanged(change.clone()));
    super::answer(verdict, || format!("setting {}", change.key))
}
