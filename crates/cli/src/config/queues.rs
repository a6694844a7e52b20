//! Queues in a settings file: `[queues.NAME]` with `slots`, `rate` and `paused`.

use super::{Origin, Problem, Result, Setting};
use edgewise_core::name::Name;
use edgewise_core::rate::Rate;
use edgewise_core::{Kind, limits};
use edgewise_engine::queues::{QueueSettings, Queues};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The tables as they are written.
pub(super) type Tables = BTreeMap<Name, Table>;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    slots: Option<u32>,
    rate: Option<Rate>,
    #[serde(default)]
    paused: bool,
}

pub(super) fn read(tables: Option<Setting<Tables>>) -> Result<Setting<Queues>> {
    let Some(Setting { value, origin }) = tables else {
        return Ok(Setting { value: Queues::new(), origin: Origin::Default });
    };
    let mut queues = Queues::new();
    for (name, Table { slots, rate, paused }) in value {
        if slots.is_some_and(|slots| !(1..=limits::SLOTS).contains(&slots)) {
            let most = limits::SLOTS;
            let what = format!("`slots` of the queue `{name}` from {origin} is not a number from 1 to {most}");
            return Err(
                Problem::new(Kind::Invalid, "bad_setting", what).next("to let nothing begin, write paused = true")
            );
        }
        queues.insert(name, QueueSettings { slots, rate, paused });
    }
    Ok(Setting { value: queues, origin })
}
