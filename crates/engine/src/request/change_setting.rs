//! Change a setting of the workspace, or take it away.

use crate::command::Answer;
use crate::desk::Desk;
use edgewise_core::control::{ControlEvent, HOOK_SECRET, SettingChanged, TOKEN};
use edgewise_core::{Error, Result, limits};

pub(crate) fn change_setting(desk: &mut Desk, change: &SettingChanged) -> Result<Answer> {
    let bytes = change.value.as_ref().map_or(0, |value| value.to_string().len());
    if bytes > limits::SETTING_BYTES {
        let message = format!("a setting has at most {} bytes, this one has {bytes}", limits::SETTING_BYTES);
        return Err(Error::limit("setting_too_large", message));
    }
    let settings = &desk.newest_control()?.settings;
    if let (Some(known), Some(value)) = (settings.get(&change.key), &change.value) {
        if change.key.as_str() == HOOK_SECRET {
            return Ok(Answer::Already);
        }
        // The same one again is somebody's whose answer was lost.
        if let Some(name) = change.key.strip_prefix(TOKEN).filter(|_| known.value != *value) {
            let message = format!("{name} has a token already: revoke it first, or choose another name");
            return Err(Error::conflict("token_exists", message));
        }
    }
    let verdict = desk.record_control(ControlEvent::SettingChanged(change.clone()));
    super::answer(verdict, || format!("setting {}", change.key))
}
