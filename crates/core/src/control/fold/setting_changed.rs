//! `SettingChanged`: a setting was changed or taken away.

use crate::control::{Control, Key, Setting, SettingChanged};
use crate::fold::{Ignored, Stamp};
use std::collections::BTreeSet;

pub(super) fn check(control: &Control, event: &SettingChanged) -> Result<(), Ignored> {
    match (control.settings.get(&event.key), &event.value) {
        (None, None) => Err(Ignored::Unknown),
        (Some(known), Some(value)) if known.value == *value => Err(Ignored::Duplicate),
        _ => Ok(()),
    }
}

pub(super) fn apply(control: &mut Control, stamp: Stamp, event: &SettingChanged, changed: &mut BTreeSet<Key>) {
    changed.insert(Key::Setting(event.key.clone()));
    match &event.value {
        Some(value) => {
            let (value, by, why) = (value.clone(), event.by.clone(), event.why.clone());
            control.settings.insert(event.key.clone(), Setting { value, by, at: stamp.at, why });
        }
        None => drop(control.settings.remove(&event.key)),
    }
}
