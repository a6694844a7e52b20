//! Control in rows: one small row for each flow, schedule and setting, all that loading needs.

use super::{Control, Key};
use crate::error::{Error, Result};
use crate::id::EventId;
use crate::name::Name;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// One flow, schedule or setting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ControlRow {
    /// Which.
    pub key: Key,
    /// All of it, as JSON, only read by the core.
    pub body: String,
}

/// All rows of a workspace's control, read in one snapshot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ControlRows {
    /// The seq of the last event folded into them.
    pub applied_seq: u64,
    /// The id of that event.
    pub version: EventId,
    /// The rows, by their keys.
    pub rows: Vec<ControlRow>,
}

impl Key {
    /// What kind of thing it names, as rows have it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Flow(_) => "flow",
            Self::Schedule(_) => "schedule",
            Self::Setting(_) => "setting",
        }
    }

    /// Its name.
    pub fn name(&self) -> &Name {
        match self {
            Self::Flow(name) | Self::Schedule(name) | Self::Setting(name) => name,
        }
    }

    /// Reads what [`Key::kind`] and [`Key::name`] wrote.
    pub fn parse(kind: &str, name: &str) -> Result<Self> {
        let name = Name::parse(name)?;
        match kind {
            "flow" => Ok(Self::Flow(name)),
            "schedule" => Ok(Self::Schedule(name)),
            "setting" => Ok(Self::Setting(name)),
            _ => Err(Error::corrupt("bad_control_row", format!("{kind:?} is no kind of control row"))),
        }
    }
}

impl Control {
    /// The row of one thing; `None` if it is not there any more.
    pub fn row(&self, key: &Key) -> Option<ControlRow> {
        let body = match key {
            Key::Flow(name) => self.flows.get(name).map(text),
            Key::Schedule(name) => self.schedules.get(name).map(text),
            Key::Setting(name) => self.settings.get(name).map(text),
        };
        body.map(|body| ControlRow { key: key.clone(), body })
    }

    /// The keys of everything that has a row.
    pub fn keys(&self) -> impl Iterator<Item = Key> {
        let flows = self.flows.keys().cloned().map(Key::Flow);
        let schedules = self.schedules.keys().cloned().map(Key::Schedule);
        flows.chain(schedules).chain(self.settings.keys().cloned().map(Key::Setting))
    }

    /// Control just as its rows say it is.
    pub fn from_rows(rows: &ControlRows) -> Result<Self> {
        let mut control = Self { seq: rows.applied_seq, last: rows.version, ..Self::default() };
        for ControlRow { key, body } in &rows.rows {
            match key {
                Key::Flow(name) => drop(control.flows.insert(name.clone(), read(key, body)?)),
                Key::Schedule(name) => drop(control.schedules.insert(name.clone(), read(key, body)?)),
                Key::Setting(name) => drop(control.settings.insert(name.clone(), read(key, body)?)),
            }
        }
        Ok(control)
    }
}

fn text(body: &impl Serialize) -> String {
    // Our own types always have a JSON form.
    serde_json::to_string(body).unwrap_or_default()
}

fn read<T: DeserializeOwned>(key: &Key, body: &str) -> Result<T> {
    serde_json::from_str(body).map_err(|error| {
        let message = format!("the row of {} {} cannot be read: {error}", key.kind(), key.name());
        Error::corrupt("bad_control_row", message)
    })
}
