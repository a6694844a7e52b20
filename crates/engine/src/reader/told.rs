//! The events of a whole workspace, in the order of its ledger. What an event of a run means is told by that run; here
//! it is told that it happened.

use super::Reader;
use crate::facts::rfc3339;
use edgewise_core::id::{EventId, RunId};
use edgewise_core::time::Time;
use edgewise_core::{Error, Result};
use edgewise_store::{Position, Stored};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An event, and where in the ledger it stands.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Told {
    /// The place of its record in the order over all streams.
    pub position: u64,
    /// Its place in the record, from 0.
    pub place: u32,
    /// `run/…`, `work` or `control`.
    pub stream: String,
    /// Which run, where it is one of a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// Its place in its stream.
    pub seq: u64,
    /// Its id.
    pub event_id: EventId,
    /// When it was committed.
    pub time: Option<String>,
    /// What happened.
    #[serde(rename = "type")]
    pub kind: String,
    /// Which engine wrote it.
    pub source: String,
    /// What it says, as it is kept.
    pub payload: Value,
}

/// A record as it is kept, whatever stream it is of.
#[derive(Deserialize)]
struct Kept {
    id: EventId,
    at: Time,
    by: String,
    e: Vec<Value>,
}

impl Reader {
    /// The events of the records after a position, and the position that was looked at last; the same one if there is
    /// nothing more. Of settings it is not told what they are: some are secrets.
    pub fn told(&mut self, after: Position, records: usize) -> Result<(Vec<Told>, Position)> {
        let page = self.ledger.read_all(after, records)?;
        let last = page.last().map_or(after, |stored| stored.position);
        let mut all = Vec::new();
        for stored in page {
            if stored.stream.tenant == self.home.tenant && stored.stream.workspace == self.home.workspace {
                events(&stored, &mut all)?;
            }
        }
        Ok((all, last))
    }

    /// Where the ledger ends.
    pub fn tail(&mut self) -> Result<Position> {
        self.ledger.tail()
    }
}

fn events(stored: &Stored, all: &mut Vec<Told>) -> Result<()> {
    stored.record.verify(&stored.stream.label())?;
    let kept: Kept = serde_json::from_slice(&stored.record.bytes).map_err(|error| {
        Error::corrupt("bad_record", format!("the record at {} cannot be read: {error}", stored.position.0))
    })?;
    let (run, stream) = match stored.stream.run {
        RunId::CONTROL => (None, "control".to_owned()),
        RunId::WORK => (None, "work".to_owned()),
        run => (Some(run), format!("run/{run}")),
    };
    for (place, event) in (0..).zip(kept.e) {
        let (kind, mut payload) = match event {
            Value::Object(one) => one.into_iter().next().unwrap_or_default(),
            Value::String(name) => (name, Value::Null),
            _ => continue,
        };
        if let (RunId::CONTROL, "SettingChanged", Some(fields)) =
            (stored.stream.run, kind.as_str(), payload.as_object_mut())
        {
            fields.remove("value");
        }
        all.push(Told {
            position: stored.position.0,
            place,
            stream: stream.clone(),
            run,
            seq: stored.record.first + u64::from(place),
            event_id: kept.id.plus(u64::from(place)),
            time: rfc3339(kept.at),
            kind,
            source: kept.by.clone(),
            payload,
        });
    }
    Ok(())
}
