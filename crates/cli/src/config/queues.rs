//! Queues in a settings file: `[queues.NAME]` with `slots`, `rate` and `paused`.

use super::{Origin, Setting};
use edgewise_core::limits;
use edgewise_core::name::Name;
use edgewise_core::rate::Rate;
use edgewise_engine::queues::{QueueSettings, Queues};
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;

/// The tables as they are written.
pub(super) type Tables = BTreeMap<Name, Table>;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    #[serde(default, deserialize_with = "slots")]
    slots: Option<u32>,
    rate: Option<Rate>,
    #[serde(default)]
    paused: bool,
}

fn slots<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
    let slots = u32::deserialize(from)?;
    if (1..=limits::SLOTS).contains(&slots) {
        return Ok(Some(slots));
    }
    let most = limits::SLOTS;
    Err(D::Error::custom(format!("expected a number from 1 to {most}; to let nothing begin, write paused = true")))
}

pub(super) fn read(tables: Option<Setting<Tables>>) -> Setting<Queues> {
    let Some(Setting { value, origin }) = tables else {
        return Setting { value: Queues::new(), origin: Origin::Default };
    };
    let set = |(name, Table { slots, rate, paused })| (name, QueueSettings { slots, rate, paused });
    Setting { value: value.into_iter().map(set).collect(), origin }
}
